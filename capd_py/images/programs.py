"""The programs in the cache, for this machine rather than for an image, and the CNI manifest."""

from dataclasses import dataclass
from pathlib import Path

from capd_py.engine.errors import EngineError
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import run
from capd_py.engine.tools import GO_CURE, KUBECTL_IN_NODE, has_go, take_program
from capd_py.images import docker_cli, gobuild
from capd_py.images.names import node_image
from capd_py.images.recipe import RECIPES
from capd_py.images.registry import pull
from capd_py.images.versions import DEFAULT_VERSION, components


@dataclass(frozen=True, slots=True)
class Binaries:
    """Paths of programs of one Kubernetes version."""

    kube_apiserver: Path
    kubectl: Path
    etcd: Path


def binaries(version: str = DEFAULT_VERSION) -> Binaries:
    """The programs: built, or without Go taken out of the images of a registry.

    Raises:
        EngineError: Neither is possible.
    """
    if not has_go():
        return _taken(version)
    versions = components(version)
    kubernetes = gobuild.build(gobuild.kubernetes_target(versions)) / "kubernetes"
    etcd = gobuild.build(gobuild.etcd_target(versions)) / "etcd"
    links = cache_dir("binaries", version)
    return Binaries(
        _link(links / "kube-apiserver", kubernetes),
        _link(links / "kubectl", kubernetes),
        _link(links / "etcd", etcd),
    )


def _link(link: Path, target: Path) -> Path:
    """The one Kubernetes binary acts by the name that it is called by."""
    if not link.exists() or link.resolve() != target.resolve():
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    return link


def _taken(version: str) -> Binaries:
    """The programs that are here, whatever they came from; missing ones out of images."""
    directory = cache_dir("binaries", version)
    found = Binaries(*(directory / name for name in ("kube-apiserver", "kubectl", "etcd")))
    for program in (found.kube_apiserver, found.etcd):
        if not program.exists():
            image = _image_of(version, program.name)
            if not docker_cli.image_exists(image) and not pull(image, print):
                raise EngineError(f"no Go to build {program.name} with, and no {image}", GO_CURE)
            take_program(image, [f"/usr/local/bin/{program.name}"], program)
    if not found.kubectl.exists():
        take_program(node_image(version), KUBECTL_IN_NODE, found.kubectl)
    return found


def _image_of(version: str, component: str) -> str:
    """The image that the node image's kubeadm asks for."""
    command = ["docker", "run", "--rm", "--entrypoint", "kubeadm", node_image(version)]
    command += ["config", "images", "list", "--kubernetes-version", version]
    images = run(command, cure=f"capd image build --kubernetes-version {version}").split()
    return next(image for image in images if f"/{component}:" in image)


def cni_manifest() -> str:
    """What gives the nodes of a locally built image their pod network, in whatever subnet."""
    path = RECIPES / "node" / "files" / "kind" / "manifests" / "default-cni.yaml"
    return path.read_text()
