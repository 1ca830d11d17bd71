"""Root file systems: what makes them is there before it is called, and nothing is left behind."""

from pathlib import Path

import pytest

from capd_py.engine import EngineError
from capd_py.images import debian


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps in the order in which they are taken."""
    taken: list[str] = []
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(debian, "ensure_debootstrap", lambda: taken.append("ensure"))
    monkeypatch.setattr(debian, "_debootstrap", lambda *_: taken.append("make"))
    monkeypatch.setattr(debian, "_trim", lambda *_: taken.append("trim"))
    monkeypatch.setattr(debian, "_import", lambda *_: taken.append("import"))
    return taken


def test_the_maker_is_there_before_it_is_called(steps: list[str], tmp_path: Path) -> None:
    debian.import_rootfs(debian.NODE, "image", tmp_path / "log")
    assert steps == ["ensure", "make", "trim", "import"]


def test_a_failure_leaves_no_half_made_tree(
    steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: debian.RootFs, root: Path, __: Path) -> None:
        (root / "usr").mkdir()
        raise EngineError("no mirror")

    monkeypatch.setattr(debian, "_debootstrap", fail)
    with pytest.raises(EngineError, match="no mirror"):
        debian.import_rootfs(debian.NODE, "image", tmp_path / "log")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert steps == ["ensure"]


def test_what_a_killed_build_left_is_removed_first(steps: list[str], tmp_path: Path) -> None:
    left = tmp_path / "tmp" / "rootfs-node-abc" / "usr"
    other = tmp_path / "tmp" / "rootfs-haproxy-abc"
    left.mkdir(parents=True)
    other.mkdir()
    debian.import_rootfs(debian.NODE, "image", tmp_path / "log")
    assert list((tmp_path / "tmp").iterdir()) == [other]


def test_mounts_go_before_the_tree_that_they_lie_in() -> None:
    table = (
        "proc /c/rootfs-node-a/proc proc rw 0 0\n"
        "x /c/rootfs-node-a/proc/sys/fs binfmt_misc rw 0 0\n"
        "proc /proc proc rw 0 0\n"
        "y /c/my\\040cache/proc proc rw 0 0\n"
        "x /c/rootfs-node-ab/proc proc rw 0 0\n"
    )
    below = debian.mounts_below(Path("/c/rootfs-node-a"), table)
    assert [str(point) for point in below] == [
        "/c/rootfs-node-a/proc/sys/fs", "/c/rootfs-node-a/proc",
    ]
    assert debian.mounts_below(Path("/c/my cache"), table) == [Path("/c/my cache/proc")]


def test_where_nothing_can_be_installed_the_cure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian.apt, "can_install", lambda: False)
    with pytest.raises(EngineError, match="cure: run as root on Debian or Ubuntu"):
        debian.ensure_debootstrap()
