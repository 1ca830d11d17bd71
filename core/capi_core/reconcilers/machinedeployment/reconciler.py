"""Reconciles MachineDeployments: find the MachineSets, roll, clean up."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CLUSTER_NAME_LABEL, DEPLOYMENT_NAME_LABEL
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.contract.external import ExternalObjects
from capi_core.contract.owners import controller_of, owner_reference, set_owner
from capi_core.contract.reconciler import ObjectReconciler, Phase, Scope
from capi_core.contract.selectors import matches
from capi_core.reconcilers.machinedeployment.rollout import (
    SetState,
    break_deadlock,
    scale_down_old,
    scale_up_new,
)
from capi_core.reconcilers.machinedeployment.sets import (
    DESIRED_REPLICAS,
    DISABLE_CREATE,
    MAX_REPLICAS,
    REVISION,
    find_new,
    in_place_fields,
    make_set,
    old_sets,
    revision,
)
from capi_core.reconcilers.machinedeployment.status import limits, set_deployment_status
from capi_core.reconcilers.machineset.machines import MachineFactory, TemplateMissing
from capi_core.runtime.controller import Controller
from capi_core.runtime.manager import Manager
from capi_core.runtime.patch import delete_known, merge_diff
from capi_core.runtime.store import Key, key_of


@dataclass
class DeploymentScope(Scope[MachineDeployment]):
    """The MachineDeployment with its MachineSets and Machines.

    Attributes:
        observed: whether these are all there are; else nothing may be counted by them.
        problems: what keeps MachineSets from being made.
    """

    observed: bool = False
    problems: list[str] = field(default_factory=list)
    sets: list[MachineSet] = field(default_factory=list)
    machines: list[Machine] = field(default_factory=list)


class MachineDeploymentReconciler(ObjectReconciler[MachineDeployment, DeploymentScope]):
    """Moves Machines from old MachineSets to the new one within the strategy's limits."""

    kind = MachineDeployment
    finalizer = "cluster.x-k8s.io/machinedeployment"
    sequential = True

    def __init__(self, manager: Manager, external: ExternalObjects) -> None:
        super().__init__(manager)
        self._external = external
        self._factory = MachineFactory(manager.client, external)
        self._sets = manager.store(MachineSet)
        self._machines = manager.store(Machine)

    def new_scope(
        self, obj: MachineDeployment, cluster: Cluster | None, before: JsonObject
    ) -> DeploymentScope:
        return DeploymentScope(obj, cluster, before)

    def phases(self, scope: DeploymentScope) -> Sequence[Phase[DeploymentScope]]:
        if scope.obj.deleting:
            return [self.sets, self.delete]
        return [self.owner_and_labels, self.sets, self.templates, self.roll]

    async def owner_and_labels(self, scope: DeploymentScope) -> None:
        """The Cluster owns its MachineDeployments."""
        scope.obj.metadata.labels[CLUSTER_NAME_LABEL] = scope.obj.spec.cluster_name
        if scope.cluster is not None:
            set_owner(scope.obj.metadata, scope.cluster)

    async def sets(self, scope: DeploymentScope) -> None:
        """Find the MachineSets, adopt orphans, and count their Machines."""
        deployment = scope.obj
        for obj in self._sets.all(deployment.namespace):
            machine_set = MachineSet.parse(obj)
            owner = controller_of(machine_set.metadata)
            if owner is not None and owner.uid != deployment.metadata.uid:
                continue
            if owner is None:
                selected = matches(deployment.spec.selector, machine_set.metadata.labels)
                if not selected or deployment.deleting or machine_set.deleting:
                    continue
                refs = [r.dump() for r in machine_set.metadata.owner_references]
                refs.append(owner_reference(deployment, controller=True).dump())
                await self._patch(machine_set, {"metadata": {"ownerReferences": refs}})
            scope.sets.append(machine_set)
        for machine_set in scope.sets:
            scope.machines += [
                Machine.parse(o) for o in self._machines.owned_by(machine_set.metadata.uid)
            ]
        scope.observed = True

    async def templates(self, scope: DeploymentScope) -> None:
        """Both templates exist and go with the Cluster."""
        spec = scope.obj.spec.template.spec
        refs = [spec.infrastructure_ref]
        if spec.bootstrap.config_ref is not None and spec.bootstrap.config_ref.name:
            refs.append(spec.bootstrap.config_ref)
        probe = MachineSet(metadata=scope.obj.metadata)
        for ref in refs:
            try:
                template = await self._factory.template(probe, ref)
            except TemplateMissing as error:
                scope.problems.append(str(error))
                raise
            # Also with no replicas, when no MachineSet looks at it.
            await self._factory.own(template, scope.cluster)

    async def roll(self, scope: DeploymentScope) -> None:
        """One step of the rollout."""
        deployment = scope.obj
        if deployment.spec.replicas is None:
            return
        new = find_new(deployment, scope.sets)
        if deployment.spec.paused:
            return
        old = old_sets(new, scope.sets)
        if new is None:
            new = await self._create(scope, old)
        await self._follow(deployment, new, old)
        if deployment.spec.rollout.strategy.type == "OnDelete":
            await self._on_delete(scope, new, old)
        else:
            await self._rolling_update(scope, new, old)
        await self._clean_up(scope, new, old)

    async def _create(self, scope: DeploymentScope, old: list[MachineSet]) -> MachineSet:
        surge, _ = limits(scope.obj)
        size = scale_up_new(
            SetState("", 0, 0, 0), [_state(s) for s in old], scope.obj.spec.replicas or 0, surge
        )
        body = make_set(scope.obj, scope.sets, size)
        stored = await self.client.create(body, MachineSet.resource)
        self._sets.put(stored)
        new = MachineSet.parse(stored)
        scope.sets.append(new)
        self.manager.recorder.normal(
            scope.obj, "SuccessfulCreate", f"Created MachineSet {new.name}"
        )
        return new

    async def _follow(
        self, deployment: MachineDeployment, new: MachineSet, old: list[MachineSet]
    ) -> None:
        """Carry to the new MachineSet what needs no rollout."""
        have = new.spec.template.spec.dump()
        wanted = {k: v for k, v in in_place_fields(deployment).items() if have.get(k) != v}
        number = max((revision(s) for s in old), default=0)
        patch: JsonObject = {}
        if wanted:
            patch["spec"] = {"template": {"spec": wanted}}
        order = deployment.spec.deletion.order
        if order != new.spec.deletion.order:
            patch.setdefault("spec", {})["deletion"] = {"order": order} if order else None
        labels = {
            k: v
            for k, v in deployment.spec.template.metadata.labels.items()
            if new.spec.template.metadata.labels.get(k) != v
        }
        if labels:
            template = patch.setdefault("spec", {}).setdefault("template", {})
            template["metadata"] = {"labels": labels}
        if revision(new) <= number:
            patch["metadata"] = {"annotations": {REVISION: str(number + 1)}}
        if patch:
            await self._patch(new, patch)
        deployment.metadata.annotations[REVISION] = str(max(revision(new), number))

    async def _rolling_update(
        self, scope: DeploymentScope, new: MachineSet, old: list[MachineSet]
    ) -> None:
        replicas = scope.obj.spec.replicas or 0
        surge, unavailable = limits(scope.obj)
        state, others = _state(new), [_state(s) for s in old]
        size = scale_up_new(state, others, replicas, surge)
        sizes = scale_down_old(state, others, replicas, unavailable)
        if size == state.spec:
            sizes = break_deadlock(state, others, sizes, replicas)
        await self._resize(scope.obj, new, size)
        for machine_set in old:
            await self._resize(scope.obj, machine_set, sizes[machine_set.name])

    async def _on_delete(
        self, scope: DeploymentScope, new: MachineSet, old: list[MachineSet]
    ) -> None:
        replicas = scope.obj.spec.replicas or 0
        kept = 0
        for machine_set in old:
            if machine_set.metadata.annotations.get(DISABLE_CREATE) != "true":
                await self._patch(
                    machine_set, {"metadata": {"annotations": {DISABLE_CREATE: "true"}}}
                )
            alive = sum(
                not m.deleting
                for m in scope.machines
                if (o := controller_of(m.metadata)) and o.uid == machine_set.metadata.uid
            )
            kept += min(alive, machine_set.spec.replicas or 0)
        excess = max(kept - replicas, 0)
        for machine_set in old:
            size = min(machine_set.spec.replicas or 0, machine_set.status.replicas or 0)
            cut = min(excess, size)
            excess -= cut
            await self._resize(scope.obj, machine_set, size - cut)
        total_old = sum(max(s.spec.replicas or 0, s.status.replicas or 0) for s in old)
        await self._resize(scope.obj, new, max(replicas - total_old, 0))

    async def _resize(
        self, deployment: MachineDeployment, machine_set: MachineSet, size: int
    ) -> None:
        if machine_set.spec.replicas == size:
            return
        surge, _ = limits(deployment)
        replicas = deployment.spec.replicas or 0
        notes = {DESIRED_REPLICAS: str(replicas), MAX_REPLICAS: str(replicas + surge)}
        await self._patch(
            machine_set,
            {
                "metadata": {
                    "annotations": notes,
                    "resourceVersion": machine_set.metadata.resource_version,
                },
                "spec": {"replicas": size},
            },
        )
        self.manager.recorder.normal(
            deployment, "SuccessfulScale", f"Scaled MachineSet {machine_set.name} to {size}"
        )

    async def _patch(self, machine_set: MachineSet, patch: JsonObject) -> None:
        stored = await self.client.patch(
            MachineSet.resource, machine_set.namespace, machine_set.name, patch
        )
        self._sets.put(stored)
        fresh = MachineSet.parse(stored)
        machine_set.metadata, machine_set.spec = fresh.metadata, fresh.spec

    async def _clean_up(
        self, scope: DeploymentScope, new: MachineSet, old: list[MachineSet]
    ) -> None:
        replicas = scope.obj.spec.replicas or 0
        complete = (
            (new.status.available_replicas or 0) >= replicas
            and (new.status.replicas or 0) == replicas
            and not any((s.spec.replicas or 0) or (s.status.replicas or 0) for s in old)
        )
        for machine_set in old if complete else []:
            if not machine_set.deleting:
                await delete_known(self.client, self._sets, machine_set)

    async def delete(self, scope: DeploymentScope) -> None:
        """All MachineSets, then the MachineDeployment."""
        for machine_set in scope.sets:
            if not machine_set.deleting:
                await delete_known(self.client, self._sets, machine_set)
        if not scope.sets:
            self.remove_finalizer(scope)

    def set_status(self, scope: DeploymentScope) -> None:
        if scope.observed:
            set_deployment_status(scope.obj, scope.sets, scope.machines, scope.problems)


