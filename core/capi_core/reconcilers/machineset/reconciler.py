"""Reconciles MachineSets: adopt, propagate in place, remediate, scale."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict, delete_condition, set_condition
from capi_core.contract.external import External, ExternalObjects
from capi_core.contract.owners import controller_of, set_owner
from capi_core.contract.reconciler import ObjectReconciler, Phase, Scope
from capi_core.contract.selectors import matches
from capi_core.reconcilers.machineset.machines import (
    MachineFactory,
    TemplateMissing,
    in_place_patch,
)
from capi_core.reconcilers.machineset.preflight import preflight_problems
from capi_core.reconcilers.machineset.remediation import (
    DELETING,
    OWNER_REMEDIATED,
    blocked,
    has_recovered,
    plan_remediation,
    remediation_facts,
)
from capi_core.reconcilers.machineset.selection import machines_to_delete
from capi_core.reconcilers.machineset.status import set_machine_set_status
from capi_core.runtime.controller import Controller
from capi_core.runtime.errors import Conflict
from capi_core.runtime.manager import Manager
from capi_core.runtime.patch import delete_known, write_known
from capi_core.runtime.store import Key, key_of

log = structlog.get_logger()
DISABLE_CREATE = "cluster.x-k8s.io/disable-machine-create"
_PREFLIGHT_SECONDS = 15.0


@dataclass
class MachineSetScope(Scope[MachineSet]):
    """The MachineSet with its Machines and what keeps it from scaling up.

    Attributes:
        observed: whether ``machines`` are all there are; else nothing may be counted by them.
    """

    observed: bool = False
    machines: list[Machine] = field(default_factory=list)
    control_plane: External | None = None
    problems: list[str] = field(default_factory=list)


class MachineSetReconciler(ObjectReconciler[MachineSet, MachineSetScope]):
    """Keeps ``spec.replicas`` Machines."""

    kind = MachineSet
    finalizer = "cluster.x-k8s.io/machineset"

    def __init__(self, manager: Manager, external: ExternalObjects) -> None:
        super().__init__(manager)
        self._external = external
        self._factory = MachineFactory(manager.client, external)
        self._machines = manager.store(Machine)
        self._deployments = manager.store(MachineDeployment)

    def new_scope(
        self, obj: MachineSet, cluster: Cluster | None, before: JsonObject
    ) -> MachineSetScope:
        return MachineSetScope(obj, cluster, before)

    def phases(self, scope: MachineSetScope) -> Sequence[Phase[MachineSetScope]]:
        if scope.obj.deleting:
            return [self.machines, self.delete]
        return [
            self.owner_and_labels,
            self.templates,
            self.machines,
            self.remediate,
            self.propagate,
            self.scale,
        ]

    async def owner_and_labels(self, scope: MachineSetScope) -> None:
        """The Cluster owns MachineSets that no MachineDeployment controls."""
        machine_set = scope.obj
        machine_set.metadata.labels[CLUSTER_NAME_LABEL] = machine_set.spec.cluster_name
        if controller_of(machine_set.metadata) is None and scope.cluster is not None:
            set_owner(machine_set.metadata, scope.cluster)

    async def templates(self, scope: MachineSetScope) -> None:
        """Both templates exist, and belong to the Cluster so that they go with it."""
        if not scope.obj.spec.replicas and controller_of(scope.obj.metadata):
            return
        spec = scope.obj.spec.template.spec
        refs = [spec.infrastructure_ref]
        if spec.bootstrap.config_ref is not None and spec.bootstrap.config_ref.name:
            refs.append(spec.bootstrap.config_ref)
        for ref in refs:
            try:
                template = await self._factory.template(scope.obj, ref)
            except TemplateMissing as error:
                scope.problems.append(str(error))
                raise
            await self._factory.own(template, scope.cluster)

    async def machines(self, scope: MachineSetScope) -> None:
        """Find the Machines, and adopt those that match and belong to nobody."""
        machine_set, uid = scope.obj, scope.obj.metadata.uid
        for obj in self._machines.all(machine_set.namespace):
            machine = Machine.parse(obj)
            owner = controller_of(machine.metadata)
            if owner is not None:
                if owner.uid == uid:
                    scope.machines.append(machine)
                continue
            same_cluster = machine.spec.cluster_name == machine_set.spec.cluster_name
            if (
                same_cluster
                and not machine.deleting
                and not machine_set.deleting
                and matches(machine_set.spec.selector, machine.metadata.labels)
            ):
                await self._adopt(machine_set, machine)
                scope.machines.append(machine)
        scope.observed = True

    async def _adopt(self, machine_set: MachineSet, machine: Machine) -> None:
        before = machine.dump()
        set_owner(machine.metadata, machine_set, controller=True)
        await write_known(self.client, self._machines, before, machine)
        self.manager.recorder.normal(
            machine_set, "SuccessfulAdopt", f"Adopted Machine {machine.name}"
        )

    async def remediate(self, scope: MachineSetScope) -> None:
        """Delete Machines that a health check has given up, unless something forbids it."""
        for machine in filter(has_recovered, scope.machines):
            await self._set_owner_remediated(machine, None)
        plan = plan_remediation(scope.machines, scope.obj, self._deployment(scope.obj))
        for machine in plan.later:
            await self._set_owner_remediated(machine, plan.excuse)
        if not plan.now:
            return
        problems = preflight_problems(scope.obj, await self._control_plane(scope.cluster))
        if problems:
            scope.requeue_after(_PREFLIGHT_SECONDS)
        for machine in plan.now:
            # Told before the deletion: if that fails, the next pass finds the Machine again.
            await self._set_owner_remediated(machine, blocked(problems) if problems else DELETING)
            if not problems:
                await self._delete(scope.obj, machine)

    def _deployment(self, machine_set: MachineSet) -> MachineDeployment | None:
        owner = controller_of(machine_set.metadata)
        if owner is None or owner.kind != "MachineDeployment":
            return None
        raw = self._deployments.get(Key(machine_set.namespace, owner.name))
        return MachineDeployment.parse(raw) if raw else None

    async def _set_owner_remediated(self, machine: Machine, verdict: Verdict | None) -> None:
        """Say in OwnerRemediated what becomes of the Machine; None takes the condition away."""
        before, conditions = machine.dump(), machine.status.conditions
        if verdict is None:
            delete_condition(conditions, OWNER_REMEDIATED)
        else:
            generation = machine.metadata.generation
            set_condition(conditions, OWNER_REMEDIATED, verdict, generation=generation)
        await write_known(self.client, self._machines, before, machine)

    async def propagate(self, scope: MachineSetScope) -> None:
        """Carry to the Machines what needs no rollout."""
        for machine in scope.machines:
            if patch := in_place_patch(machine, scope.obj):
                stored = await self.client.patch(
                    Machine.resource, machine.namespace, machine.name, patch
                )
                self._machines.put(stored)

    async def scale(self, scope: MachineSetScope) -> None:
        """Make or delete Machines until the number is right."""
        wanted = scope.obj.spec.replicas
        if wanted is None or not scope.observed:
            return
        missing = wanted - len(scope.machines)
        if missing > 0:
            await self._scale_up(scope, missing)
        elif missing < 0:
            order = scope.obj.spec.deletion.order or "Random"
            for machine in machines_to_delete(scope.machines, -missing, order):
                if not machine.deleting:
                    await self._delete(scope.obj, machine)

    async def _scale_up(self, scope: MachineSetScope, missing: int) -> None:
        if scope.obj.metadata.annotations.get(DISABLE_CREATE) == "true":
            return
        if any(isinstance(error, TemplateMissing) for error in scope.errors):
            return
        problems = preflight_problems(scope.obj, await self._control_plane(scope.cluster))
        if problems:
            scope.problems += problems
            scope.requeue_after(_PREFLIGHT_SECONDS)
            return
        made = await asyncio.gather(
            *(self._factory.create(scope.obj) for _ in range(missing)), return_exceptions=True
        )
        for result in made:
            if isinstance(result, Machine):
                self._machines.put(result.dump())
                scope.machines.append(result)
                self.manager.recorder.normal(
                    scope.obj, "SuccessfulCreate", f"Created Machine {result.name}"
                )
        failed = [result for result in made if isinstance(result, Exception)]
        if failed:
            self.manager.recorder.warning(scope.obj, "FailedCreate", str(failed[0]))
            raise failed[0]

    async def _control_plane(self, cluster: Cluster | None) -> External | None:
        ref = cluster.spec.control_plane_ref if cluster else None
        if cluster is None or ref is None or not ref.name:
            return None
        return await self._external.get(ref.api_group, ref.kind, cluster.namespace, ref.name)

    async def _delete(self, machine_set: MachineSet, machine: Machine) -> None:
        try:
            await delete_known(self.client, self._machines, machine)
        except Conflict:
            # The name was given to another Machine meanwhile: ours is gone.
            return
        self.manager.recorder.normal(
            machine_set, "SuccessfulDelete", f"Deleted Machine {machine.name}"
        )

    async def delete(self, scope: MachineSetScope) -> None:
        """All Machines, then the MachineSet."""
        for machine in scope.machines:
            if not machine.deleting:
                await self._delete(scope.obj, machine)
        if scope.observed and not scope.machines:
            self.remove_finalizer(scope)

    def set_status(self, scope: MachineSetScope) -> None:
        if scope.observed:
            set_machine_set_status(scope.obj, scope.machines, scope.problems)


def register(manager: Manager, external: ExternalObjects) -> None:
    """Run the MachineSet controller in ``manager``."""
    controller = Controller("machineset", MachineSetReconciler(manager, external))
    manager.add_controller(controller, MachineSet)
    manager.enqueue_owner(controller, Machine, MachineSet)
    external.subscribe(controller, MachineSet)
    machine_sets = manager.store(MachineSet)

    def orphan_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or any(
            ref.get("controller") for ref in new["metadata"].get("ownerReferences") or []
        ):
            return
        labels = new["metadata"].get("labels") or {}
        for obj in machine_sets.all(new["metadata"].get("namespace")):
            if matches(MachineSet.parse(obj).spec.selector, labels):
                controller.enqueue(key_of(obj))

    def cluster_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        facts = [((o or {}).get("spec") or {}).get("paused") for o in (old, new)]
        if new is not None and facts[0] != facts[1]:
            enqueue_cluster(key_of(new))

    def enqueue_cluster(cluster: Key) -> None:
        for obj in machine_sets.by_index("cluster", f"{cluster.namespace}/{cluster.name}"):
            controller.enqueue(key_of(obj))

    def control_plane_counters_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        # The Cluster's counters move with its control plane's version and replicas.
        if new is not None and (old or {}).get("status") != new.get("status"):
            for obj in machine_sets.by_index(
                "cluster", f"{key_of(new).namespace}/{key_of(new).name}"
            ):
                status = obj.get("status") or {}
                if status.get("replicas", 0) < ((obj.get("spec") or {}).get("replicas") or 0):
                    controller.enqueue(key_of(obj))

    def deployment_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None and remediation_facts(old) != remediation_facts(new):
            for obj in machine_sets.owned_by(new["metadata"]["uid"]):
                controller.enqueue(key_of(obj))

    manager.store(Machine).on_change(orphan_changed)
    manager.store(MachineDeployment).on_change(deployment_changed)
    manager.store(Cluster).on_change(cluster_changed)
    manager.store(Cluster).on_change(control_plane_counters_changed)
