"""Which way an image comes: it is here, it is pulled, or it is built."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from capd_py.engine import EngineError
from capd_py.images import build, gobuild


class Engine:
    """Records what was done; ``recipe`` is that of the image that is here, None for no image."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, recipe: str | None, registry: bool
    ) -> None:
        self.done: list[str] = []
        monkeypatch.setattr(build.docker_cli, "image_recipe", lambda image: recipe)
        monkeypatch.setattr(build, "pull", lambda image, say: self._did("pull", registry))
        monkeypatch.setattr(build, "_ensure_rootfs", lambda rootfs, say: self._did("rootfs"))
        monkeypatch.setattr(build, "load_balancer_recipe", lambda: "current")
        monkeypatch.setattr(build, "build_load_balancer_image", lambda: self._did("build") and "i")

    def _did(self, what: str, result: bool = True) -> bool:
        self.done.append(what)
        return result


@pytest.mark.parametrize(
    ("recipe", "registry", "from_source", "done"),
    [
        ("", True, False, []),
        ("current", True, False, []),
        ("current", False, True, []),
        ("old", True, False, ["rootfs", "build"]),
        (None, True, False, ["pull"]),
        (None, False, False, ["pull", "rootfs", "build"]),
        (None, True, True, ["rootfs", "build"]),
        ("", True, True, ["rootfs", "build"]),
    ],
    ids=["pulled before", "built before", "built, from source", "recipe changed", "registry",
         "no registry", "from source", "pulled, from source"],
)
def test_an_image_comes_the_cheapest_way(
    monkeypatch: pytest.MonkeyPatch,
    recipe: str | None,
    registry: bool,
    from_source: bool,
    done: list[str],
) -> None:
    engine = Engine(monkeypatch, recipe=recipe, registry=registry)
    said: list[str] = []
    build._ensure_load_balancer(said.append, from_source)
    assert engine.done == done
    assert all(line.rstrip().endswith(" s") for line in said)


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty cache, and images that are made by naming them."""
    made: list[str] = []

    def make(name: str) -> Callable[..., str]:
        return lambda *_: made.append(name) or name

    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_ensure_node", make("node"))
    monkeypatch.setattr(build, "_ensure_load_balancer", make("lb"))
    monkeypatch.setattr(build, "_ensure_manager", make("manager"))
    return made


@pytest.mark.parametrize(
    ("root", "node_only", "images"),
    [
        (None, False, build.Images("node", "lb")),
        (Path("/clone"), False, build.Images("node", "lb", "manager")),
        (Path("/clone"), True, build.Images("node")),
    ],
)
def test_only_what_is_asked_for_is_made(
    quick: list[str], root: Path | None, node_only: bool, images: build.Images
) -> None:
    got = build.ensure_images("v1.34.4", project_root=root, node_only=node_only)
    assert got == images
    assert quick == [name for name in (images.node, images.load_balancer, images.manager) if name]


def test_builds_wait_for_each_other_and_say_so(quick: list[str]) -> None:
    said: list[str] = []
    waits = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        waits.set()

    with ThreadPoolExecutor(1) as pool:
        with build.FileLock(build.cache_dir("locks") / "images.lock"):
            second = pool.submit(build.ensure_images, "v1.34.4", say=say)
            assert waits.wait(10)
            assert quick == []
        assert second.result(10).node == "node"
    assert said == ["waiting for another build of images to end"]
    build.ensure_images("v1.34.4", say=said.append)
    assert len(said) == 1


def test_a_version_that_is_none_is_refused_before_anything_is_made(quick: list[str]) -> None:
    with pytest.raises(EngineError, match="not a Kubernetes version"):
        build.ensure_images("latest")
    assert quick == []


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Node":
    """A node image's build with programs that are strings."""
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path))
    return Node(monkeypatch)


class Node:
    """Two programs, of which ``broken`` cannot be compiled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self.broken = ""
        both = [gobuild.simple_target("pause"), gobuild.simple_target("coredns")]
        monkeypatch.setattr(build.docker_cli, "image_recipe", lambda image: None)
        monkeypatch.setattr(build, "pull", lambda image, say: False)
        monkeypatch.setattr(build, "components", lambda version: version)
        monkeypatch.setattr(build.gobuild, "targets", lambda versions: both)
        monkeypatch.setattr(build, "_ensure_rootfs", lambda rootfs, say: None)
        monkeypatch.setattr(build, "build_node_image", lambda *_: self.done.append("image"))
        monkeypatch.setattr(gobuild, "_compile", self._compile)

    def _compile(self, target: gobuild.Target, work: Path) -> None:
        if target.name == self.broken:
            raise EngineError("the network went away")
        assert (work / "main.go").exists()
        target.directory.mkdir()
        for name in target.outputs:
            (target.directory / name).touch()
        self.done.append(target.name)


def test_a_build_that_was_cut_off_goes_on_where_it_stopped(node: Node) -> None:
    node.broken = "coredns"
    with pytest.raises(EngineError, match="the network went away"):
        build._ensure_node("v1.34.4", print, False)
    node.broken = ""
    said: list[str] = []
    build._ensure_node("v1.34.4", said.append, False)
    assert node.done == ["pause", "coredns", "image"]
    assert not any("pause" in line for line in said)
