"""The images of nodes, load balancer and managers, and the programs that they are made of."""

from capd_py.images.build import Images, ensure_images
from capd_py.images.programs import Binaries, binaries, cni_manifest

__all__ = ["Binaries", "Images", "binaries", "cni_manifest", "ensure_images"]