def _state(machine_set: MachineSet) -> SetState:
    status = machine_set.status
    return SetState(
        machine_set.name,
        machine_set.spec.replicas or 0,
        status.replicas or 0,
        status.available_replicas or 0,
    )


def register(manager: Manager, external: ExternalObjects) -> None:
    """Run the MachineDeployment controller in ``manager``."""
    controller = Controller("machinedeployment", MachineDeploymentReconciler(manager, external))
    manager.add_controller(controller, MachineDeployment)
    manager.enqueue_owner(controller, MachineSet, MachineDeployment)
    external.subscribe(controller, MachineDeployment)
    deployments = manager.store(MachineDeployment)

    def machine_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        obj = new or old
        assert obj is not None
        labels = obj["metadata"].get("labels") or {}
        if name := labels.get(DEPLOYMENT_NAME_LABEL):
            controller.enqueue(Key(key_of(obj).namespace, name))

    def cluster_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or merge_diff((old or {}).get("spec") or {}, new.get("spec") or {}) == {}:
            return
        namespace, name = key_of(new)
        for obj in deployments.by_index("cluster", f"{namespace}/{name}"):
            controller.enqueue(key_of(obj))

    manager.store(Machine).on_change(machine_changed)
    manager.store(Cluster).on_change(cluster_changed)
