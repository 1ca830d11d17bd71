"""The packed bootstrap, run for real in a directory of its own."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from capd_py.cloudinit import bundle
from capd_py.cloudinit.bundle import Outcome, pack, read_outcome, start_command, step_titles
from capd_py.cloudinit.document import Command, Document, WriteFile

Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a document, its state under the test's directory and a kubeadm that takes notes."""
    monkeypatch.setattr(bundle, "STATE", str(tmp_path / "state" / "bootstrap"))
    programs = tmp_path / "bin"
    programs.mkdir()
    kubeadm = programs / "kubeadm"
    kubeadm.write_text(f"#!/bin/sh\necho kubeadm $* >> {tmp_path}/calls\n")
    kubeadm.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def execute(document: Document, timeout: float = 20.0) -> Outcome:
        done = subprocess.run(
            start_command(timeout), input=pack(document), capture_output=True, env=environment,
            timeout=30, check=False,
        )
        return read_outcome(document, done.stdout.decode(), done.stderr.decode())

    return execute


def lines(*commands: str) -> Document:
    """A document of shell lines."""
    return Document(commands=[Command(line=line) for line in commands])


def test_files_are_there_before_commands_and_boot_commands_before_both(
    run: Run, tmp_path: Path
) -> None:
    file, log = tmp_path / "new" / "dir" / "a", tmp_path / "log"
    document = Document(
        boot_commands=[Command(line=f"test -e {file}; echo boot $? >> {log}")],
        files=[WriteFile(str(file), b"\0content", mode=0o640)],
        commands=[
            Command(line=f"echo run $(wc -c < {file}) >> {log}"),
            Command(words=("sh", "-c", f'echo "$0 $1" >> {log}', "$HOME", "it's")),
        ],
    )
    assert run(document) == Outcome(0, "", "", "")
    assert log.read_text() == "boot 1\nrun 8\n$HOME it's\n"
    assert file.read_bytes() == b"\0content"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert stat.S_IMODE(file.parent.stat().st_mode) & 0o700 == 0o700


def test_appending_adds_to_the_end_and_makes_what_is_not_there(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "sub" / "it's new"
    old.write_text("one\n")
    owner = f"{os.getuid()}:{os.getgid()}"
    files = [
        WriteFile(str(old), b"two\n", append=True, mode=0o600, owner=owner),
        WriteFile(str(new), b"x", append=True),
        WriteFile(str(new), b"y", append=True),
    ]
    assert run(Document(files=files)).code == 0
    assert (old.read_text(), new.read_text()) == ("one\ntwo\n", "xy")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    assert not list((tmp_path / "state" / "bootstrap").glob("append-*"))


def test_an_existing_file_is_replaced_with_its_new_mode(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("something longer than before")
    file.chmod(0o777)
    assert run(Document(files=[WriteFile(str(file), b"new", mode=0o4711)])).code == 0
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o4711


def test_the_first_failing_command_ends_it_and_is_named_with_its_output(
    run: Run, tmp_path: Path
) -> None:
    many = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo out $i; echo err $i >&2; done; exit 7"
    outcome = run(lines("true", many, f"touch {tmp_path}/never"))
    assert (outcome.code, outcome.step) == (7, many)
    assert outcome.output.splitlines() == [f"out {n}" for n in range(3, 13)]
    assert outcome.errors.splitlines() == [f"err {n}" for n in range(8, 13)]
    assert not (tmp_path / "never").exists()
    assert not outcome.timed_out


def test_a_failing_boot_command_is_named(run: Run) -> None:
    document = Document(boot_commands=[Command(words=("false",))], commands=[Command(line="true")])
    outcome = run(document)
    assert (outcome.code, outcome.step) == (1, "false")


def test_a_file_that_cannot_be_written_fails_as_write_files(run: Run) -> None:
    outcome = run(Document(files=[WriteFile("/proc/nothing/here", b"x")]))
    assert outcome.code != 0
    assert outcome.step == "write_files"
    assert "/proc" in outcome.errors or "proc/nothing" in outcome.errors


def test_it_runs_once_whoever_asks(run: Run, tmp_path: Path) -> None:
    document = lines(f"echo x >> {tmp_path}/count", "echo told; exit 3")
    first, second = run(document), run(document)
    assert first == second == Outcome(3, "echo told; exit 3", "told", "")
    assert (tmp_path / "count").read_text() == "x\n"


def test_two_at_once_get_the_same_answer(run: Run, tmp_path: Path) -> None:
    document = lines(f"sleep 0.3; echo x >> {tmp_path}/count")
    command = start_command(20)
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    answers = [process.communicate(pack(document))[0] for process in started]
    assert [answer.split(b"\n")[0] for answer in answers] == [b"0", b"0"]
    assert (tmp_path / "count").read_text() == "x\n"


@pytest.mark.parametrize("length", [0, 100, 512, 2048, 5000])
def test_an_archive_that_was_cut_off_does_nothing(run: Run, tmp_path: Path, length: int) -> None:
    document = lines(f"touch {tmp_path}/ran")
    command = start_command(20)
    cut = subprocess.run(command, input=pack(document)[:length], capture_output=True, check=False)
    assert cut.returncode == 125
    assert not (tmp_path / "ran").exists()
    assert run(document).code == 0
    assert (tmp_path / "ran").exists()


def test_time_runs_out(run: Run) -> None:
    outcome = run(lines("echo begun; sleep 60"), timeout=0.3)
    assert outcome.timed_out
    assert outcome.step == "echo begun; sleep 60"
    assert outcome.output == "begun"


def test_what_a_restart_cut_off_is_undone_and_begun_again(run: Run, tmp_path: Path) -> None:
    state = tmp_path / "state" / "bootstrap"
    document = lines(f"echo x >> {tmp_path}/count")
    assert run(document).code == 0
    # As after a restart in the middle: started, without a result.
    (state / "result").unlink()
    outcome = run(document)
    assert outcome.code == 0
    assert (tmp_path / "calls").read_text() == "kubeadm reset --force\n"
    assert (tmp_path / "count").read_text() == "x\nx\n"
    assert "cut the bootstrap off" in outcome.errors


def test_commands_see_no_input(run: Run) -> None:
    assert run(lines("read line; test -z \"$line\"")).code == 0


def test_steps_have_titles_and_answers_that_are_none_are_failures() -> None:
    document = lines("one", "two")
    assert step_titles(document) == {"0000": "write_files", "0001": "one", "0002": "two"}
    assert read_outcome(document, "0\n0002\nout\n", "") == Outcome(0, "", "out", "")
    assert read_outcome(document, "9\n0001\n", "bad\n") == Outcome(9, "one", "", "bad")
    assert read_outcome(document, "", "gone").code == 125
    assert read_outcome(document, "garbage\nmore", "").code == 125
