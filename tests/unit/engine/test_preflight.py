"""What the preflight makes of the numbers that it reads."""

from pathlib import Path

import pytest

from capd_py.engine import Severity
from capd_py.engine.preflight import MEMORY, Finding, Limit, available_memory

LIMIT = Limit("files", 10, 20, "", "raise it")


@pytest.mark.parametrize(
    ("value", "severity"),
    [(9, Severity.ERROR), (10, Severity.WARNING), (19, Severity.WARNING), (20, Severity.OK)],
)
def test_a_limit_is_judged_by_what_is_needed_and_what_is_wanted(
    value: float, severity: Severity
) -> None:
    finding = LIMIT.judge(value)
    assert finding.severity is severity
    assert (finding.cure == "raise it") == (severity is not Severity.OK)


def test_a_finding_names_its_cure() -> None:
    finding = Finding("files", Severity.ERROR, "9, at least 10 is needed", "raise it")
    assert str(finding) == "error: files: 9, at least 10 is needed; cure: raise it"


def test_memory_is_what_the_kernel_estimates(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable: 50 kB\n")
    assert available_memory(meminfo) == 50 * 1024
    assert available_memory(tmp_path / "missing") == float("inf")
    assert MEMORY.judge(2).severity is Severity.ERROR
