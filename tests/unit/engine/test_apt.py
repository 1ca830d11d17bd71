"""Packages: which mirror the host's own sources name, and how they are installed."""

from pathlib import Path

import pytest

from capd_py.engine import EngineError, apt
from capd_py.engine.apt import Source

DEB822 = """# a comment
Types: deb deb-src
URIs: https://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: https://mirror.test/other
Suites: stable
Components: main
Enabled: no

Types: deb
URIs: https://mirror.test/inline
Suites: stable
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
"""
ONE_LINE = """
# deb https://off.test/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] https://a.test/docker bookworm stable # comment
deb-src https://a.test/debian bookworm main
deb https://a.test/debian-security bookworm-security main
deb https://a.test/debian bookworm main non-free
"""


def test_stanzas() -> None:
    key = "/usr/share/keyrings/debian.gpg"
    assert apt.parse_deb822(DEB822) == [
        Source("https://mirror.test/debian", "bookworm", ("main", "contrib"), key),
        Source("https://mirror.test/debian", "bookworm-updates", ("main", "contrib"), key),
        Source("https://mirror.test/inline", "stable", ("main",), ""),
    ]


def test_lines() -> None:
    assert apt.parse_one_line(ONE_LINE) == [
        Source("https://a.test/docker", "bookworm", ("stable",), "/k.gpg"),
        Source("https://a.test/debian-security", "bookworm-security", ("main",), ""),
        Source("https://a.test/debian", "bookworm", ("main", "non-free"), ""),
    ]


def test_both_formats_are_read_and_other_files_are_not(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text("deb https://a.test/one bookworm main\n")
    (parts / "b.sources").write_text(DEB822)
    (parts / "c.list").write_text("deb https://a.test/three bookworm main\n")
    (parts / "d.list.save").write_text("deb https://a.test/four bookworm main\n")
    urls = [source.url.rpartition("/")[2] for source in apt.host_sources(tmp_path)]
    assert urls == ["one", "debian", "debian", "inline", "three"]


def test_the_mirror_is_the_releases_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "host_sources", lambda: apt.parse_one_line(ONE_LINE))
    assert apt.debian_mirror().url == "https://a.test/debian"
    monkeypatch.setattr(apt, "host_sources", lambda: apt.parse_one_line(ONE_LINE)[:2])
    with pytest.raises(EngineError, match="no Debian mirror"):
        apt.debian_mirror()


@pytest.mark.parametrize("updates", [True, False])
def test_packages_are_tried_though_a_source_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, updates: bool
) -> None:
    ran: list[list[str]] = []

    def run(args: list[str], **_: object) -> str:
        ran.append(args)
        return ""

    monkeypatch.setattr(apt, "can_install", lambda: True)
    monkeypatch.setattr(apt, "succeeds", lambda args, timeout: updates)
    monkeypatch.setattr(apt, "run", run)
    apt.install("zstd")
    (command,) = ran
    assert command[0] == "apt-get"
    assert command[-4:] == ["install", "-y", "--no-install-recommends", "zstd"]


def test_who_may_not_install_is_told_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "can_install", lambda: False)
    with pytest.raises(EngineError, match=r"cure: sudo apt-get install .* zstd xz-utils"):
        apt.install("zstd", "xz-utils")
