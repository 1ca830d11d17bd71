"""Reconciles KubeadmControlPlanes: the phases in order, one operation at a time."""

from collections.abc import Sequence

from capi_controlplane.differences import outdated_reasons
from capi_controlplane.health import CONFIG_WATCH, machine_verdicts, read_members
from capi_controlplane.machines import (
    PRE_TERMINATE_HOOK,
    MachineFactory,
    machine_labels,
    pick_failure_domain,
    read_template,
)
from capi_controlplane.scope import ControlPlaneScope
from capi_controlplane.secrets import ensure_certificates, ensure_kubeconfig
from capi_controlplane.status import set_control_plane_status
from capi_core.api.cluster import Cluster
from capi_core.api.controlplane import KubeadmControlPlane
from capi_core.api.kubeadm import KubeadmConfig
from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict, is_true, set_condition
from capi_core.contract.external import ExternalObjects
from capi_core.contract.owners import controller_of, owner_of_kind
from capi_core.contract.reconciler import ObjectReconciler, Phase
from capi_core.contract.remote import ClusterCache
from capi_core.contract.secrets import InvalidSecret
from capi_core.runtime.controller import Controller
from capi_core.runtime.errors import NotReady
from capi_core.runtime.manager import Manager
from capi_core.runtime.patch import delete_known, write_known
from capi_core.runtime.store import Key, key_of

_INFRASTRUCTURE_SECONDS, _PREFLIGHT_SECONDS, _UNHEALTHY_SECONDS = 30.0, 15.0, 5.0


