"""The programs in the cache, for this machine rather than for an image, and the CNI manifest."""

from dataclasses import dataclass
from pathlib import Path

from capd_py.engine.paths import cache_dir
from capd_py.images import gobuild
from capd_py.images.recipe import RECIPES
from capd_py.images.versions import DEFAULT_VERSION, components


@dataclass(frozen=True, slots=True)
class Binaries:
    """Paths of programs of one Kubernetes version."""

    kube_apiserver: Path
    kubectl: Path
    etcd: Path


def binaries(version: str = DEFAULT_VERSION) -> Binaries:
    """The programs, built when they are not there."""
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


def cni_manifest() -> str:
    """What gives the nodes of a locally built image their pod network, in whatever subnet."""
    path = RECIPES / "node" / "files" / "kind" / "manifests" / "default-cni.yaml"
    return path.read_text()
