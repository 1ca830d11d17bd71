"""Counters, conditions and phase of a MachineDeployment. Pure."""

from collections.abc import Sequence

from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.conditions import Verdict, get_condition, is_false, set_condition
from capi_core.reconcilers.machinedeployment.rollout import fenceposts
from capi_core.reconcilers.machineset.selection import selector_text
from capi_core.reconcilers.machineset.status import (
    deleting,
    machines_condition,
    remediating,
    versions_of,
)


def limits(deployment: MachineDeployment) -> tuple[int, int]:
    """maxSurge and maxUnavailable as numbers."""
    rolling = deployment.spec.rollout.strategy.rolling_update
    surge = 1 if rolling.max_surge is None else rolling.max_surge
    unavailable = 0 if rolling.max_unavailable is None else rolling.max_unavailable
    return fenceposts(surge, unavailable, deployment.spec.replicas or 0)


def set_deployment_status(
    deployment: MachineDeployment,
    sets: Sequence[MachineSet],
    machines: Sequence[Machine],
    problems: Sequence[str] = (),
) -> None:
    """All of a MachineDeployment's status."""
    status = deployment.status
    status.replicas = sum(s.status.replicas or 0 for s in sets)
    status.ready_replicas = sum(s.status.ready_replicas or 0 for s in sets)
    status.available_replicas = sum(s.status.available_replicas or 0 for s in sets)
    status.up_to_date_replicas = sum(s.status.up_to_date_replicas or 0 for s in sets)
    status.selector = selector_text(deployment.spec.selector) or None
    status.versions = versions_of(machines)
    for kind, verdict in (
        ("Available", available(deployment)),
        ("MachinesReady", machines_condition(machines, "Ready")),
        ("MachinesUpToDate", machines_condition(machines, "UpToDate")),
        ("RollingOut", rolling_out(machines)),
        ("ScalingUp", scaling_up(deployment, sets, problems)),
        ("ScalingDown", scaling_down(deployment)),
        ("Remediating", remediating(machines)),
        ("Deleting", deleting(deployment.deleting, len(machines))),
    ):
        set_condition(status.conditions, kind, verdict, generation=deployment.metadata.generation)
    status.phase = phase(deployment)


def available(deployment: MachineDeployment) -> Verdict:
    """Available: enough replicas are available."""
    wanted = deployment.spec.replicas
    if wanted is None:
        return Verdict("Unknown", "WaitingForReplicasSet", "Waiting for spec.replicas set")
    have = deployment.status.available_replicas or 0
    needed = max(wanted - limits(deployment)[1], 0)
    if have >= needed:
        return Verdict("True", "Available")
    message = f"{have} available replicas, at least {needed} required"
    rolling = deployment.spec.rollout.strategy
    if rolling.type == "RollingUpdate":
        message += f" (spec.strategy.rollout.maxUnavailable is {limits(deployment)[1]}, "
        message += f"spec.replicas is {wanted})"
    return Verdict("False", "NotAvailable", message)


def rolling_out(machines: Sequence[Machine]) -> Verdict:
    """RollingOut: how many Machines are not up to date, and why."""
    old = [m for m in machines if is_false(m.status.conditions, "UpToDate")]
    if not old:
        return Verdict("False", "NotRollingOut")
    lines: set[str] = set()
    for machine in old:
        condition = get_condition(machine.status.conditions, "UpToDate")
        lines.update(condition.message.split("\n") if condition else [])
    ordered = sorted(filter(None, lines), key=lambda x: (not x.startswith("* Version"), x))
    head = f"Rolling out {len(old)} not up-to-date replicas"
    return Verdict("True", "RollingOut", "\n".join([head, *ordered]))


def scaling_up(
    deployment: MachineDeployment, sets: Sequence[MachineSet], problems: Sequence[str] = ()
) -> Verdict:
    """ScalingUp: what is missing, and what keeps it from being made."""
    wanted = 0 if deployment.deleting else deployment.spec.replicas
    if wanted is None:
        return Verdict("Unknown", "WaitingForReplicasSet", "Waiting for spec.replicas set")
    have = deployment.status.replicas or 0
    if have >= wanted:
        return Verdict("False", "NotScalingUp")
    blocked = " is blocked because:"
    lines = [f"Scaling up from {have} to {wanted} replicas{blocked if problems else ''}"]
    lines += [f"* {problem}" for problem in problems]
    for machine_set in sets:
        condition = get_condition(machine_set.status.conditions, "ScalingUp")
        if condition and "blocked because" in condition.message:
            lines[0] = lines[0].removesuffix(blocked) + blocked
            lines += condition.message.split("\n")[1:]
    return Verdict("True", "ScalingUp", "\n".join(dict.fromkeys(lines)))


def scaling_down(deployment: MachineDeployment) -> Verdict:
    """ScalingDown: what is too many."""
    wanted = 0 if deployment.deleting else deployment.spec.replicas
    if wanted is None:
        return Verdict("Unknown", "WaitingForReplicasSet", "Waiting for spec.replicas set")
    have = deployment.status.replicas or 0
    if have <= wanted:
        return Verdict("False", "NotScalingDown")
    return Verdict("True", "ScalingDown", f"Scaling down from {have} to {wanted} replicas")


def phase(deployment: MachineDeployment) -> str:
    """Unknown, Running, ScalingUp or ScalingDown."""
    status, wanted = deployment.status, deployment.spec.replicas
    if wanted is None:
        return "Unknown"
    if (status.replicas or 0) > wanted:
        return "ScalingDown"
    if (status.replicas or 0) < wanted or (status.ready_replicas or 0) < wanted:
        return "ScalingUp"
    return "Running"
