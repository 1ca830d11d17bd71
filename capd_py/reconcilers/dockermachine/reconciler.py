"""Reconciles DockerMachines: the phases in order, and who is woken by what."""

from collections.abc import Sequence

from capd_py.container.identity import container_of
from capd_py.reconcilers.backends import ControlPlaneBackends
from capd_py.reconcilers.dockermachine.bootstrap import BootstrapPhase
from capd_py.reconcilers.dockermachine.container import ContainerPhases
from capd_py.reconcilers.dockermachine.node import settle_node
from capd_py.reconcilers.dockermachine.scope import (
    BOOTSTRAP,
    CGROUPS,
    IMAGES,
    PROVISIONED,
    STEPS,
    DockerMachineScope,
)
from capd_py.reconcilers.host import Host
from capd_py.reconcilers.tasks import Tasks
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerCluster, DockerMachine
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.conditions import Reasons, Verdict, get_condition, summarize
from capi_core.contract.owners import owner_of_kind
from capi_core.contract.reconciler import ObjectReconciler, Phase
from capi_core.contract.remote import ClusterCache
from capi_core.runtime.controller import describe
from capi_core.runtime.errors import NotReady
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key

_INITIAL = {
    PROVISIONED: Verdict("False", "NotProvisioned"),
    CGROUPS: Verdict("False", "WaitingForContainer"),
    IMAGES: Verdict("False", "WaitingForContainer"),
    BOOTSTRAP: Verdict("False", "WaitingForContainer"),
}


class DockerMachineReconciler(ObjectReconciler[DockerMachine, DockerMachineScope]):
    """Makes a container into a node of its cluster."""

    kind = DockerMachine
    finalizer = "dockermachine.infrastructure.cluster.x-k8s.io"
    sequential = True

    def __init__(
        self,
        manager: Manager,
        host: Host,
        backends: ControlPlaneBackends,
        remote: ClusterCache,
        tasks: Tasks,
    ) -> None:
        super().__init__(manager)
        self._host = host
        self._backends = backends
        self._remote = remote
        self._tasks = tasks
        self._machines = manager.store(Machine)
        self._docker_clusters = manager.store(DockerCluster)
        self._container = ContainerPhases(manager, host, tasks)
        self._bootstrap = BootstrapPhase(manager, host, tasks)

    def ignores(self, obj: DockerMachine, cluster: Cluster | None) -> bool:
        return not obj.deleting and (cluster is None or self._machine(obj) is None)

    def _machine(self, obj: DockerMachine) -> Machine | None:
        owner = owner_of_kind(obj.metadata, Machine.resource)
        raw = self._machines.get(Key(obj.namespace, owner.name)) if owner else None
        return Machine.parse(raw) if raw else None

    def new_scope(
        self, obj: DockerMachine, cluster: Cluster | None, before: JsonObject
    ) -> DockerMachineScope:
        scope = DockerMachineScope(obj, cluster, before, machine=self._machine(obj))
        ref = cluster.spec.infrastructure_ref if cluster is not None else None
        if ref is not None and ref.kind == DockerCluster.resource.kind:
            raw = self._docker_clusters.get(Key(obj.namespace, ref.name))
            scope.docker_cluster = DockerCluster.parse(raw) if raw else None
        return scope

    def phases(self, scope: DockerMachineScope) -> Sequence[Phase[DockerMachineScope]]:
        if scope.obj.deleting:
            return [self.identify, self.delete]
        return [
            self.identify,
            self.infrastructure,
            self._container.provision,
            self.load_balancer,
            self._container.cgroups,
            self._container.images,
            self._container.announce,
            self._bootstrap.run,
            self.node,
        ]

    async def identify(self, scope: DockerMachineScope) -> None:
        """Whose container it is, and the container itself."""
        if scope.cluster is not None:
            scope.identity = await self._host.identity(scope.cluster)
            await self._container.find(scope)
        elif name := container_of(scope.obj.spec.provider_id):
            # The Cluster is gone already; what it left must go as well.
            scope.container = await self._host.runtime.get(name)

    async def infrastructure(self, scope: DockerMachineScope) -> None:
        """Containers are made once the cluster has its load balancer."""
        assert scope.cluster is not None
        if scope.cluster.status.initialization.infrastructure_provisioned:
            return
        scope.verdicts[PROVISIONED] = Verdict(
            "False",
            "WaitingForClusterInfrastructureReady",
            "Waiting for Cluster status.initialization.infrastructureProvisioned to be true",
        )
        # The Cluster's event brings the next pass.
        raise NotReady("infrastructure not provisioned", requeue_after=300.0)

    async def load_balancer(self, scope: DockerMachineScope) -> None:
        """A control plane machine is a backend from the start, and none while it leaves."""
        if not scope.is_control_plane or scope.docker_cluster is None:
            return
        if await self._backends.sync(scope.require_identity(), scope.docker_cluster):
            scope.obj.status.load_balancer_configured = True

    async def node(self, scope: DockerMachineScope) -> None:
        """The Node, when it registers."""
        if not scope.reached(BOOTSTRAP):
            return
        cluster = scope.cluster
        assert cluster is not None
        remote = self._remote.get(Key(cluster.namespace, cluster.name))
        if remote is not None:
            # A Node that comes later brings the next pass with its event.
            await settle_node(remote, scope.require_container())

    async def delete(self, scope: DockerMachineScope) -> None:
        """Whatever runs is ended, then the container goes, then its place as a backend."""
        obj = scope.obj
        scope.verdicts[PROVISIONED] = Verdict("False", "Deleting")
        await self._tasks.cancel(Key(obj.namespace, obj.name))
        if scope.identity is not None:
            labels = scope.identity.owner_labels("DockerMachine", obj.name)
            for container in await self._host.runtime.find(labels):
                await self._host.runtime.remove(container)
        if scope.container is not None:
            await self._host.runtime.remove(scope.container)
            self.manager.recorder.normal(
                obj, "ContainerDeleted", f"Container {scope.container.name} is removed"
            )
        alive = scope.docker_cluster is not None and not scope.docker_cluster.deleting
        if alive and scope.is_control_plane and scope.cluster and not scope.cluster.deleting:
            await self.load_balancer(scope)
        self.remove_finalizer(scope)

    def set_status(self, scope: DockerMachineScope) -> None:
        told = any(v.status == "False" and v.message for v in scope.verdicts.values())
        waiting = [step for step in STEPS if not scope.reached(step)]
        if scope.errors and waiting and not told:
            # What went wrong between the steps keeps the next one from being reached.
            known = get_condition(scope.conditions, waiting[0])
            reason = known.reason if known and known.status != "True" else ""
            reason = reason or scope.verdicts.get(waiting[0], _INITIAL[waiting[0]]).reason
            message = describe(scope.errors[0])
            scope.verdicts[waiting[0]] = Verdict("False", reason, message)
        for step in STEPS:
            known = get_condition(scope.conditions, step)
            if step in scope.verdicts:
                scope.set(step, scope.verdicts[step])
            elif awaited := scope.awaited_by(step):
                scope.set(step, Verdict("False", awaited))
            elif known is None:
                scope.set(step, _INITIAL[step])
        reasons = Reasons("NotReady", "ReadyUnknown", "Ready")
        scope.set("Ready", summarize(scope.conditions, STEPS, reasons=reasons))
