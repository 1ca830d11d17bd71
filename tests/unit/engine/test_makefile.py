"""make alone is enough to find out what can be made."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_every_target_is_in_the_help_that_make_alone_prints() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\.PHONY: (\S+)$", text, re.MULTILINE)
    # The make that runs this test has flags of its own.
    env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        ["make"], cwd=ROOT, env=env, capture_output=True, text=True, check=True, timeout=20
    )
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert sorted(lines) == sorted(targets)
    assert {"dev-up", "quickstart", "dev-down", "test", "venv", "images"} <= set(targets)
