"""Gets the images: those that are here, else from a registry, else built from source.

Every step names itself with its seconds; what is done is found again by what it was made of, so a
build that was cut off goes on where it stopped and a second one ends at once.
"""

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from capd_py.engine.paths import cache_dir
from capd_py.images import debian, docker_cli, gobuild
from capd_py.images.loadbalancer import build_load_balancer_image, load_balancer_recipe
from capd_py.images.manager import build_manager_image, build_python_image
from capd_py.images.names import LOAD_BALANCER_IMAGE, node_image
from capd_py.images.node import build_node_image, node_recipe, rootfs_image
from capd_py.images.registry import pull
from capd_py.images.versions import check_version, components

Say = Callable[[str], None]
# Said before such a step, so that nobody takes it for one that hangs.
LONG = {"kubernetes": "minutes, with a new cache", "coredns": "a minute, with a new cache"}


@dataclass(frozen=True, slots=True)
class Images:
    """The images that clusters are made of; empty are those that were not asked for."""

    node: str
    load_balancer: str = ""
    manager: str = ""


def ensure_images(
    version: str,
    *,
    project_root: Path | None = None,
    say: Say = print,
    from_source: bool = False,
    node_only: bool = False,
) -> Images:
    """Make sure of the images of a Kubernetes version.

    Args:
        project_root: the clone whose manager image is wanted; None for no manager image.
        from_source: build even where a registry answers.
        node_only: only the node image, say of the version that a cluster is to be upgraded to.

    Raises:
        EngineError: an image cannot be had; the message names the cure.
    """
    check_version(version)
    lock = FileLock(cache_dir("locks") / "images.lock")
    if not _free(lock):
        say("waiting for another build of images to end")
    with lock:
        node = _ensure_node(version, say, from_source)
        if node_only:
            return Images(node)
        load_balancer = _ensure_load_balancer(say, from_source)
        manager = _ensure_manager(project_root, say) if project_root is not None else ""
    return Images(node, load_balancer, manager)


def _free(lock: FileLock) -> bool:
    try:
        with lock.acquire(blocking=False):
            return True
    except TimeoutError:
        return False


def _ensure_node(version: str, say: Say, from_source: bool) -> str:
    image = node_image(version)
    if _usable(image, say, from_source):
        return image
    versions = components(version)
    targets = gobuild.targets(versions)
    recipe = node_recipe(targets)
    if docker_cli.image_recipe(image) == recipe:
        return image
    say(f"building {image} from Debian packages and Go modules")
    # The one is bound by the network, the other by the processor.
    with ThreadPoolExecutor(2) as pool:
        rootfs = pool.submit(_ensure_rootfs, debian.NODE, say)
        for target in targets:
            if not target.built():
                with _step(say, f"build {target.name}", LONG.get(target.name, "")):
                    gobuild.build(target)
        rootfs.result()
    with _step(say, f"assemble {image}"):
        return build_node_image(versions, targets)


def _ensure_load_balancer(say: Say, from_source: bool) -> str:
    image = LOAD_BALANCER_IMAGE
    if _usable(image, say, from_source) or docker_cli.image_recipe(image) == load_balancer_recipe():
        return image
    _ensure_rootfs(debian.LOAD_BALANCER, say)
    with _step(say, f"assemble {image}"):
        return build_load_balancer_image()


def _usable(image: str, say: Say, from_source: bool) -> bool:
    """Whether an image that was made elsewhere is here, or comes from a registry."""
    recipe = docker_cli.image_recipe(image)
    if recipe is not None:
        return recipe == "" and not from_source
    if from_source:
        return False
    start = time.monotonic()
    if not pull(image, say):
        return False
    say(f"  pull {image}: {time.monotonic() - start:.1f} s")
    return True


def _ensure_rootfs(rootfs: debian.RootFs, say: Say) -> None:
    image = rootfs_image(rootfs)
    if docker_cli.image_exists(image):
        return
    with _step(say, f"root file system of the {rootfs.name} image"):
        debian.import_rootfs(rootfs, image, cache_dir("logs") / f"rootfs-{rootfs.name}.log")


def _ensure_manager(project_root: Path, say: Say) -> str:
    with _step(say, "manager image"):
        build_python_image(cache_dir("logs") / "rootfs-python.log")
        return build_manager_image(project_root)


@contextmanager
def _step(say: Say, title: str, long: str = "") -> Generator[None]:
    start = time.monotonic()
    if long:
        say(f"  {title} ({long})")
    yield
    say(f"  {title}: {time.monotonic() - start:.1f} s")
