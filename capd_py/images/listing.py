"""The images that are here, and whether they are what would be made now."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capd_py.engine.errors import EngineError
from capd_py.engine.process import run
from capd_py.images import gobuild
from capd_py.images.loadbalancer import load_balancer_recipe
from capd_py.images.manager import manager_image
from capd_py.images.names import LOAD_BALANCER_IMAGE, MANAGER_REPOSITORY, RECIPE_LABEL, node_image
from capd_py.images.node import node_recipe
from capd_py.images.versions import components, known_version

NODE_REPOSITORY = node_image("").rstrip(":")
CURRENT, OUTDATED, PULLED = "built", "built from an older recipe", "pulled"


@dataclass(frozen=True, slots=True)
class Listed:
    """An image that is here.

    Attributes:
        name: With its tag.
        megabytes: Its size; layers that images share count in each.
        state: Where it comes from.
    """

    name: str
    megabytes: float
    state: str


def list_images(project_root: Path | None = None) -> list[Listed]:
    """The node, load balancer and manager images that the engine has.

    Args:
        project_root: the clone that manager images are compared with.

    Raises:
        EngineError: The engine does not answer.
    """
    repositories = (NODE_REPOSITORY, LOAD_BALANCER_IMAGE, MANAGER_REPOSITORY)
    ids = {image for name in repositories for image in run(
        ["docker", "image", "ls", "--quiet", "--no-trunc", name],
        cure="capd engine ensure",
    ).split()}
    answer = json.loads(run(["docker", "image", "inspect", *ids])) if ids else []
    return sorted(_described(answer, project_root), key=lambda image: image.name)


def _described(answer: list[dict[str, Any]], project_root: Path | None) -> Iterator[Listed]:
    for image in answer:
        recipe = (image["Config"].get("Labels") or {}).get(RECIPE_LABEL, "")
        for name in image["RepoTags"]:
            yield Listed(name, image["Size"] / 1e6, _state(name, recipe, project_root))


def _state(name: str, recipe: str, project_root: Path | None) -> str:
    repository, _, tag = name.rpartition(":")
    if repository == MANAGER_REPOSITORY:
        current = project_root is None or name == manager_image(project_root)
        return CURRENT if current else "built from other sources"
    if not recipe:
        return PULLED
    if name == LOAD_BALANCER_IMAGE:
        return CURRENT if recipe == load_balancer_recipe() else OUTDATED
    return CURRENT if recipe == _node_recipe(tag, recipe) else OUTDATED


def _node_recipe(version: str, otherwise: str) -> str:
    """The recipe of now; a list has no time to download what tells it."""
    try:
        known = known_version(version)
    except EngineError:
        known = False
    return node_recipe(gobuild.targets(components(version))) if known else otherwise
