"""Without Go: programs come out of the images of a registry."""

from pathlib import Path

import pytest

from capd_py.engine import EngineError
from capd_py.images import programs

LISTED = """registry.test/kube-apiserver:v1.34.4
registry.test/etcd:3.6.5-0
registry.test/pause:3.10.1
"""


class Registry:
    """Images that can be pulled, and what was taken out of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, answers: bool) -> None:
        self.taken: list[tuple[str, str]] = []
        monkeypatch.setattr(programs, "has_go", lambda: False)
        monkeypatch.setattr(programs, "run", lambda *_, **__: LISTED)
        monkeypatch.setattr(programs.docker_cli, "image_exists", lambda image: False)
        monkeypatch.setattr(programs, "pull", lambda image, say: answers)
        monkeypatch.setattr(programs, "take_program", self._take)

    def _take(self, image: str, where: object, target: Path) -> Path:
        self.taken.append((image, target.name))
        target.touch()
        return target


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path))


def test_programs_come_out_of_the_images_that_kubeadm_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = Registry(monkeypatch, answers=True)
    got = programs.binaries("v1.34.4")
    assert registry.taken == [
        ("registry.test/kube-apiserver:v1.34.4", "kube-apiserver"),
        ("registry.test/etcd:3.6.5-0", "etcd"),
        ("kindest/node:v1.34.4", "kubectl"),
    ]
    paths = (got.kube_apiserver, got.etcd, got.kubectl)
    assert [path.name for path in paths] == ["kube-apiserver", "etcd", "kubectl"]
    assert all(path.exists() for path in paths)
    assert programs.binaries("v1.34.4") == got
    assert len(registry.taken) == 3


def test_neither_go_nor_a_registry_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(monkeypatch, answers=False)
    with pytest.raises(EngineError, match=r"no Go to build kube-apiserver.*\n *cure: install Go"):
        programs.binaries("v1.34.4")
    assert registry.taken == []


def test_programs_that_were_built_are_linked_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One binary acts by the name that it is called by; a newer build takes the place of an old."""
    monkeypatch.setattr(programs, "has_go", lambda: True)
    monkeypatch.setattr(programs, "components", lambda version: version)
    monkeypatch.setattr(programs.gobuild, "kubernetes_target", lambda versions: "kubernetes")
    monkeypatch.setattr(programs.gobuild, "etcd_target", lambda versions: "etcd")
    build = ["first"]
    monkeypatch.setattr(programs.gobuild, "build", lambda target: tmp_path / build[0] / target)
    for directory in ("first", "second"):
        for name in ("kubernetes", "etcd"):
            (tmp_path / directory / name).mkdir(parents=True)
            (tmp_path / directory / name / name).touch()
    for build[0] in ("first", "second"):
        got = programs.binaries("v1.34.4")
        built = tmp_path / build[0]
        assert got.kube_apiserver.name == "kube-apiserver"
        assert got.kube_apiserver.resolve() == built / "kubernetes" / "kubernetes"
        assert got.kubectl.resolve() == built / "kubernetes" / "kubernetes"
        assert got.etcd.resolve() == built / "etcd" / "etcd"
