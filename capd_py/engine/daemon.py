"""The Docker engine: found, installed or started, and known to run privileged containers."""

import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from capd_py.engine import apt
from capd_py.engine.errors import EngineError
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import CommandError, run, succeeds

START_TIMEOUT = 60
PROBE_IMAGE = "capd-py/probe:1"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Engine:
    """A Docker engine that answers.

    Attributes:
        version: Of the server.
        rootless: It runs without root.
        cgroup_version: "1" or "2".
        root_dir: Where it keeps images and containers.
    """

    version: str
    rootless: bool
    cgroup_version: str
    root_dir: str


def find_engine() -> Engine | None:
    """The engine that answers, if one does."""
    template = "{{.ServerVersion}}|{{.SecurityOptions}}|{{.CgroupVersion}}|{{.DockerRootDir}}"
    try:
        answer = run(["docker", "info", "--format", template], timeout=20).strip()
    except CommandError:
        return None
    # A client without a server prints empty fields and may still end well.
    version, _, rest = answer.partition("|")
    security, cgroup, root_dir = [*rest.split("|"), "", "", ""][:3]
    if not version:
        return None
    return Engine(version, "rootless" in security, cgroup, root_dir)


def ensure_engine(say: Say = print) -> Engine:
    """Return an engine that can start privileged containers; install and start one where possible.

    Raises:
        EngineError: There is none and it cannot be had; the message names the cure.
    """
    engine = find_engine()
    if engine is None:
        _install_missing(say)
        engine = _start(say)
    problem = privileged_problem()
    if problem and apt.can_install() and _is_bookworm():
        say(f"Docker {engine.version} cannot start a privileged container here; taking a newer one")
        _stop_own()
        _install_newer()
        engine = _start(say)
        problem = privileged_problem()
    if problem:
        raise EngineError(
            f"the Docker engine cannot start a privileged container: {problem}",
            "use a rootful Docker engine of version 24 or newer",
        )
    return engine


def _install_missing(say: Say) -> None:
    if shutil.which("dockerd"):
        return
    cure = "install Docker: https://docs.docker.com/engine/install/"
    if not apt.can_install():
        raise EngineError("no Docker engine answers and none is installed", cure)
    say("installing a Docker engine")
    apt.install("docker.io", "iptables", cure=cure)


def _install_newer() -> None:
    apt.add_trixie()
    # Only the engine: trixie's containerd and runc would replace bookworm's libc.
    apt.install("docker.io/trixie")


def _is_bookworm() -> bool:
    text = Path("/etc/os-release").read_text() if Path("/etc/os-release").exists() else ""
    return "VERSION_CODENAME=bookworm" in text


def _pid_file() -> Path:
    return cache_dir("engine") / "dockerd.pid"


def log_file() -> Path:
    """What an engine that we started prints."""
    return cache_dir("engine") / "dockerd.log"


def _start(say: Say) -> Engine:
    """Start the engine: by the init system where one runs, else as a process of its own."""
    engine = find_engine()
    if engine is not None:
        return engine
    if os.geteuid() != 0:
        raise EngineError("the Docker engine does not answer", "sudo systemctl start docker")
    if Path("/run/systemd/system").is_dir():
        run(["systemctl", "start", "docker"], timeout=START_TIMEOUT)
    else:
        _wait_gone()
        say(f"starting dockerd, log in {log_file()}")
        with log_file().open("ab") as sink:
            process = subprocess.Popen(
                ["dockerd"], stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                start_new_session=True,
            )
        _pid_file().write_text(str(process.pid))
        return _wait_ready(process)
    return _wait_ready(None)


def _wait_gone() -> None:
    """Let an engine that is on its way out finish: while nodes run that takes some seconds."""
    pid_file = Path("/var/run/docker.pid")
    text = pid_file.read_text().strip() if pid_file.exists() else ""
    deadline = time.monotonic() + START_TIMEOUT
    while text.isdigit() and _is_dockerd(int(text)) and time.monotonic() < deadline:
        time.sleep(0.2)


def _wait_ready(process: "subprocess.Popen[bytes] | None") -> Engine:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        engine = find_engine()
        if engine is not None:
            return engine
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.3)
    log = log_file()
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:]) if log.exists() else ""
    raise EngineError(f"the Docker engine did not start:\n{tail}", f"read {log}")


def _stop_own() -> None:
    """Stop the engine that is to be replaced: ours by its pid, a service by its unit."""
    if Path("/run/systemd/system").is_dir():
        run(["systemctl", "stop", "docker"], timeout=60)
        return
    pid_file = _pid_file()
    pid = int(pid_file.read_text()) if pid_file.exists() else 0
    if not _is_dockerd(pid):
        raise EngineError(
            "the running Docker engine was not started by capd and cannot be replaced",
            "stop it, then run this again",
        )
    os.kill(pid, 15)
    deadline = time.monotonic() + 60
    while _is_dockerd(pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    pid_file.unlink(missing_ok=True)


def restart_engine(say: Say = print) -> Engine:
    """Stop the engine and start it again; containers that are to come back do.

    Raises:
        EngineError: it is not ours to stop.
    """
    _stop_own()
    return _start(say)


def _is_dockerd(pid: int) -> bool:
    # A zombie child of ours has ended: its command line is empty.
    try:
        return b"dockerd" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def privileged_problem() -> str:
    """Start one privileged container and say what prevents it; empty when it starts."""
    try:
        if not succeeds(["docker", "image", "inspect", PROBE_IMAGE]):
            _import_probe()
        run(["docker", "run", "--rm", "--privileged", "--network=none", PROBE_IMAGE], timeout=60)
    except CommandError as error:
        return error.output.strip() or str(error)
    return ""


def _import_probe() -> None:
    """Make an image that holds one program which ends at once, without asking a registry."""
    program = _exit_zero_elf()
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("probe")
        entry.size, entry.mode = len(program), 0o755
        archive.addfile(entry, BytesIO(program))
    change = 'ENTRYPOINT ["/probe"]'
    run(["docker", "import", "--change", change, "-", PROBE_IMAGE], stdin=buffer.getvalue())


def _exit_zero_elf() -> bytes:
    """The smallest Linux program, exit(0), for this machine's processor."""
    if os.uname().machine == "aarch64":
        # mov x0, #0; mov x8, #93; svc #0
        machine, code = 183, bytes.fromhex("000080d2a80b80d2010000d4")
    else:
        # xor edi, edi; mov eax, 60; syscall
        machine, code = 62, bytes.fromhex("31ffb83c0000000f05")
    base, header = 0x400000, 64 + 56
    size = header + len(code)

    def number(value: int, length: int) -> bytes:
        return value.to_bytes(length, "little")

    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    elf = number(2, 2) + number(machine, 2) + number(1, 4) + number(base + header, 8)
    elf += number(64, 8) + number(0, 8) + number(0, 4) + number(64, 2) + number(56, 2)
    elf += number(1, 2) + bytes(6)
    segment = number(1, 4) + number(5, 4) + number(0, 8) + number(base, 8) * 2
    segment += number(size, 8) * 2 + number(0x1000, 8)
    return ident + elf + segment + code
