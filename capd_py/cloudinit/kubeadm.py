"""Fits kubeadm's configuration to a node that is a container. Pure.

What the user set stays; added is what a container needs: the runtime's socket, a kubelet that does
not mind the host's disk and swap and keeps to its own cgroup, a kube-proxy that leaves the host's
connection tracking alone, and the node's provider id, so that it registers with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from capd_py.cloudinit.document import InvalidUserData, WriteFile

INIT_FILE = "/run/kubeadm/kubeadm.yaml"
JOIN_FILE = "/run/kubeadm/kubeadm-join-config.yaml"
_SOCKET = "unix:///var/run/containerd/containerd.sock"
_KUBELET = {
    "image-gc-high-threshold": "100",
    "eviction-hard": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%",
    "fail-swap-on": "false",
    "cgroup-root": "/kubelet",
    "runtime-cgroups": "/system.slice/containerd.service",
}
_IGNORED_CHECKS = (
    "SystemVerification",
    "Swap",
    "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables",
)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What kubeadm is told about the container.

    Attributes:
        certificate_names: further names of the API server, those of the published port.
    """

    provider_id: str
    certificate_names: Sequence[str] = ()


def fit(files: list[WriteFile], facts: NodeFacts) -> list[WriteFile]:
    """The files with kubeadm's configurations fitted.

    Raises:
        InvalidUserData: a configuration is malformed.
    """
    return [
        replace(file, content=_fit(file, facts)) if file.path in (INIT_FILE, JOIN_FILE) else file
        for file in files
    ]


def _fit(file: WriteFile, facts: NodeFacts) -> bytes:
    try:
        documents = [doc for doc in yaml.safe_load_all(file.content) if doc is not None]
    except yaml.YAMLError as error:
        raise InvalidUserData(f"{file.path}: is not YAML") from error
    for document in documents:
        if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
            raise InvalidUserData(f"{file.path}: a document has no kind")
        if document["kind"] in ("InitConfiguration", "JoinConfiguration"):
            _register(document, facts)
        if document["kind"] == "ClusterConfiguration":
            _name(document, facts)
    if file.path == INIT_FILE:
        _spare_conntrack(documents)
    return yaml.safe_dump_all(documents, sort_keys=False).encode()


def _register(document: dict[str, Any], facts: NodeFacts) -> None:
    node = _mapping(document, "nodeRegistration")
    node["criSocket"] = node.get("criSocket") or _SOCKET
    wanted = {**_KUBELET, "provider-id": facts.provider_id}
    given = node.get("kubeletExtraArgs")
    # v1beta4 has a list of names and values, v1beta3 a mapping.
    if str(document.get("apiVersion")).endswith(("v1beta3", "v1beta2")):
        node["kubeletExtraArgs"] = {**wanted, **_mapping(node, "kubeletExtraArgs")}
    else:
        arguments: Any = given or []
        if not isinstance(arguments, list) or not all(isinstance(a, dict) for a in arguments):
            raise InvalidUserData(f"{document['kind']}: kubeletExtraArgs is not a list of mappings")
        named = {argument.get("name") for argument in arguments}
        added = [{"name": n, "value": v} for n, v in wanted.items() if n not in named]
        node["kubeletExtraArgs"] = [*arguments, *added]
    checks = _list(node, "ignorePreflightErrors")
    node["ignorePreflightErrors"] = [*checks, *(c for c in _IGNORED_CHECKS if c not in checks)]


def _name(document: dict[str, Any], facts: NodeFacts) -> None:
    server = _mapping(document, "apiServer")
    names = _list(server, "certSANs")
    server["certSANs"] = [*names, *(n for n in facts.certificate_names if n not in names)]


def _spare_conntrack(documents: list[Any]) -> None:
    found = [d for d in documents if d["kind"] == "KubeProxyConfiguration"]
    proxy: dict[str, Any] | None = found[0] if found else None
    if proxy is None:
        proxy = {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
        }
        documents.append(proxy)
    _mapping(proxy, "conntrack").setdefault("maxPerCore", 0)


def _mapping(parent: dict[str, Any], key: str) -> dict[str, Any]:
    """The mapping under ``key``, made when there is none."""
    value: Any = parent.get(key)
    if value is None:
        value = parent[key] = {}
    if not isinstance(value, dict):
        raise InvalidUserData(f"kubeadm's configuration: {key} is not a mapping")
    return value


def _list(parent: dict[str, Any], key: str) -> list[Any]:
    value: Any = parent.get(key) or []
    if not isinstance(value, list):
        raise InvalidUserData(f"kubeadm's configuration: {key} is not a list")
    return value
