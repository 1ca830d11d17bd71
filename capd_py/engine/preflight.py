"""What stands in the way of clusters on this machine, each with its cure."""

import os
import resource
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from capd_py.engine.daemon import find_engine, privileged_problem
from capd_py.engine.errors import EngineError
from capd_py.engine.tools import find_kubectl

GIB = 1024**3


class Severity(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        check: What was looked at.
        severity: Whether a cluster can be expected to work.
        message: What was found.
        cure: The command that helps, when something is wrong.
    """

    check: str
    severity: Severity
    message: str
    cure: str = ""

    def __str__(self) -> str:
        cure = f"; cure: {self.cure}" if self.cure else ""
        return f"{self.severity.value}: {self.check}: {self.message}{cure}"


@dataclass(frozen=True)
class Limit:
    """A number that should be `wanted` and must be `needed`."""

    check: str
    needed: float
    wanted: float
    unit: str
    cure: str

    def judge(self, value: float) -> Finding:
        """Compare a measured value with the limit."""
        shown = f"{value:.0f}{self.unit}"
        if value >= self.wanted:
            return Finding(self.check, Severity.OK, shown)
        message = f"{shown}, {self.wanted:.0f}{self.unit} or more is recommended"
        if value >= self.needed:
            return Finding(self.check, Severity.WARNING, message, self.cure)
        message = f"{shown}, at least {self.needed:.0f}{self.unit} is needed"
        return Finding(self.check, Severity.ERROR, message, self.cure)


# A node takes about ten inotify instances: systemd, containerd, kubelet and the components.
INSTANCES = Limit(
    "inotify instances", 64, 512, "", "sudo sysctl -w fs.inotify.max_user_instances=512"
)
WATCHES = Limit(
    "inotify watches", 8192, 524288, "", "sudo sysctl -w fs.inotify.max_user_watches=524288"
)
FILES = Limit("open files", 4096, 16384, "", "ulimit -n 16384")
DISK = Limit("free disk", 8, 20, " GiB", "docker system prune")
MEMORY = Limit(
    "available memory", 3, 6, " GiB", "stop other programs, or give Docker's machine more memory"
)


def preflight() -> list[Finding]:
    """Look at everything that a local cluster needs."""
    checks: list[Callable[[], Finding]] = [
        _check_engine, _check_privileged, _check_instances, _check_watches, _check_files,
        _check_disk, _check_memory, _check_kubectl,
    ]
    return [check() for check in checks]


def _check_engine() -> Finding:
    engine = find_engine()
    if engine is None:
        return Finding(
            "docker engine", Severity.ERROR, "does not answer", "capd engine ensure"
        )
    message = f"{engine.version}, cgroup v{engine.cgroup_version}"
    return Finding("docker engine", Severity.OK, message)


def _check_privileged() -> Finding:
    problem = privileged_problem()
    if problem:
        return Finding("privileged container", Severity.ERROR, problem, "capd engine ensure")
    return Finding("privileged container", Severity.OK, "starts")


def _sysctl(name: str) -> float:
    try:
        return float(Path("/proc/sys", name).read_text())
    except (OSError, ValueError):
        # Not Linux: the engine's own machine has the limit, and it is not ours to read.
        return float("inf")


def _unless_foreign(limit: Limit, value: float) -> Finding:
    if value == float("inf"):
        return Finding(limit.check, Severity.OK, "not limited here")
    return limit.judge(value)


def _check_instances() -> Finding:
    return _unless_foreign(INSTANCES, _sysctl("fs/inotify/max_user_instances"))


def _check_watches() -> Finding:
    return _unless_foreign(WATCHES, _sysctl("fs/inotify/max_user_watches"))


def _check_files() -> Finding:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return _unless_foreign(FILES, float("inf") if hard == resource.RLIM_INFINITY else hard)


def _check_disk() -> Finding:
    engine = find_engine()
    root = engine.root_dir if engine and Path(engine.root_dir).is_dir() else "/"
    return DISK.judge(shutil.disk_usage(root).free / GIB)


def _check_memory() -> Finding:
    return _unless_foreign(MEMORY, available_memory() / GIB)


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> float:
    """Bytes that programs can still take, as the kernel estimates it."""
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return float("inf")
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    kibibytes = fields.get("MemAvailable", "").split()
    return float(kibibytes[0]) * 1024 if kibibytes else float(os.sysconf("SC_PHYS_PAGES") * 4096)


def _check_kubectl() -> Finding:
    try:
        return Finding("kubectl", Severity.OK, str(find_kubectl()))
    except EngineError as error:
        return Finding("kubectl", Severity.WARNING, "not found", error.cure)
