"""The engine: whether one answers, and what its answers mean."""

import os
import subprocess
from pathlib import Path

import pytest

from capd_py.engine import daemon
from capd_py.engine.process import CommandError


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("26.1.5|[name=seccomp]|2|/var/lib/docker\n",
         daemon.Engine("26.1.5", False, "2", "/var/lib/docker")),
        ("24.0.0|[name=rootless]|1|/home\n", daemon.Engine("24.0.0", True, "1", "/home")),
        ("|||\n", None),
        ("\n", None),
    ],
)
def test_an_engine_is_one_that_names_its_version(
    monkeypatch: pytest.MonkeyPatch, answer: str, expected: daemon.Engine | None
) -> None:
    monkeypatch.setattr(daemon, "run", lambda *_, **__: answer)
    assert daemon.find_engine() == expected


def test_no_answer_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> str:
        raise CommandError(["docker"], "exit status 1", "")

    monkeypatch.setattr(daemon, "run", fail)
    assert daemon.find_engine() is None


def test_the_probe_is_a_program_that_ends_well(tmp_path: Path) -> None:
    program = tmp_path / "probe"
    program.write_bytes(daemon._exit_zero_elf())
    program.chmod(0o755)
    assert subprocess.run([program], timeout=5, check=False).returncode == 0


def test_only_a_dockerd_counts_as_one() -> None:
    assert not daemon._is_dockerd(os.getpid())
    assert not daemon._is_dockerd(2**22 + 1)
