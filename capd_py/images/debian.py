"""Debian root file systems, made with debootstrap and imported as images."""

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from capd_py.engine import apt
from capd_py.engine.errors import EngineError
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import run

SUITE = "bookworm"
# Nobody reads these in a container.
UNUSED = (
    "usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian",
    "usr/share/bash-completion", "var/cache/apt", "var/cache/debconf", "var/lib/apt/lists",
    "var/log", "debootstrap", "var/lib/systemd/catalog",
)
# Programs that a root file system needs only to be made, or only on real hardware.
UNUSED_GLOBS = ("usr/lib/udev/hwdb.*", "usr/lib/x86_64-linux-gnu/perl*/**/*.pod")
# The kernel's, should any of it be mounted.
EXCLUDE = tuple(f"--exclude=./{name}/*" for name in ("dev", "proc", "sys"))
MAKER_CURE = "run as root on Debian or Ubuntu, or where a container registry answers"


@dataclass(frozen=True)
class RootFs:
    """A root file system: minbase and these packages."""

    name: str
    packages: tuple[str, ...]


NODE = RootFs(
    "node",
    (
        "systemd", "systemd-sysv", "dbus", "containerd", "runc", "containernetworking-plugins",
        "iptables", "nftables", "iproute2", "ethtool", "socat", "conntrack", "kmod", "mount",
        "procps", "curl", "ca-certificates", "zstd", "ebtables",
    ),
)
LOAD_BALANCER = RootFs("haproxy", ("haproxy",))
PYTHON = RootFs("python", ("python3", "ca-certificates"))


def ensure_debootstrap() -> None:
    """Install debootstrap when it is missing.

    Raises:
        EngineError: It is missing and cannot be installed.
    """
    if not apt.can_install():
        raise EngineError("root file systems are made with debootstrap, as root", MAKER_CURE)
    missing = [name for name in ("debootstrap", "zstd") if shutil.which(name) is None]
    if missing:
        apt.install(*missing)


def import_rootfs(rootfs: RootFs, image: str, log: Path) -> None:
    """Make a root file system and import it as an image."""
    ensure_debootstrap()
    prefix = f"rootfs-{rootfs.name}"
    for left in cache_dir("tmp").glob(f"{prefix}*"):
        remove_tree(left)
    # Of its own: what a build that was cut off still runs must not meet this one.
    root = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=cache_dir("tmp")))
    root.chmod(0o755)
    try:
        _debootstrap(rootfs, root, log)
        _trim(root)
        _import(root, image)
    finally:
        remove_tree(root)


def remove_tree(root: Path) -> None:
    """Remove a tree; what debootstrap mounted in it and had no time to unmount goes first."""
    for point in mounts_below(root, Path("/proc/self/mounts").read_text()):
        run(["umount", "--lazy", str(point)], timeout=20)
    shutil.rmtree(root, ignore_errors=True)


def mounts_below(root: Path, table: str) -> list[Path]:
    """Mount points below a directory, innermost first."""
    points = [Path(line.split()[1].replace("\\040", " ")) for line in table.splitlines()]
    below = [point for point in points if root in point.parents]
    return sorted(below, key=lambda point: len(point.parts), reverse=True)


def _debootstrap(rootfs: RootFs, root: Path, log: Path) -> None:
    mirror = apt.debian_mirror()
    run(
        [
            "debootstrap", "--variant=minbase", f"--include={','.join(rootfs.packages)}",
            f"--cache-dir={cache_dir('debs')}", SUITE, str(root), mirror.url,
        ],
        timeout=900, log=log, cure=f"check that {mirror.url} can be reached",
    )


def _trim(root: Path) -> None:
    for path in UNUSED:
        target = root / path
        if target.is_dir():
            shutil.rmtree(target)
            # dpkg, apt and journald expect the directories themselves.
            target.mkdir() if path.startswith("var/") else None
    for pattern in UNUSED_GLOBS:
        for path in root.glob(pattern):
            path.unlink()
    # The mirror is this host's affair.
    (root / "etc/apt/sources.list").write_text("")
    for name in ("etc/machine-id", "etc/hostname", "etc/resolv.conf"):
        (root / name).write_text("")


def _import(root: Path, image: str) -> None:
    with subprocess.Popen(
        ["tar", "-C", str(root), "--numeric-owner", *EXCLUDE, "-c", "."],
        stdout=subprocess.PIPE,
    ) as tar:
        done = subprocess.run(
            ["docker", "import", "-", image], stdin=tar.stdout, capture_output=True, timeout=600,
            check=False,
        )
    if done.returncode != 0 or tar.returncode != 0:
        raise EngineError(f"docker import of {image}: {done.stderr.decode(errors='replace')}")
