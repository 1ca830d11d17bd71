"""Debian root file systems, made with debootstrap and imported as images."""

import shutil
import subprocess
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
    root = cache_dir("tmp") / f"rootfs-{rootfs.name}"
    shutil.rmtree(root, ignore_errors=True)
    try:
        _debootstrap(rootfs, root, log)
        _trim(root)
        _import(root, image)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _debootstrap(rootfs: RootFs, root: Path, log: Path) -> None:
    mirror = apt.debian_mirror()
    run(
        [
            "debootstrap", "--variant=minbase", f"--include={','.join(rootfs.packages)}",
            f"--cache-dir={cache_dir('debs')}", SUITE, str(root), mirror.url,
        ],
        timeout=900, log=log,
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
        ["tar", "-C", str(root), "--numeric-owner", "--exclude=./dev/*", "-c", "."],
        stdout=subprocess.PIPE,
    ) as tar:
        done = subprocess.run(
            ["docker", "import", "-", image], stdin=tar.stdout, capture_output=True, timeout=600,
            check=False,
        )
    if done.returncode != 0 or tar.returncode != 0:
        raise EngineError(f"docker import of {image}: {done.stderr.decode(errors='replace')}")
