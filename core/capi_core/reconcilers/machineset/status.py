"""Counters and conditions of a MachineSet. Pure."""

from collections import Counter
from collections.abc import Sequence

from capi_core.api.machine import Machine
from capi_core.api.machineset import MachineSet
from capi_core.api.shared import StatusVersion
from capi_core.conditions import (
    Reasons,
    Source,
    Verdict,
    aggregate,
    get_condition,
    is_false,
    set_condition,
)
from capi_core.reconcilers.machineset.remediation import (
    HEALTH,
    OWNER_REMEDIATED,
    to_be_remediated,
)
from capi_core.reconcilers.machineset.selection import count_true, selector_text

_NAMES_SHOWN = 3


def set_machine_set_status(
    machine_set: MachineSet, machines: Sequence[Machine], problems: Sequence[str]
) -> None:
    """All of a MachineSet's status."""
    status = machine_set.status
    status.replicas = len(machines)
    status.ready_replicas = count_true(machines, "Ready")
    status.available_replicas = count_true(machines, "Available")
    status.up_to_date_replicas = count_true(machines, "UpToDate")
    status.selector = selector_text(machine_set.spec.selector) or None
    status.versions = versions_of(machines)
    for kind, verdict in (
        ("ScalingUp", scaling_up(machine_set, machines, problems)),
        ("ScalingDown", scaling_down(machine_set, machines)),
        ("MachinesReady", machines_condition(machines, "Ready")),
        ("MachinesUpToDate", machines_condition(machines, "UpToDate")),
        ("Remediating", remediating(machines)),
        ("Deleting", deleting(machine_set.deleting, len(machines))),
    ):
        set_condition(status.conditions, kind, verdict, generation=machine_set.metadata.generation)


def versions_of(machines: Sequence[Machine]) -> list[StatusVersion]:
    """How many Machines run which version, oldest version first."""
    counted = Counter(m.spec.version for m in machines if m.spec.version)
    return [StatusVersion(version=v, replicas=n) for v, n in sorted(counted.items())]


def machines_condition(machines: Sequence[Machine], kind: str) -> Verdict:
    """MachinesReady, MachinesUpToDate: aggregates over the Machines."""
    judged = [m for m in machines if kind == "Ready" or get_condition(m.status.conditions, kind)]
    if not judged:
        return Verdict("True", "NoReplicas")
    sources = [Source("Machine", m.name, m.status.conditions) for m in judged]
    return aggregate(sources, kind, reasons=Reasons(f"Not{kind}", f"{kind}Unknown", kind))


def scaling_up(
    machine_set: MachineSet, machines: Sequence[Machine], problems: Sequence[str]
) -> Verdict:
    """ScalingUp: what is missing, and what keeps it from being made."""
    wanted = machine_set.spec.replicas
    if wanted is None:
        return Verdict("Unknown", "WaitingForReplicasSet", "Waiting for spec.replicas set")
    if machine_set.deleting:
        wanted = 0
    if len(machines) >= wanted:
        message = "\n".join(f"* {p}" for p in problems)
        if message:
            message = f"Scaling up would be blocked because:\n{message}"
        return Verdict("False", "NotScalingUp", message)
    lines = [f"Scaling up from {len(machines)} to {wanted} replicas"]
    if problems:
        lines[0] += " is blocked because:"
    return Verdict("True", "ScalingUp", "\n".join([*lines, *(f"* {p}" for p in problems)]))


def scaling_down(machine_set: MachineSet, machines: Sequence[Machine]) -> Verdict:
    """ScalingDown: what is too many."""
    wanted = machine_set.spec.replicas
    if wanted is None:
        return Verdict("Unknown", "WaitingForReplicasSet", "Waiting for spec.replicas set")
    if machine_set.deleting:
        wanted = 0
    if len(machines) <= wanted:
        return Verdict("False", "NotScalingDown")
    message = f"Scaling down from {len(machines)} to {wanted} replicas"
    return Verdict("True", "ScalingDown", message)


def remediating(machines: Sequence[Machine]) -> Verdict:
    """Remediating: Machines that are being replaced because they are unhealthy."""
    affected = [m for m in machines if to_be_remediated(m)]
    if affected:
        sources = [Source("Machine", m.name, m.status.conditions) for m in affected]
        return Verdict("True", "Remediating", aggregate(sources, OWNER_REMEDIATED).message)
    return Verdict("False", "NotRemediating", _only_unhealthy(machines))


def _only_unhealthy(machines: Sequence[Machine]) -> str:
    names = sorted(m.name for m in machines if is_false(m.status.conditions, HEALTH))
    if not names:
        return ""
    told = ", ".join(names[:_NAMES_SHOWN])
    if len(names) > _NAMES_SHOWN:
        told += f", ... ({len(names) - _NAMES_SHOWN} more)"
    noun, verb = ("Machine", "is") if len(names) == 1 else ("Machines", "are")
    return f"{noun} {told} {verb} not healthy (not to be remediated by MachineSet)"


def deleting(is_deleting: bool, machines: int) -> Verdict:
    """Deleting: how many Machines are left."""
    if not is_deleting:
        return Verdict("False", "NotDeleting")
    if not machines:
        return Verdict("True", "Deleting", "Deletion completed")
    noun = "Machine" if machines == 1 else "Machines"
    return Verdict("True", "Deleting", f"Deleting {machines} {noun}")
