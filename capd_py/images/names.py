"""Names of the images, the same whether they were pulled or built here."""

from capd_py.container.images import haproxy_image, kind_node_image
from capd_py.images.versions import DEFAULT_VERSION

LOAD_BALANCER_IMAGE = haproxy_image()
MANAGER_REPOSITORY = "capd-py/manager"
PYTHON_REPOSITORY = "capd-py/python-base"
ROOTFS_REPOSITORY = "capd-py/rootfs"
POD_NETWORK_IMAGE = "localhost/capd-py/podroutes:v1"
# On every image made here: the hash of what it was made from.
RECIPE_LABEL = "io.capd-py.recipe"


def node_image(version: str = DEFAULT_VERSION) -> str:
    """The node image of a Kubernetes version."""
    return kind_node_image(version)
