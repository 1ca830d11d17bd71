"""Reconciles Machines: the phases in order."""

from collections.abc import Sequence

from pydantic import ValidationError

from capi_core.api.cluster import Cluster
from capi_core.api.labels import (
    CLUSTER_NAME_LABEL,
    CONTROL_PLANE_LABEL,
    DEPLOYMENT_NAME_LABEL,
    SET_NAME_LABEL,
)
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.conditions import is_true
from capi_core.contract.external import ExternalObjects
from capi_core.contract.owners import controller_of, set_owner
from capi_core.contract.reconciler import ObjectReconciler, Phase
from capi_core.contract.remote import ClusterCache
from capi_core.reconcilers.machine.deletion import Deletion
from capi_core.reconcilers.machine.node import observe_node
from capi_core.reconcilers.machine.references import References
from capi_core.reconcilers.machine.scope import (
    MachineScope,
)
from capi_core.reconcilers.machine.status import set_machine_status
from capi_core.runtime.controller import Controller
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key, key_of

_CONDITIONS_GRACE_SECONDS = 300.0
_OWNING_LABELS = (
    SET_NAME_LABEL,
    "cluster.x-k8s.io/pool-name",
    "cluster.x-k8s.io/control-plane-name",
)


class MachineReconciler(ObjectReconciler[Machine, MachineScope]):
    """Follows a Machine from its references to its Node, and ends it in order."""

    kind = Machine
    finalizer = "machine.cluster.x-k8s.io"

    def __init__(self, manager: Manager, external: ExternalObjects, remote: ClusterCache) -> None:
        super().__init__(manager)
        self._external = external
        self._remote = remote
        self._references = References(external)
        self._deletion = Deletion(manager, external, self.why_keep_node)
        self._machine_sets = manager.store(MachineSet)
        self._deployments = manager.store(MachineDeployment)

    def new_scope(self, obj: Machine, cluster: Cluster | None, before: JsonObject) -> MachineScope:
        scope = MachineScope(obj, cluster, before)
        scope.remote = self._remote.get(Key(obj.namespace, obj.spec.cluster_name))
        return scope

    def phases(self, scope: MachineScope) -> Sequence[Phase[MachineScope]]:
        phases: list[Phase[MachineScope]] = [
            self.owner_and_labels,
            self._references.bootstrap,
            self._references.infrastructure,
            self.node,
        ]
        return [*phases, self.delete] if scope.obj.deleting else phases

    async def owner_and_labels(self, scope: MachineScope) -> None:
        """The Cluster owns Machines that nobody else controls."""
        machine = scope.obj
        machine.metadata.labels[CLUSTER_NAME_LABEL] = machine.spec.cluster_name
        alone = controller_of(machine.metadata) is None and not any(
            label in machine.metadata.labels for label in _OWNING_LABELS
        )
        if alone and scope.cluster is not None and not machine.deleting:
            set_owner(machine.metadata, scope.cluster)
        scope.machine_set = self._machine_set(machine)
        name = machine.metadata.labels.get(DEPLOYMENT_NAME_LABEL)
        raw = self._deployments.get(Key(machine.namespace, name)) if name else None
        scope.machine_deployment = MachineDeployment.parse(raw) if raw else None

    def _machine_set(self, machine: Machine) -> MachineSet | None:
        owner = controller_of(machine.metadata)
        if owner is None or owner.kind != "MachineSet":
            return None
        raw = self._machine_sets.get(Key(machine.namespace, owner.name))
        return MachineSet.parse(raw) if raw else None

    async def node(self, scope: MachineScope) -> None:
        """The Node, once the workload cluster knows it."""
        had = scope.obj.status.node_ref and scope.obj.status.node_ref.name
        await observe_node(scope)
        if scope.node is not None and not had:
            name = scope.node["metadata"]["name"]
            self.manager.recorder.normal(scope.obj, "SuccessfulSetNodeRef", name)

    async def delete(self, scope: MachineScope) -> None:
        """One round of the ordered deletion."""
        try:
            done = await self._deletion.run(scope)
        except Exception:
            if not scope.deleting_message:
                scope.deleting_reason = "InternalError"
                scope.deleting_message = "Please check controller logs for errors"
            raise
        if done:
            self.remove_finalizer(scope)

    async def why_keep_node(self, scope: MachineScope) -> str:
        """Why drain, volumes and the Node itself need no care; empty when they do."""
        machine, cluster = scope.obj, scope.cluster
        if cluster is None or cluster.deleting:
            return "the Cluster goes too"
        if not (machine.status.node_ref and machine.status.node_ref.name) and scope.node is None:
            return "there is no Node"
        ref = cluster.spec.control_plane_ref
        if ref is not None and ref.name:
            control_plane = await self._external.get(
                ref.api_group, ref.kind, machine.namespace, ref.name
            )
            if control_plane is not None:
                if control_plane.deleting:
                    return "the control plane goes too"
                if control_plane.field("status.externalManagedControlPlane"):
                    return ""
        if not self._other_control_plane_machines(machine):
            return "no control plane Machine is left"
        return ""

    def _other_control_plane_machines(self, machine: Machine) -> bool:
        index = f"{machine.namespace}/{machine.spec.cluster_name}"
        for obj in self.store.by_index("cluster", index):
            meta = obj["metadata"]
            is_control_plane = CONTROL_PLANE_LABEL in (meta.get("labels") or {})
            if is_control_plane and not meta.get("deletionTimestamp"):
                return True
        return False

    def set_status(self, scope: MachineScope) -> None:
        before = scope.obj.status.phase
        health = self._remote.health(Key(scope.obj.namespace, scope.obj.spec.cluster_name))
        set_machine_status(scope, health, grace_seconds=_CONDITIONS_GRACE_SECONDS)
        if before != scope.obj.status.phase:
            self.manager.recorder.normal(
                scope.obj, scope.obj.status.phase or "", f"Machine is {scope.obj.status.phase}"
            )


