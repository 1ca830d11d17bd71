"""The manager image: what makes it another one, and what does not."""

from pathlib import Path

import pytest

from capd_py.engine import EngineError
from capd_py.images import manager


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A working tree with one module in each package."""
    root = tmp_path / "clone"
    for source in manager.PACKAGES:
        (root / source).mkdir(parents=True)
        (root / source / "a.py").write_text("a = 1\n")
    (root / "requirements.lock").write_text("kopf==1\n")
    return root


class Docker:
    """Images that are here, and how often the dependencies were installed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.images: list[str] = []
        self.installs = 0
        monkeypatch.setattr(manager.docker_cli, "image_exists", lambda i: i in self.images)
        monkeypatch.setattr(manager.docker_cli, "build", lambda context, i: self.images.append(i))
        monkeypatch.setattr(manager, "_install", self._install)

    def _install(self, lock: Path, target: Path) -> None:
        self.installs += 1
        target.mkdir()


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Docker:
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path / "cache"))
    return Docker(monkeypatch)


def test_the_same_tree_is_built_once(clone: Path, docker: Docker) -> None:
    first = manager.build_manager_image(clone)
    assert first == manager.manager_image(clone)
    assert manager.build_manager_image(clone) == first
    assert len(docker.images) == 2
    assert docker.installs == 1


def test_changed_sources_need_no_new_dependencies(clone: Path, docker: Docker) -> None:
    first = manager.build_manager_image(clone)
    (clone / "core/capi_core/a.py").write_text("a = 2\n")
    second = manager.build_manager_image(clone)
    (clone / "crds/b.yaml").write_text("kind: CustomResourceDefinition\n")
    third = manager.build_manager_image(clone)
    assert len({first, second, third}) == 3
    assert docker.installs == 1


def test_a_changed_lock_is_another_image(clone: Path, docker: Docker) -> None:
    first = manager.build_manager_image(clone)
    (clone / "requirements.lock").write_text("kopf==2\n")
    assert manager.build_manager_image(clone) != first
    assert docker.installs == 2


def test_what_python_and_tests_leave_is_no_change(clone: Path, docker: Docker) -> None:
    first = manager.build_manager_image(clone)
    (clone / "capd_py/__pycache__").mkdir()
    (clone / "capd_py/__pycache__/a.pyc").touch()
    (clone / "tests").mkdir()
    (clone / "tests/test_a.py").touch()
    assert manager.build_manager_image(clone) == first


def test_outside_a_clone_the_cure_is_told(tmp_path: Path, docker: Docker) -> None:
    with pytest.raises(EngineError, match="cure: run this in a clone"):
        manager.build_manager_image(tmp_path)
