"""Reconciles DockerClusters: the load balancer, its address as the endpoint, its configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from capd_py.container.address import is_address
from capd_py.container.identity import Identity
from capd_py.loadbalancer.balancer import Settings
from capd_py.loadbalancer.config import API_PORT
from capd_py.reconcilers.backends import ControlPlaneBackends
from capd_py.reconcilers.host import Host, load_balancer_image
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerCluster
from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.meta import JsonObject
from capi_core.conditions import Reasons, Verdict, summarize
from capi_core.contract.owners import owner_of_kind
from capi_core.contract.reconciler import ObjectReconciler, Phase, Scope
from capi_core.runtime.controller import describe
from capi_core.runtime.manager import Manager

MANAGED_BY = "cluster.x-k8s.io/managed-by"
_AVAILABLE = "LoadBalancerAvailable"


@dataclass
class DockerClusterScope(Scope[DockerCluster]):
    """One pass over a DockerCluster.

    Attributes:
        load_balancer: what LoadBalancerAvailable will say.
    """

    load_balancer: Verdict = field(default_factory=lambda: Verdict("False", "NotAvailable"))


class DockerClusterReconciler(ObjectReconciler[DockerCluster, DockerClusterScope]):
    """Owns the load balancer of each cluster."""

    kind = DockerCluster
    finalizer = "dockercluster.infrastructure.cluster.x-k8s.io"
    sequential = True

    def __init__(self, manager: Manager, host: Host, backends: ControlPlaneBackends) -> None:
        super().__init__(manager)
        self._host = host
        self._backends = backends

    def ignores(self, obj: DockerCluster, cluster: Cluster | None) -> bool:
        # Until core has made the Cluster its owner there is nobody to make infrastructure for.
        return MANAGED_BY in obj.metadata.annotations or (cluster is None and not obj.deleting)

    def new_scope(
        self, obj: DockerCluster, cluster: Cluster | None, before: JsonObject
    ) -> DockerClusterScope:
        return DockerClusterScope(obj, cluster, before)

    def phases(self, scope: DockerClusterScope) -> Sequence[Phase[DockerClusterScope]]:
        return [self.delete] if scope.obj.deleting else [self.container, self.configuration]

    async def container(self, scope: DockerClusterScope) -> None:
        """The container, whose address becomes the control plane endpoint."""
        obj, cluster = scope.obj, scope.cluster
        assert cluster is not None
        identity = await self._host.identity(cluster)
        endpoint = obj.spec.control_plane_endpoint
        settings = Settings(
            image=load_balancer_image(obj),
            network=self._host.network,
            port=endpoint.port or API_PORT,
            known_address=endpoint.host or "",
        )
        container = await self._host.balancers.ensure(
            identity,
            settings,
            made=lambda c: self.manager.recorder.normal(
                obj, "LoadBalancerCreated", f"Load balancer {c.name} runs"
            ),
        )
        endpoint.host = endpoint.host or container.address
        endpoint.port = endpoint.port or API_PORT
        obj.status.failure_domains = list(obj.spec.failure_domains)
        obj.status.initialization.provisioned = True
        if endpoint.host in container.addresses or not is_address(endpoint.host):
            scope.load_balancer = Verdict("True", "Available")
        else:
            scope.load_balancer = Verdict(
                "False",
                "NotAvailable",
                f"container {container.name} has the address {container.address}, but the control "
                f"plane endpoint is {endpoint.host}",
            )

    async def configuration(self, scope: DockerClusterScope) -> None:
        """Its backends."""
        assert scope.cluster is not None
        identity = await self._host.identity(scope.cluster)
        await self._backends.sync(identity, scope.obj)

    async def delete(self, scope: DockerClusterScope) -> None:
        """The container goes, and with it whatever of the cluster was left on the engine."""
        scope.load_balancer = Verdict("False", "Deleting")
        if name := _cluster_name(scope.obj):
            identity = Identity(await self._host.management(), scope.obj.namespace, name)
            known = scope.obj.spec.control_plane_endpoint.host or ""
            container = await self._host.balancers.find(identity, known)
            leftovers = await self._host.runtime.find(identity.labels())
            for item in {c.id: c for c in (container, *leftovers) if c is not None}.values():
                await self._host.runtime.remove(item)
            self._host.balancers.forget(identity)
        self.remove_finalizer(scope)

    def set_status(self, scope: DockerClusterScope) -> None:
        if scope.errors:
            reason = "Deleting" if scope.obj.deleting else "NotAvailable"
            scope.load_balancer = Verdict("False", reason, describe(scope.errors[0]))
        scope.set(_AVAILABLE, scope.load_balancer)
        reasons = Reasons("NotReady", "ReadyUnknown", "Ready")
        scope.set("Ready", summarize(scope.conditions, [_AVAILABLE], reasons=reasons))


def _cluster_name(obj: DockerCluster) -> str:
    owner = owner_of_kind(obj.metadata, Cluster.resource)
    return owner.name if owner else obj.metadata.labels.get(CLUSTER_NAME_LABEL, "")