def register(manager: Manager, external: ExternalObjects, remote: ClusterCache) -> None:
    """Run the Machine controller in ``manager``."""
    machines = manager.store(Machine)
    machines.add_index("providerID", _provider_id)
    machines.add_index("node", _node_name)
    controller = Controller("machine", MachineReconciler(manager, external, remote))
    manager.add_controller(controller, Machine)
    external.subscribe(controller, Machine)

    def enqueue_all(cluster: Key) -> None:
        for obj in machines.by_index("cluster", f"{cluster.namespace}/{cluster.name}"):
            controller.enqueue(key_of(obj))

    def cluster_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None and _cluster_facts(old) != _cluster_facts(new):
            enqueue_all(key_of(new))

    def node_changed(cluster: Key, old: JsonObject | None, new: JsonObject | None) -> None:
        node = new or old
        if node is None or node.get("kind", "Node") != "Node" or _same_node(old, new):
            return
        provider_id = (node.get("spec") or {}).get("providerID")
        found = machines.by_index("providerID", provider_id) if provider_id else []
        found = found or machines.by_index("node", f"{cluster.name}/{node['metadata']['name']}")
        for obj in found:
            if key_of(obj).namespace == cluster.namespace:
                controller.enqueue(key_of(obj))

    def template_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if (old or {}).get("spec") != (new or {}).get("spec"):
            namespace, name = key_of(new or old or {})
            for obj in machines.all(namespace):
                if (obj["metadata"].get("labels") or {}).get(DEPLOYMENT_NAME_LABEL) == name:
                    controller.enqueue(key_of(obj))

    remote.on_connection(enqueue_all)
    remote.on_object(node_changed)
    manager.store(Cluster).on_change(cluster_changed)
    manager.store(MachineDeployment).on_change(template_changed)


def _provider_id(obj: JsonObject) -> list[str]:
    value = (obj.get("spec") or {}).get("providerID")
    return [value] if value else []


def _node_name(obj: JsonObject) -> list[str]:
    name = ((obj.get("status") or {}).get("nodeRef") or {}).get("name")
    cluster = (obj.get("spec") or {}).get("clusterName")
    return [f"{cluster}/{name}"] if name else []


def _cluster_facts(obj: JsonObject | None) -> tuple[object, ...]:
    """What of a Cluster matters to its Machines."""
    if obj is None:
        return ()
    try:
        cluster = Cluster.parse(obj)
    except ValidationError:
        return ()
    return (
        cluster.spec.paused,
        cluster.deleting,
        cluster.status.initialization.infrastructure_provisioned,
        is_true(cluster.status.conditions, "ControlPlaneInitialized"),
    )


def _same_node(old: JsonObject | None, new: JsonObject | None) -> bool:
    """Whether only a heartbeat moved."""
    if old is None or new is None:
        return False
    return _node_facts(old) == _node_facts(new)


def _node_facts(node: JsonObject) -> tuple[object, ...]:
    status, meta = node.get("status") or {}, node["metadata"]
    conditions = [
        (c["type"], c["status"], c.get("message")) for c in status.get("conditions") or []
    ]
    return (
        conditions,
        node.get("spec"),
        meta.get("labels"),
        meta.get("annotations"),
        meta.get("deletionTimestamp"),
        status.get("nodeInfo"),
    )
