"""The load balancer image: HAProxy under the name that upstream gives it."""

from capd_py.images import debian, docker_cli
from capd_py.images.context import files_below, make_context, render
from capd_py.images.names import LOAD_BALANCER_IMAGE, RECIPE_LABEL
from capd_py.images.node import rootfs_image
from capd_py.images.recipe import RECIPES, recipe_hash


def load_balancer_recipe() -> str:
    """What decides the content of the load balancer image."""
    return recipe_hash("loadbalancer", also=rootfs_image(debian.LOAD_BALANCER))


def build_load_balancer_image() -> str:
    """Put the configuration and entry point on a root file system with HAProxy."""
    recipe = RECIPES / "loadbalancer"
    values = {
        "base": rootfs_image(debian.LOAD_BALANCER),
        "label": RECIPE_LABEL,
        "recipe": load_balancer_recipe(),
    }
    dockerfile = render((recipe / "Dockerfile").read_text(), values)
    context = make_context(dockerfile, files_below(recipe / "files", "files"))
    docker_cli.build(context, LOAD_BALANCER_IMAGE)
    return LOAD_BALANCER_IMAGE
