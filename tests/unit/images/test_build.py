"""Which way an image comes: it is here, it is pulled, or it is built."""

from pathlib import Path

import pytest

from capd_py.images import build


class Engine:
    """Records what was done; ``recipe`` is that of the image that is here, None for no image."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, recipe: str | None, registry: bool,
                 pulls: bool = True) -> None:
        self.done: list[str] = []
        monkeypatch.setattr(build.docker_cli, "image_recipe", lambda image: recipe)
        monkeypatch.setattr(build, "registry_answers", lambda image: registry)
        monkeypatch.setattr(build.docker_cli, "pull", lambda image, say: self._did("pull", pulls))
        monkeypatch.setattr(build, "_ensure_rootfs", lambda rootfs, say: self._did("rootfs"))
        monkeypatch.setattr(build, "load_balancer_recipe", lambda: "current")
        monkeypatch.setattr(build, "build_load_balancer_image", lambda: self._did("build") and "i")

    def _did(self, what: str, result: bool = True) -> bool:
        self.done.append(what)
        return result


@pytest.mark.parametrize(
    ("recipe", "registry", "pulls", "from_source", "done"),
    [
        ("", True, True, False, []),
        ("current", True, True, False, []),
        ("current", False, True, True, []),
        ("old", True, True, False, ["rootfs", "build"]),
        (None, True, True, False, ["pull"]),
        (None, True, False, False, ["pull", "rootfs", "build"]),
        (None, False, True, False, ["rootfs", "build"]),
        (None, True, True, True, ["rootfs", "build"]),
        ("", True, True, True, ["rootfs", "build"]),
    ],
    ids=["pulled before", "built before", "built, from source", "recipe changed", "registry",
         "registry without it", "no registry", "from source", "pulled, from source"],
)
def test_an_image_comes_the_cheapest_way(
    monkeypatch: pytest.MonkeyPatch,
    recipe: str | None,
    registry: bool,
    pulls: bool,
    from_source: bool,
    done: list[str],
) -> None:
    engine = Engine(monkeypatch, recipe=recipe, registry=registry, pulls=pulls)
    said: list[str] = []
    build._ensure_load_balancer(said.append, from_source)
    assert engine.done == done
    assert all(line.rstrip().endswith(" s") for line in said)


def test_builds_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_ensure_node", lambda *_: "node")
    monkeypatch.setattr(build, "_ensure_load_balancer", lambda *_: "lb")
    said: list[str] = []
    assert build.ensure_images("v1.34.4", say=said.append).node == "node"
    assert said == []
    lock = build.FileLock(build.cache_dir("locks") / "images.lock")
    with lock:
        assert not build._free(build.FileLock(lock.lock_file))
    assert build._free(build.FileLock(lock.lock_file))
