"""Runs lint and the test tiers in order: ``python -m tests [lint] [unit] [integration] [e2e]``.

Prints the seconds of each; all tiers run in one pytest, so that its summary is the last word.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TIERS = {
    "unit": ["tests/unit", "tests/conformance"],
    "integration": ["tests/integration"],
    "e2e": ["tests/e2e"],
}
LINT = (
    ("ruff", "check", "."),
    ("pyright",),
    ("lint-imports",),
    ("python", "-m", "capi_core.api.crd", "--verify"),
)


class Durations:
    """A pytest plugin that adds up the seconds of each tier and prints them."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(TIERS, 0.0)
        self.before: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of one test."""
        for tier, paths in TIERS.items():
            if any(report.nodeid.startswith(f"{path}/") for path in paths):
                self.seconds[tier] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table just above the summary."""
        terminalreporter.section("durations")
        for name, seconds in (*self.before.items(), *self.seconds.items()):
            terminalreporter.line(f"{name:12} {seconds:8.1f} s")


def main(wanted: list[str]) -> int:
    """Run what is asked for, everything by default; the exit code is pytest's."""
    unknown = [name for name in wanted if name not in ("lint", *TIERS)]
    if unknown:
        print(f"no such tier: {', '.join(unknown)}; there are lint, {', '.join(TIERS)}")
        return 2
    durations = Durations()
    lint = not wanted or "lint" in wanted
    if lint and (code := _timed(durations, "lint", _lint)):
        return code
    tiers = [tier for tier in TIERS if not wanted or tier in wanted]
    if not tiers:
        return 0
    images = set(tiers) & {"integration", "e2e"}
    if images and (code := _timed(durations, "engine and images", _prepare)):
        return code
    paths = [path for tier in tiers for path in TIERS[tier] if (ROOT / path).is_dir()]
    return pytest.main(["--durations=15", *paths], plugins=[durations])


def _timed(durations: Durations, name: str, step: Callable[[], int]) -> int:
    start = time.monotonic()
    code = step()
    durations.before[name] = time.monotonic() - start
    print(f"{name}: {durations.before[name]:.1f} s", flush=True)
    return code


def _lint() -> int:
    programs = Path(sys.executable).parent
    for program, *args in LINT:
        print(f"$ {program} {' '.join(args)}", flush=True)
        code = subprocess.run([programs / program, *args], cwd=ROOT, check=False).returncode
        if code:
            return code
    return 0


def _prepare() -> int:
    """What takes longest on a cold machine is done before any test waits for it."""
    from capd_py.engine import EngineError, ensure_engine, ensure_kind
    from capd_py.images import binaries, ensure_images
    from capd_py.images.versions import DEFAULT_VERSION

    try:
        ensure_engine()
        ensure_kind()
        ensure_images(DEFAULT_VERSION, project_root=ROOT)
        binaries()
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