class KubeadmControlPlaneReconciler(ObjectReconciler[KubeadmControlPlane, ControlPlaneScope]):
    """Brings up the first Machine, then others, and ends them all."""

    kind = KubeadmControlPlane
    finalizer = "kubeadm.controlplane.cluster.x-k8s.io"
    sequential = True

    def __init__(self, manager: Manager, external: ExternalObjects, remote: ClusterCache) -> None:
        super().__init__(manager)
        self._external = external
        self._remote = remote
        self._factory = MachineFactory(manager.client, external)
        self._machines = manager.store(Machine)
        self._configs = manager.store(KubeadmConfig)

    def ignores(self, obj: KubeadmControlPlane, cluster: Cluster | None) -> bool:
        # Core sets the owner; until then, and when the Cluster is lost, there is nothing to do.
        owned = owner_of_kind(obj.metadata, Cluster.resource) is not None
        return cluster is None or (not owned and not obj.deleting)

    def new_scope(
        self, obj: KubeadmControlPlane, cluster: Cluster | None, before: JsonObject
    ) -> ControlPlaneScope:
        scope = ControlPlaneScope(obj, cluster, before)
        if cluster is not None:
            scope.remote = self._remote.get(Key(cluster.namespace, cluster.name))
        return scope

    def phases(self, scope: ControlPlaneScope) -> Sequence[Phase[ControlPlaneScope]]:
        if scope.obj.deleting:
            return [self.machines, self.health, self.delete]
        return [
            self.machines,
            self.template,
            self.infrastructure,
            self.certificates,
            self.kubeconfig,
            self.propagate,
            self.health,
            self.initialization,
            self.hooks,
            self.scale,
        ]

    async def machines(self, scope: ControlPlaneScope) -> None:
        """The Machines of this control plane, and what they were made from."""
        cluster, uid = scope.require_cluster(), scope.obj.metadata.uid
        index = f"{cluster.namespace}/{cluster.name}"
        scope.all_machines = [Machine.parse(o) for o in self._machines.by_index("cluster", index)]
        for machine in scope.all_machines:
            owner = controller_of(machine.metadata)
            if owner is None or owner.uid != uid:
                continue
            scope.machines.append(machine)
            raw = self._configs.get(Key(machine.namespace, machine.name))
            if raw:
                scope.configs[machine.name] = KubeadmConfig.parse(raw)
            ref = machine.spec.infrastructure_ref
            found = await self._external.get(ref.api_group, ref.kind, machine.namespace, ref.name)
            if found:
                scope.infrastructure[machine.name] = found

    async def template(self, scope: ControlPlaneScope) -> None:
        """The infrastructure template exists."""
        try:
            await read_template(scope, self._external)
        except Exception as error:
            scope.problems.append(str(error))
            raise

    async def infrastructure(self, scope: ControlPlaneScope) -> None:
        """Wait for the cluster's infrastructure."""
        if not scope.require_cluster().status.initialization.infrastructure_provisioned:
            scope.problems.append("the Cluster's infrastructure is not provisioned yet")
            raise NotReady("infrastructure not provisioned", requeue_after=_INFRASTRUCTURE_SECONDS)

    async def certificates(self, scope: ControlPlaneScope) -> None:
        """The certificate Secrets."""
        try:
            await ensure_certificates(scope, self.client)
        except InvalidSecret as error:
            scope.certificates_problem = str(error)
            raise

    async def kubeconfig(self, scope: ControlPlaneScope) -> None:
        """The kubeconfig Secret, once there is an endpoint."""
        endpoint = scope.require_cluster().spec.control_plane_endpoint
        if not endpoint.host or not endpoint.port:
            scope.problems.append("Cluster spec.controlPlaneEndpoint is not set yet")
            raise NotReady("no endpoint", requeue_after=_INFRASTRUCTURE_SECONDS)
        await ensure_kubeconfig(scope, self.client)

    async def propagate(self, scope: ControlPlaneScope) -> None:
        """Carry to the Machines what needs no rollout."""
        template = scope.obj.spec.machine_template
        wanted = template.spec.dump()
        for machine in scope.machines:
            if machine.deleting:
                continue
            before = machine.dump()
            machine.metadata.labels.update(machine_labels(scope))
            machine.metadata.annotations.update(template.metadata.annotations)
            for name in ("deletion", "taints"):
                if name in wanted:
                    merged = {**before["spec"], name: wanted[name]}
                    if name == "deletion":
                        merged[name] = {**before["spec"].get(name, {}), **wanted[name]}
                    fresh = type(machine.spec).model_validate(merged)
                    setattr(machine.spec, name, getattr(fresh, name))
            await self._write_machine(machine, before)

    async def health(self, scope: ControlPlaneScope) -> None:
        """The health conditions of the Machines."""
        if scope.remote is not None and any(m.status.node_ref for m in scope.machines):
            await read_members(scope, self.client)
        for machine in scope.machines:
            before = machine.dump()
            verdicts = machine_verdicts(scope, machine)
            reasons = outdated_reasons(scope, machine)
            verdicts["UpToDate"] = (
                Verdict("False", "NotUpToDate", "\n".join(f"* {reason}" for reason in reasons))
                if reasons
                else Verdict("True", "UpToDate")
            )
            for kind, verdict in verdicts.items():
                set_condition(
                    machine.status.conditions,
                    kind,
                    verdict,
                    generation=machine.metadata.generation,
                )
            await self._write_machine(machine, before)
        if scope.initialized and not self._healthy(scope):
            # Pods and Nodes bring events; etcd's own answers do not.
            scope.requeue_after(_UNHEALTHY_SECONDS)

    def _healthy(self, scope: ControlPlaneScope) -> bool:
        return all(
            is_true(machine.status.conditions, kind)
            for machine in scope.machines
            for kind in scope.machine_conditions
        )

    async def _write_machine(self, machine: Machine, before: JsonObject) -> None:
        stored = await write_known(self.client, self._machines, before, machine)
        if stored:
            machine.metadata.resource_version = stored["metadata"]["resourceVersion"]

    async def initialization(self, scope: ControlPlaneScope) -> None:
        """Initialized, as soon as kubeadm has stored its configuration."""
        if scope.initialized or scope.remote is None:
            return
        if scope.remote.stores[CONFIG_WATCH].all():
            scope.set("Initialized", Verdict("True", "Initialized"))
            self.manager.recorder.normal(
                scope.obj, "ControlPlaneInitialized", "The API server answers"
            )

    async def hooks(self, scope: ControlPlaneScope) -> None:
        """Let deleted Machines go once their etcd member needs nothing more from here."""
        deleting = [m for m in scope.machines if m.deleting]
        for machine in deleting:
            # Removing a member of many is membership's business; the last one just goes.
            if len(scope.machines) == 1:
                await self._drop_hook(machine)

    async def _drop_hook(self, machine: Machine) -> None:
        if PRE_TERMINATE_HOOK in machine.metadata.annotations:
            patch = {"metadata": {"annotations": {PRE_TERMINATE_HOOK: None}}}
            stored = await self.client.patch(
                Machine.resource, machine.namespace, machine.name, patch
            )
            self._machines.put(stored)

    async def scale(self, scope: ControlPlaneScope) -> None:
        """The first Machine initializes the cluster, the others join one by one."""
        wanted, have = scope.obj.spec.replicas or 0, len(scope.machines)
        if have >= wanted:
            return
        if have and (problems := self._preflight(scope)):
            scope.problems += problems
            raise NotReady("not stable enough to scale up", requeue_after=_PREFLIGHT_SECONDS)
        machine = await self._factory.create(
            scope, first=not scope.initialized, failure_domain=pick_failure_domain(scope)
        )
        self._machines.put(machine.dump())
        scope.machines.append(machine)
        self.manager.recorder.normal(
            scope.obj, "SuccessfulCreate", f"Created Machine {machine.name}"
        )

    def _preflight(self, scope: ControlPlaneScope) -> list[str]:
        if not scope.initialized:
            return ["the control plane is not initialized yet"]
        problems: list[str] = []
        if scope.missing_certificates:
            problems.append("certificates are missing")
        for machine in scope.machines:
            if machine.deleting:
                problems.append(f"Machine {machine.name} is being deleted")
            elif not (machine.status.node_ref and machine.status.node_ref.name):
                problems.append(f"Machine {machine.name} has no Node yet")
            elif not all(
                is_true(machine.status.conditions, kind) for kind in scope.machine_conditions
            ):
                problems.append(f"the components of Machine {machine.name} are not healthy yet")
        return problems

    async def delete(self, scope: ControlPlaneScope) -> None:
        """After all workers the Machines go, all at once."""
        workers = [
            m.name for m in scope.all_machines if CONTROL_PLANE_LABEL not in m.metadata.labels
        ]
        if workers:
            scope.deleting_reason = "WaitingForWorkersDeletion"
            scope.deleting_message = f"* Worker Machines: {', '.join(sorted(workers)[:10])}"
            # The last worker's deletion brings an event.
            return
        for machine in scope.machines:
            await self._drop_hook(machine)
            if not machine.deleting:
                await delete_known(self.client, self._machines, machine)
        if scope.machines:
            names = ", ".join(sorted(m.name for m in scope.machines))
            scope.deleting_reason = "WaitingForMachineDeletion"
            scope.deleting_message = f"* Control plane Machines: {names}"
            return
        scope.deleting_reason = "DeletionCompleted"
        self.remove_finalizer(scope)

    def set_status(self, scope: ControlPlaneScope) -> None:
        set_control_plane_status(scope)


