"""The node image: a machine of one Kubernetes version, its components' images already in it."""

import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from capd_py.images import archive, debian, docker_cli, gobuild
from capd_py.images.context import add_bytes, render
from capd_py.images.names import POD_NETWORK_IMAGE, RECIPE_LABEL, ROOTFS_REPOSITORY, node_image
from capd_py.images.recipe import RECIPES, recipe_hash
from capd_py.images.versions import Components

REGISTRY = "registry.k8s.io"
CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
ARCHIVE = "images.tar"
STOP_SIGNAL = "SIGRTMIN+3"


def rootfs_image(rootfs: debian.RootFs) -> str:
    """The image of a root file system, named by what it is made of."""
    key = recipe_hash(also=(rootfs, debian.SUITE, debian.UNUSED))
    return f"{ROOTFS_REPOSITORY}-{rootfs.name}:{key}"


def node_recipe(targets: list[gobuild.Target]) -> str:
    """What decides the content of a node image."""
    keys = tuple(target.directory.name for target in targets)
    return recipe_hash("node", also=(rootfs_image(debian.NODE), keys, POD_NETWORK_IMAGE))


def component_images(versions: Components) -> dict[str, str]:
    """The images that kubeadm asks for, by component."""
    images = {
        name: f"{REGISTRY}/{name}:{versions.kubernetes}" for name in (*CONTROL_PLANE, "kube-proxy")
    }
    images["coredns"] = f"{REGISTRY}/coredns/coredns:{versions.coredns}"
    images["etcd"] = f"{REGISTRY}/etcd:{versions.etcd}"
    images["pause"] = f"{REGISTRY}/pause:{versions.pause}"
    images["podroutes"] = POD_NETWORK_IMAGE
    return images


def build_node_image(versions: Components, targets: list[gobuild.Target]) -> str:
    """Put the built programs and a root file system together as a node image."""
    image = node_image(versions.kubernetes)
    programs = {
        name: target.directory / name for target in targets for name in target.outputs
    }
    with docker_cli.scratch_container(rootfs_image(debian.NODE), "--privileged") as container:
        tools = docker_cli.run_script(container, _script("nettools"))
        images = _specs(versions, programs, tools)
        packed = BytesIO()
        archive.write_archive(packed, images)
        docker_cli.copy_in(container, _node_files(versions, programs, packed.getvalue()))
        docker_cli.run_script(container, _script("setup"), versions.kubernetes)
        names = [spec.name for spec in images]
        docker_cli.run_script(container, _script("preload"), f"/{ARCHIVE}", *names)
        docker_cli.commit(container, image, _changes(node_recipe(targets)))
    return image


def _script(name: str) -> str:
    return (RECIPES / "node" / f"{name}.sh").read_text()


def _changes(recipe: str) -> list[str]:
    return [
        'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]',
        "CMD []",
        "ENV container=docker",
        f"STOPSIGNAL {STOP_SIGNAL}",
        # containerd's snapshots cannot lie on the engine's own overlay.
        'VOLUME ["/var"]',
        f"LABEL {RECIPE_LABEL}={recipe}",
    ]


def _specs(
    versions: Components, programs: Mapping[str, Path], tools: bytes
) -> list[archive.ImageSpec]:
    names = component_images(versions)
    links = {f"usr/local/bin/{name}": "kubernetes" for name in gobuild.KUBERNETES_PROGRAMS}
    # One layer for all: it is kept once and unpacked once.
    kubernetes = archive.compress(
        archive.pack_files({"usr/local/bin/kubernetes": programs["kubernetes"]}, links)
    )
    nettools = archive.compress(tools)
    specs = [
        archive.ImageSpec(names[name], [kubernetes], [name]) for name in CONTROL_PLANE
    ]
    specs += [
        archive.ImageSpec(names[name], [kubernetes, nettools], [name])
        for name in ("kube-proxy", "podroutes")
    ]
    for name in ("coredns", "etcd", "pause"):
        layer = archive.compress(archive.pack_files({f"usr/local/bin/{name}": programs[name]}, {}))
        specs.append(archive.ImageSpec(names[name], [layer], [f"/usr/local/bin/{name}"]))
    return specs


def _node_files(versions: Components, programs: Mapping[str, Path], images: bytes) -> bytes:
    """A tar of all that a node has besides its distribution."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as target:
        root = RECIPES / "node" / "files"
        for path in sorted(p for p in root.rglob("*") if p.is_file()):
            executable = path.parent.name == "bin"
            text = render(path.read_text(), {"pause": versions.pause})
            add_bytes(target, str(path.relative_to(root)), text.encode(), executable)
        for name in ("kubernetes", "crictl"):
            add_bytes(target, f"usr/local/bin/{name}", programs[name].read_bytes(), True)
        add_bytes(target, ARCHIVE, images, False)
    return buffer.getvalue()
