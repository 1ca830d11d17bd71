"""Debian packages on the host, from whatever mirrors its own apt sources name."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from capd_py.engine.errors import EngineError
from capd_py.engine.process import run, succeeds

APT_DIR = Path("/etc/apt")
TRIXIE_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Below the default of 500: nothing comes from there unless it is asked for by name.
PIN_PRIORITY = 50
# Unattended upgrades hold the lock for a while after a machine has started.
LOCK_SECONDS = 120


@dataclass(frozen=True)
class Source:
    """One suite at one mirror."""

    url: str
    suite: str
    components: tuple[str, ...]
    signed_by: str


def can_install() -> bool:
    """Whether packages can be installed here: root, with apt."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(*packages: str, cure: str = "") -> None:
    """Install packages, as root on Debian or Ubuntu.

    Raises:
        EngineError: Not root, no apt, or apt failed.
    """
    command = cure or f"sudo apt-get install -y --no-install-recommends {' '.join(packages)}"
    if not can_install():
        raise EngineError(f"not installed here: {', '.join(packages)}", command)
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-q", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}"]
    # One source that does not answer is no reason to give up: what is wanted may lie elsewhere.
    succeeds([*apt, "update"], timeout=300)
    args = [*apt, "install", "-y", "--no-install-recommends", *packages]
    run(args, timeout=600, env=env, cure=command)


def add_trixie() -> None:
    """Offer Debian trixie's packages, pinned so low that they come only when asked for by name."""
    mirror = debian_mirror()
    (APT_DIR / "sources.list.d" / "capd-py-trixie.sources").write_text(
        f"Types: deb\nURIs: {mirror.url}\nSuites: trixie\nComponents: main\n"
        f"Signed-By: {mirror.signed_by or TRIXIE_KEYRING}\n"
    )
    (APT_DIR / "preferences.d" / "capd-py-trixie").write_text(
        f"Package: *\nPin: release n=trixie\nPin-Priority: {PIN_PRIORITY}\n"
    )


def debian_mirror() -> Source:
    """The mirror that the host's own sources name for its Debian release.

    Raises:
        EngineError: They name none.
    """
    for source in host_sources():
        if re.fullmatch(r"bookworm|trixie|sid|testing|stable", source.suite) and (
            "main" in source.components
        ):
            return source
    raise EngineError(
        "no Debian mirror in this host's apt sources",
        "add a 'deb MIRROR bookworm main' line to /etc/apt/sources.list",
    )


def host_sources(directory: Path = APT_DIR) -> list[Source]:
    """All binary package sources of the host, from both of apt's file formats."""
    found: list[Source] = []
    for path in [directory / "sources.list", *sorted(directory.glob("sources.list.d/*"))]:
        if not path.is_file():
            continue
        text = path.read_text(errors="replace")
        if path.suffix == ".sources":
            found += parse_deb822(text)
        elif path.suffix == ".list":
            found += parse_one_line(text)
    return found


def parse_deb822(text: str) -> list[Source]:
    """Read the stanza format of `*.sources` files."""
    found: list[Source] = []
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if not line.startswith("#")]
        fields = {
            key.strip().lower(): value.strip()
            for key, _, value in (line.partition(":") for line in lines)
            if value
        }
        if "deb" not in fields.get("types", "").split() or fields.get("enabled") == "no":
            continue
        found += [
            Source(url, suite, tuple(fields.get("components", "").split()), _signed_by(fields))
            for url in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return found


def _signed_by(fields: dict[str, str]) -> str:
    # A key written out in the stanza itself is no path.
    value = fields.get("signed-by", "")
    return value if value.startswith("/") else ""


def parse_one_line(text: str) -> list[Source]:
    """Read the one-line format of `*.list` files."""
    found: list[Source] = []
    pattern = r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<url>\S+)\s+(?P<suite>\S+)(?P<rest>.*)$"
    for match in re.finditer(pattern, text, re.MULTILINE):
        options = dict(
            option.split("=", 1) for option in (match["options"] or "").split() if "=" in option
        )
        components = tuple(match["rest"].split("#")[0].split())
        signed_by = options.get("signed-by", "")
        found.append(Source(match["url"], match["suite"], components, signed_by))
    return found
