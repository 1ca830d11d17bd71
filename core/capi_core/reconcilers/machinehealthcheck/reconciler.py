"""Reconciles MachineHealthChecks: judge the Machines, keep to the limits, ask for remediation.

Of a Machine only the conditions HealthCheckSucceeded, OwnerRemediated and ExternallyRemediated are
written; its owner, or an external remediator, does what OwnerRemediated or the request asks for.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.machine import Machine
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict, get_condition, is_false, is_true, set_condition
from capi_core.contract.owners import set_owner
from capi_core.contract.reconciler import ObjectReconciler, Phase, Scope
from capi_core.contract.remote import ClusterCache
from capi_core.contract.selectors import matches
from capi_core.reconcilers.machinehealthcheck.check import (
    HEALTHY,
    Judgement,
    Target,
    is_skipped,
    judge,
)
from capi_core.reconcilers.machinehealthcheck.external import (
    REMEDIATED,
    ExternalRemediation,
    NotRequested,
    Requests,
)
from capi_core.reconcilers.machinehealthcheck.limits import Allowance, allowance
from capi_core.reconcilers.machinehealthcheck.watches import watch
from capi_core.runtime.controller import Controller
from capi_core.runtime.errors import CapiError, Conflict, NotFound, NotReady
from capi_core.runtime.manager import Manager
from capi_core.runtime.patch import write_known
from capi_core.runtime.store import Key

OWNER_REMEDIATED = "OwnerRemediated"
_CONNECTION_SECONDS = 30.0


class ClusterMissing(CapiError):
    """The Cluster that a health check names does not exist."""


@dataclass
class HealthCheckScope(Scope[MachineHealthCheck]):
    """One pass over a MachineHealthCheck.

    Attributes:
        targets: the Machines that it chooses, with what was found.
        allowance: what the limits say; None before the Machines have been judged.
    """

    targets: list[tuple[Target, Judgement]] = field(default_factory=list)
    allowance: Allowance | None = None

    @property
    def healthy(self) -> int:
        """How many Machines nothing counts against."""
        return sum(found.healthy for _, found in self.targets)

    @property
    def unhealthy(self) -> int:
        """How many Machines should be replaced."""
        return sum(found.unhealthy for _, found in self.targets)

    @property
    def external(self) -> bool:
        """Whether somebody else remediates."""
        return bool(self.obj.spec.remediation.template_ref.name)


class MachineHealthCheckReconciler(ObjectReconciler[MachineHealthCheck, HealthCheckScope]):
    """Tells which Machines are unhealthy, and asks for their remediation within limits."""

    kind = MachineHealthCheck
    sequential = True

    def __init__(self, manager: Manager, remote: ClusterCache) -> None:
        super().__init__(manager)
        self._remote = remote
        self._machines = manager.store(Machine)
        self._external = ExternalRemediation(manager.client)

    def new_scope(
        self, obj: MachineHealthCheck, cluster: Cluster | None, before: JsonObject
    ) -> HealthCheckScope:
        return HealthCheckScope(obj, cluster, before)

    def ignores(self, obj: MachineHealthCheck, cluster: Cluster | None) -> bool:
        """What goes, and what belongs to a cluster that goes, needs no repair."""
        return obj.deleting or (cluster is not None and cluster.deleting)

    def phases(self, scope: HealthCheckScope) -> Sequence[Phase[HealthCheckScope]]:
        return [self.owner_and_labels, self.judge, self.tell]

    async def owner_and_labels(self, scope: HealthCheckScope) -> None:
        """The Cluster owns its health checks."""
        check = scope.obj
        if scope.cluster is None:
            raise ClusterMissing(f"Cluster {check.spec.cluster_name} does not exist")
        check.metadata.labels[CLUSTER_NAME_LABEL] = check.spec.cluster_name
        set_owner(check.metadata, scope.cluster)

    async def judge(self, scope: HealthCheckScope) -> None:
        """Which Machines are unhealthy, and whether they may be replaced."""
        check, cluster = scope.obj, scope.cluster
        assert cluster is not None
        at = datetime.now(UTC)
        targets = [
            (target, judge(target, cluster, check.spec.checks, at))
            for target in self._targets(check, cluster)
        ]
        scope.targets = sorted(targets, key=lambda pair: pair[0].machine.name)
        for _, found in targets:
            if found.seconds is not None:
                scope.requeue_after(found.seconds)
        scope.allowance = allowance(
            check.spec.remediation.trigger_if,
            expected=len(targets),
            healthy=scope.healthy,
            unhealthy=scope.unhealthy,
        )

    def _targets(self, check: MachineHealthCheck, cluster: Cluster) -> list[Target]:
        nodes = None
        if is_true(cluster.status.conditions, "ControlPlaneInitialized"):
            remote = self._remote.get(Key(cluster.namespace, cluster.name))
            if remote is None:
                # Nobody is judged by Nodes that cannot be seen; the connection brings a pass.
                raise NotReady(
                    f"Cluster {cluster.name} is not connected", requeue_after=_CONNECTION_SECONDS
                )
            nodes = remote.nodes
        targets: list[Target] = []
        for raw in self._machines.by_index("cluster", f"{check.namespace}/{cluster.name}"):
            labels = raw["metadata"].get("labels") or {}
            if not matches(check.spec.selector, labels):
                continue
            machine = Machine.parse(raw)
            if is_skipped(machine):
                continue
            name = machine.status.node_ref.name if machine.status.node_ref else ""
            if nodes is None or not name:
                targets.append(Target(machine))
                continue
            node = nodes.get(Key("", name))
            targets.append(Target(machine, node, node_gone=node is None))
        return targets

    async def tell(self, scope: HealthCheckScope) -> None:
        """Write the verdicts to the Machines, and ask for what the limits allow."""
        assert scope.allowance is not None
        requests: Requests = {}
        if scope.external and scope.allowance.allowed:
            requests = await self._external.requests(scope.obj)
        judged = [(t.machine, found.verdict) for t, found in scope.targets if found.verdict]
        outcomes = await asyncio.gather(
            *(self._tell_one(scope, machine, verdict, requests) for machine, verdict in judged),
            return_exceptions=True,
        )
        failed = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        serious = [error for error in failed if not isinstance(error, Conflict)]
        if len(serious) == 1 or (failed and not serious):
            raise (serious or failed)[0]
        if serious:
            raise ExceptionGroup("several Machines could not be remediated", serious)

    async def _tell_one(
        self, scope: HealthCheckScope, machine: Machine, verdict: Verdict, requests: Requests
    ) -> None:
        wanted, failure = {HEALTHY: verdict}, None
        if scope.allowance is not None and scope.allowance.allowed:
            try:
                wanted |= await self._remediation(scope, machine, verdict, requests)
            except NotRequested as error:
                wanted[REMEDIATED], failure = error.verdict, error
        newly = verdict.status == "False" and not is_false(machine.status.conditions, HEALTHY)
        await self._write_conditions(machine, wanted)
        if newly:
            self.manager.recorder.normal(
                machine,
                "MachineMarkedUnhealthy",
                f"Machine {machine.namespace}/{machine.name} has been marked as unhealthy by "
                f"{scope.obj.namespace}/{scope.obj.name}",
            )
        if failure is not None:
            raise failure

    async def _remediation(
        self, scope: HealthCheckScope, machine: Machine, verdict: Verdict, requests: Requests
    ) -> dict[str, Verdict]:
        """What a verdict leads to while remediation is allowed."""
        if verdict.status == "True":
            if request := requests.get(machine.name):
                await self._external.withdraw(scope.obj, request)
            return {}
        if machine.deleting:
            return {}
        if scope.external:
            if machine.name in requests:
                return {}
            return {REMEDIATED: await self._external.ask(scope.obj, machine)}
        # One under way is its owner's; the health check only begins it.
        known = get_condition(machine.status.conditions, OWNER_REMEDIATED)
        if known is not None and known.status != "True":
            return {}
        waiting = Verdict("False", "WaitingForRemediation", "Waiting for remediation")
        return {OWNER_REMEDIATED: waiting}

    async def _write_conditions(self, machine: Machine, wanted: dict[str, Verdict]) -> None:
        conditions, generation = machine.status.conditions, machine.metadata.generation
        changed = {
            kind: verdict
            for kind, verdict in wanted.items()
            if (known := get_condition(conditions, kind)) is None
            or Verdict(known.status, known.reason, known.message) != verdict
        }
        if not changed:
            return
        before = machine.dump()
        for kind, verdict in changed.items():
            set_condition(conditions, kind, verdict, generation=generation)
        # A Machine that is gone meanwhile needs no verdict.
        with contextlib.suppress(NotFound):
            await write_known(self.client, self._machines, before, machine)

    def set_status(self, scope: HealthCheckScope) -> None:
        found = scope.allowance
        if found is None:
            return
        status, verdict = scope.obj.status, found.verdict
        status.targets = [target.machine.name for target, _ in scope.targets]
        status.expected_machines = len(scope.targets)
        status.current_healthy = scope.healthy
        status.remediations_allowed = found.more
        known = get_condition(scope.conditions, "RemediationAllowed")
        news = known is None or known.message != verdict.message
        if not found.allowed and scope.unhealthy and news:
            self.manager.recorder.warning(scope.obj, "RemediationRestricted", verdict.message)
        scope.set("RemediationAllowed", verdict)


def register(manager: Manager, remote: ClusterCache) -> None:
    """Run the MachineHealthCheck controller in ``manager``."""
    controller = Controller("machinehealthcheck", MachineHealthCheckReconciler(manager, remote))
    manager.add_controller(controller, MachineHealthCheck)
    watch(manager, controller, remote)
