"""The engine that a manager works on, and whose containers are whose there."""

import os
from dataclasses import dataclass

from capd_py.container.identity import Identity
from capd_py.container.images import haproxy_image, kind_node_image
from capd_py.container.runtime import Runtime
from capd_py.loadbalancer.balancer import LoadBalancers
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerCluster
from capi_core.contract.remote import NAMESPACES
from capi_core.runtime.client import Client

DEFAULT_NETWORK = "kind"
_PROXY = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@dataclass
class Host:
    """An engine with everything that the reconcilers share about it.

    Attributes:
        network: name of the network that nodes live in.
    """

    runtime: Runtime
    client: Client
    network: str = DEFAULT_NETWORK
    _management: str = ""

    def __post_init__(self) -> None:
        self.balancers = LoadBalancers(self.runtime)

    async def management(self) -> str:
        """The uid of the management cluster: that of its kube-system namespace."""
        if not self._management:
            namespace = await self.client.get(NAMESPACES, None, "kube-system")
            self._management = namespace["metadata"]["uid"]
        return self._management

    async def identity(self, cluster: Cluster) -> Identity:
        """The workload cluster's identity on the engine."""
        return Identity(await self.management(), cluster.namespace, cluster.name)


def load_balancer_image(obj: DockerCluster) -> str:
    """The image of spec.loadBalancer."""
    spec = obj.spec.load_balancer
    return haproxy_image(spec.image_repository, spec.image_tag)


def node_image(version: str, custom: str | None) -> str:
    """The image of a node: spec.customImage, else kind's for the Kubernetes version."""
    return custom or kind_node_image(version)


def node_environment(name: str, *, control_plane: bool) -> dict[str, str]:
    """A node's environment: this manager's proxies, and kubectl's access on control planes."""
    environment = {"KUBECONFIG": "/etc/kubernetes/admin.conf"} if control_plane else {}
    proxies = {k: os.environ.get(k) or os.environ.get(k.lower(), "") for k in _PROXY}
    if not (proxies["HTTP_PROXY"] or proxies["HTTPS_PROXY"]):
        return environment
    local = (name, ".svc", ".svc.cluster", ".svc.cluster.local")
    proxies["NO_PROXY"] = ",".join(filter(None, (proxies["NO_PROXY"], *local)))
    for key, value in proxies.items():
        environment |= {key: value, key.lower(): value} if value else {}
    return environment
