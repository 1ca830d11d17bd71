"""Programs that fail, hang or are missing."""

from pathlib import Path

import pytest

from capd_py.engine.process import CommandError, run, succeeds


def test_output_is_returned() -> None:
    assert run(["sh", "-c", "echo out; echo err >&2"]) == "out\n"
    assert run(["cat"], stdin="in") == "in"


def test_a_failure_carries_both_outputs_and_the_cure() -> None:
    with pytest.raises(CommandError) as error:
        run(["sh", "-c", "echo out; echo err >&2; exit 3"], cure="try again")
    assert "exit status 3" in str(error.value)
    assert "out" in error.value.output
    assert "err" in error.value.output
    assert str(error.value).endswith("cure: try again")


def test_a_program_that_hangs_is_ended() -> None:
    with pytest.raises(CommandError, match="not done after 0 s"):
        run(["sleep", "10"], timeout=0.1)


def test_a_missing_program_is_told() -> None:
    with pytest.raises(CommandError, match="no-such-program"):
        run(["no-such-program"])
    assert not succeeds(["no-such-program"])


def test_a_log_takes_all_and_the_error_names_it(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "a.log"
    assert run(["echo", "out"], log=log) == ""
    assert log.read_text() == "out\n"
    with pytest.raises(CommandError, match=str(log)):
        run(["sh", "-c", "echo why; exit 1"], log=log)
