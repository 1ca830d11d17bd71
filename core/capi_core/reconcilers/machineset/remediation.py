"""Which unhealthy Machines of a MachineSet are replaced now, and what the others wait for. Pure.

A health check asks for a replacement with HealthCheckSucceeded and OwnerRemediated both False. The
MachineSet answers in OwnerRemediated's reason. The order is upstream's: Machines marked by hand,
then the newest, which most likely carry no load yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from capi_core.api.labels import REMEDIATE_ANNOTATION
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict, get_condition, is_false, is_true
from capi_core.reconcilers.machinedeployment.rollout import resolve
from capi_core.reconcilers.machinedeployment.sets import REVISION

HEALTH, OWNER_REMEDIATED = "HealthCheckSucceeded", "OwnerRemediated"
DELETING = Verdict("False", "MachineDeleting", "Machine is deleting")
_OUTDATED = Verdict(
    "False",
    "CannotBeRemediated",
    "Machine won't be remediated because it is pending removal due to rollout",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens to the Machines to be remediated.

    Attributes:
        now: deleted in this pass.
        later: those that wait, all for the same.
        excuse: what ``later`` wait for.
    """

    now: list[Machine] = field(default_factory=list)
    later: list[Machine] = field(default_factory=list)
    excuse: Verdict = _OUTDATED


def to_be_remediated(machine: Machine) -> bool:
    """Whether a health check has asked the owner to replace a Machine."""
    found = machine.status.conditions
    return is_false(found, HEALTH) and is_false(found, OWNER_REMEDIATED)


def has_recovered(machine: Machine) -> bool:
    """Whether a Machine got healthy before it was replaced."""
    found = machine.status.conditions
    return not machine.deleting and is_true(found, HEALTH) and is_false(found, OWNER_REMEDIATED)


def plan_remediation(
    machines: Sequence[Machine], machine_set: MachineSet, deployment: MachineDeployment | None
) -> Plan:
    """Split the Machines to be remediated by what their MachineDeployment allows.

    Args:
        deployment: the MachineSet's owner, None for one that stands alone.
    """
    wanted = [m for m in machines if to_be_remediated(m) and not m.deleting]
    if deployment is None or not wanted:
        return Plan(now=wanted)
    notes, current = machine_set.metadata.annotations, deployment.metadata.annotations
    if notes.get(REVISION) != current.get(REVISION):
        return Plan(later=wanted)
    limit = deployment.spec.remediation.max_in_flight
    if limit is None:
        return Plan(now=wanted)
    replicas = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    free = max(resolve(limit, replicas, round_up=True) - sum(map(_in_flight, machines)), 0)
    wanted = _by_urgency(wanted)
    message = (
        "Waiting because there are already too many remediations in progress "
        f"(spec.remediation.maxInFlight is {limit})"
    )
    return Plan(wanted[:free], wanted[free:], Verdict("False", "RemediationDeferred", message))


def blocked(problems: Sequence[str]) -> Verdict:
    """OwnerRemediated while no Machine could be made in place of the one that goes."""
    lines = "\n".join(f"* {problem}" for problem in problems)
    return Verdict("False", "RemediationDeferred", lines)


def _in_flight(machine: Machine) -> bool:
    condition = get_condition(machine.status.conditions, OWNER_REMEDIATED)
    return machine.deleting and condition is not None and condition.reason == DELETING.reason


def _by_urgency(machines: Sequence[Machine]) -> list[Machine]:
    by_name = sorted(machines, key=lambda m: m.name)
    newest = sorted(by_name, key=lambda m: m.metadata.creation_timestamp or "", reverse=True)
    return sorted(newest, key=lambda m: REMEDIATE_ANNOTATION not in m.metadata.annotations)


def remediation_facts(deployment: JsonObject | None) -> object:
    """What of a MachineDeployment limits the remediation of its Machines."""
    if deployment is None:
        return None
    spec, meta = deployment.get("spec") or {}, deployment["metadata"]
    revision = (meta.get("annotations") or {}).get(REVISION)
    return (spec.get("remediation"), spec.get("replicas"), revision)
