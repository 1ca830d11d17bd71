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
    root = tmp_path / "tmp" / "rootfs-node"

    def fail(*_: object) -> None:
        root.mkdir(parents=True)
        raise EngineError("no mirror")

    monkeypatch.setattr(debian, "_debootstrap", fail)
    with pytest.raises(EngineError, match="no mirror"):
        debian.import_rootfs(debian.NODE, "image", tmp_path / "log")
    assert not root.exists()
    assert steps == ["ensure"]


def test_where_nothing_can_be_installed_the_cure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian.apt, "can_install", lambda: False)
    with pytest.raises(EngineError, match="cure: run as root on Debian or Ubuntu"):
        debian.ensure_debootstrap()
