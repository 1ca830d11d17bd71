"""Whose a container is: labels that tell clusters of the same name apart, and its name.

Upstream looks containers up by cluster name alone, so two namespaces or two management clusters
with a cluster of one name share containers on one engine. Here the labels name the management
cluster and the namespace as well. Upstream's labels are kept for its tools.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

CLUSTER = "io.x-k8s.kind.cluster"
ROLE = "io.x-k8s.kind.role"
FAILURE_DOMAIN = "io.x-k8s.cluster.failureDomain"
MANAGEMENT = "io.capd-py.management-cluster"
NAMESPACE = "io.capd-py.namespace"
OWNER = "io.capd-py.owner"

CONTROL_PLANE, WORKER, LOAD_BALANCER = "control-plane", "worker", "external-load-balancer"
_MAX_HOST_NAME = 63


@dataclass(frozen=True, slots=True)
class Identity:
    """A workload cluster on an engine.

    Attributes:
        management: uid of the management cluster's kube-system namespace.
    """

    management: str
    namespace: str
    cluster: str

    def labels(self) -> dict[str, str]:
        """The labels that all containers of the cluster carry."""
        return {
            MANAGEMENT: self.management,
            NAMESPACE: self.namespace,
            CLUSTER: self.cluster,
        }

    def role_labels(self, role: str) -> dict[str, str]:
        """The labels of the cluster's containers of one role."""
        return {**self.labels(), ROLE: role}

    def owner_labels(self, kind: str, name: str) -> dict[str, str]:
        """The labels of the container of one object."""
        return {**self.labels(), OWNER: f"{kind}/{name}"}

    def owns(self, labels: Mapping[str, str]) -> bool:
        """Whether a container with ``labels`` belongs to this cluster."""
        return all(labels.get(key) == value for key, value in self.labels().items())

    def unique_name(self, wanted: str) -> str:
        """``wanted`` with a suffix that no other namespace or management cluster gives it."""
        seed = f"{self.management}/{self.namespace}/{wanted}"
        suffix = hashlib.sha256(seed.encode()).hexdigest()[:6]
        return f"{wanted[: _MAX_HOST_NAME - 7]}-{suffix}"


def machine_container_name(cluster: str, machine: str) -> str:
    """Upstream's name for a Machine's container, cut to a host name's length."""
    return _fit(machine if machine.startswith(cluster) else f"{cluster}-{machine}")


def load_balancer_name(cluster: str) -> str:
    """Upstream's name for a cluster's load balancer."""
    return _fit(f"{cluster}-lb")


def _fit(name: str) -> str:
    if len(name) <= _MAX_HOST_NAME:
        return name
    return f"{name[: _MAX_HOST_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def provider_id(container: str) -> str:
    """spec.providerID of the machine in ``container``."""
    return f"docker:////{container}"


def container_of(provider: str | None) -> str:
    """The container that a providerID names, empty when there is none."""
    prefix = "docker:////"
    return provider.removeprefix(prefix) if provider and provider.startswith(prefix) else ""