def register(manager: Manager, external: ExternalObjects, remote: ClusterCache) -> None:
    """Run the KubeadmControlPlane controller in ``manager``."""
    control_planes = manager.store(KubeadmControlPlane)
    reconciler = KubeadmControlPlaneReconciler(manager, external, remote)
    controller = Controller("kubeadmcontrolplane", reconciler)
    manager.add_controller(controller, KubeadmControlPlane)
    manager.enqueue_owner(controller, Machine, KubeadmControlPlane)
    manager.store(KubeadmConfig)

    def enqueue_cluster(cluster: Key) -> None:
        for obj in control_planes.by_index("cluster", f"{cluster.namespace}/{cluster.name}"):
            controller.enqueue(key_of(obj))

    def cluster_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or _facts(old) == _facts(new):
            return
        ref = (new.get("spec") or {}).get("controlPlaneRef") or {}
        if ref.get("kind") == KubeadmControlPlane.resource.kind:
            controller.enqueue(Key(key_of(new).namespace, ref["name"]))

    def worker_gone(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None and old is not None:
            enqueue_cluster(Key(key_of(old).namespace, old["spec"]["clusterName"]))

    def remote_changed(cluster: Key, old: JsonObject | None, new: JsonObject | None) -> None:
        obj = new or old or {}
        labels = obj.get("metadata", {}).get("labels") or {}
        is_pod = labels.get("tier") == "control-plane"
        is_config = obj.get("metadata", {}).get("name") == "kubeadm-config"
        is_node = "node-role.kubernetes.io/control-plane" in labels
        pod_changed = is_pod and _pod_facts(old) != _pod_facts(new)
        node_changed = is_node and _node_facts(old) != _node_facts(new)
        if is_config or pod_changed or node_changed:
            enqueue_cluster(cluster)

    manager.store(Cluster).on_change(cluster_changed)
    manager.store(Machine).on_change(worker_gone)
    remote.on_connection(enqueue_cluster)
    remote.on_object(remote_changed)


def _facts(obj: JsonObject | None) -> tuple[object, ...]:
    if obj is None:
        return ()
    status = (obj.get("status") or {}).get("initialization") or {}
    spec = obj.get("spec") or {}
    return (
        status.get("infrastructureProvisioned"),
        spec.get("controlPlaneEndpoint"),
        spec.get("paused"),
        obj["metadata"].get("deletionTimestamp"),
    )


def _pod_facts(pod: JsonObject | None) -> object:
    if pod is None:
        return None
    status = pod.get("status") or {}
    ready = [(c["type"], c["status"]) for c in status.get("conditions") or []]
    return (status.get("phase"), ready, pod["metadata"].get("deletionTimestamp"))


def _node_facts(node: JsonObject | None) -> object:
    if node is None:
        return None
    return (node["metadata"].get("labels"), node.get("spec"))
