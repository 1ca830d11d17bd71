"""Running other programs with a limit on their time and errors that carry what they printed."""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from capd_py.engine.errors import EngineError

# Enough of a failed program's output to see why, without flooding the terminal.
TAIL_LINES = 25


class CommandError(EngineError):
    """A program that failed, with the end of its output.

    Attributes:
        output: What the program printed, both streams.
    """

    def __init__(self, args: Sequence[str], reason: str, output: str, cure: str = "") -> None:
        tail = "\n".join(output.strip().splitlines()[-TAIL_LINES:])
        super().__init__(f"{shlex.join(args)}: {reason}\n{tail}", cure)
        self.output = output


def run(
    args: Sequence[str],
    *,
    timeout: float = 60,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: Path | None = None,
    cure: str = "",
) -> str:
    """Run a program to its end and return what it printed on its standard output.

    Args:
        args: The program and its arguments.
        timeout: Seconds after which it is killed.
        stdin: What it reads.
        env: Variables added to this process's own.
        cwd: Where it runs.
        log: A file that takes all its output; the result is then empty.
        cure: What to say to the user when it fails.

    Raises:
        CommandError: It is missing, failed, or took too long.
    """
    out = run_bytes(args, timeout=timeout, stdin=stdin, env=env, cwd=cwd, log=log, cure=cure)
    return out.decode(errors="replace")


def run_bytes(
    args: Sequence[str],
    *,
    timeout: float = 60,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: Path | None = None,
    cure: str = "",
) -> bytes:
    """Do as `run` does, for a program that prints no text."""
    full_env = {**os.environ, **env} if env else None
    data = stdin.encode() if isinstance(stdin, str) else stdin
    try:
        if log is not None:
            return _run_logged(args, timeout, data, full_env, cwd, log, cure)
        done = subprocess.run(
            args, input=data, capture_output=True, timeout=timeout, env=full_env, cwd=cwd,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        output = ((error.stdout or b"") + (error.stderr or b"")).decode(errors="replace")
        reason = f"not done after {timeout:.0f} s"
        if log is not None:
            output, reason = log.read_text(errors="replace"), f"{reason}, all of it in {log}"
        raise CommandError(args, reason, output, cure) from error
    except OSError as error:
        raise CommandError(args, str(error), "", cure) from error
    if done.returncode != 0:
        output = (done.stdout + done.stderr).decode(errors="replace")
        raise CommandError(args, f"exit status {done.returncode}", output, cure)
    return done.stdout


def _run_logged(
    args: Sequence[str],
    timeout: float,
    data: bytes | None,
    env: Mapping[str, str] | None,
    cwd: Path | None,
    log: Path,
    cure: str,
) -> bytes:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        done = subprocess.run(
            args, input=data, stdout=sink, stderr=subprocess.STDOUT, timeout=timeout, env=env,
            cwd=cwd, check=False,
        )
    if done.returncode != 0:
        output = log.read_text(errors="replace")
        reason = f"exit status {done.returncode}, all of it in {log}"
        raise CommandError(args, reason, output, cure)
    return b""


def succeeds(args: Sequence[str], *, timeout: float = 30) -> bool:
    """Tell whether a program ends well, whatever it prints."""
    try:
        run(args, timeout=timeout)
    except CommandError:
        return False
    return True
