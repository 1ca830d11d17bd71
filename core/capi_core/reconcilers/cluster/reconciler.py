"""Reconciles Clusters: the phases in order."""

from collections.abc import Sequence

from capi_core.api.cluster import Cluster
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.contract.external import ExternalObjects
from capi_core.contract.reconciler import ObjectReconciler, Phase
from capi_core.contract.remote import ClusterCache
from capi_core.reconcilers.cluster.deletion import delete_descendants, delete_reference
from capi_core.reconcilers.cluster.kubeconfig import ensure_kubeconfig
from capi_core.reconcilers.cluster.references import References
from capi_core.reconcilers.cluster.scope import ClusterScope
from capi_core.reconcilers.cluster.status import set_cluster_status
from capi_core.runtime.controller import Controller
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key, key_of

_REMOTE_GRACE_SECONDS = 50.0


class ClusterReconciler(ObjectReconciler[Cluster, ClusterScope]):
    """Reads both references, hands their results on, and deletes in order."""

    kind = Cluster
    finalizer = "cluster.cluster.x-k8s.io"

    def __init__(self, manager: Manager, external: ExternalObjects, remote: ClusterCache) -> None:
        super().__init__(manager)
        self._external = external
        self._remote = remote
        self._references = References(external, manager.recorder)
        self._machines = manager.store(Machine)
        self._machine_sets = manager.store(MachineSet)
        self._machine_deployments = manager.store(MachineDeployment)

    def new_scope(self, obj: Cluster, cluster: Cluster | None, before: JsonObject) -> ClusterScope:
        return ClusterScope(obj, cluster, before)

    def phases(self, scope: ClusterScope) -> Sequence[Phase[ClusterScope]]:
        phases: list[Phase[ClusterScope]] = [
            self._references.infrastructure,
            self._references.control_plane,
            self.descendants,
        ]
        return [*phases, self.delete if scope.obj.deleting else self.kubeconfig]

    async def descendants(self, scope: ClusterScope) -> None:
        """Find the Machines and their groups."""
        index = f"{scope.obj.namespace}/{scope.obj.name}"
        scope.machines = [Machine.parse(o) for o in self._machines.by_index("cluster", index)]
        scope.machine_sets = [
            MachineSet.parse(o) for o in self._machine_sets.by_index("cluster", index)
        ]
        scope.machine_deployments = [
            MachineDeployment.parse(o) for o in self._machine_deployments.by_index("cluster", index)
        ]

    async def kubeconfig(self, scope: ClusterScope) -> None:
        """The kubeconfig, where nobody else writes it."""
        await ensure_kubeconfig(scope, self.client)

    async def delete(self, scope: ClusterScope) -> None:
        """Workers, then the control plane, then the infrastructure."""
        if scope.errors:
            scope.deleting_reason = "InternalError"
            scope.deleting_message = "Please check controller logs for errors"
            return
        done = (
            await delete_descendants(scope, self.client)
            and await delete_reference(
                scope,
                scope.control_plane,
                self._external,
                reason="WaitingForControlPlaneDeletion",
            )
            and await delete_reference(
                scope,
                scope.infrastructure,
                self._external,
                reason="WaitingForInfrastructureDeletion",
            )
        )
        if done:
            scope.deleting_reason = "DeletionCompleted"
            self.remove_finalizer(scope)

    def set_status(self, scope: ClusterScope) -> None:
        before = scope.obj.status.phase
        health = self._remote.health(Key(scope.obj.namespace, scope.obj.name))
        set_cluster_status(scope, health, grace_seconds=_REMOTE_GRACE_SECONDS)
        if before and before != scope.obj.status.phase:
            self.manager.recorder.normal(
                scope.obj, scope.obj.status.phase or "", f"Cluster is {scope.obj.status.phase}"
            )


def register(manager: Manager, external: ExternalObjects, remote: ClusterCache) -> None:
    """Run the Cluster controller in ``manager``."""
    reconciler = ClusterReconciler(manager, external, remote)
    controller = Controller("cluster", reconciler)
    manager.add_controller(controller, Cluster)
    external.subscribe(controller, Cluster)
    remote.on_connection(controller.enqueue)

    def descendant_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        obj = new or old
        assert obj is not None
        if name := (obj.get("spec") or {}).get("clusterName"):
            controller.enqueue(Key(key_of(obj).namespace, name))

    for kind in (Machine, MachineSet, MachineDeployment):
        manager.store(kind).on_change(descendant_changed)
