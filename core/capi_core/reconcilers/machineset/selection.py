"""Which Machines a MachineSet has, and which it gives up first. Pure."""

import math
import random
from collections.abc import Sequence

from capi_core.api.machine import Machine
from capi_core.api.shared import LabelSelector
from capi_core.conditions import age_seconds, is_false, is_true

DELETE_ANNOTATION = "cluster.x-k8s.io/delete-machine"
_TEN_DAYS = 10 * 24 * 3600.0
_MUST, _MARKED, _UNHEALTHY, _COULD = 100.0, 80.0, 50.0, 20.0


def selector_text(selector: LabelSelector) -> str:
    """The selector as ``status.selector`` and label selectors spell it."""
    parts = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    for rule in selector.match_expressions:
        values = f"({','.join(sorted(rule.values))})"
        parts.append(
            {
                "In": f"{rule.key} in {values}",
                "NotIn": f"{rule.key} notin {values}",
                "Exists": rule.key,
                "DoesNotExist": f"!{rule.key}",
            }.get(rule.operator, "")
        )
    return ",".join(parts)


def is_unhealthy(machine: Machine) -> bool:
    """Whether a Machine is a better loss than a working one."""
    found = machine.status.conditions
    no_node = not (machine.status.node_ref and machine.status.node_ref.name)
    return no_node or is_false(found, "NodeHealthy") or is_false(found, "HealthCheckSucceeded")


def deletion_priority(machine: Machine, order: str) -> float:
    """How readily a Machine is given up; higher goes first."""
    if machine.deleting:
        return _MUST
    if DELETE_ANNOTATION in machine.metadata.annotations:
        return _MARKED
    if is_unhealthy(machine):
        return _UNHEALTHY
    if order in ("Oldest", "Newest"):
        oldest = _UNHEALTHY * (
            1 - math.exp(-age_seconds(machine.metadata.creation_timestamp) / _TEN_DAYS)
        )
        return oldest if order == "Oldest" else _UNHEALTHY - oldest
    return _COULD


def machines_to_delete(machines: Sequence[Machine], count: int, order: str) -> list[Machine]:
    """The ``count`` Machines that go first."""
    candidates = list(machines)
    if order not in ("Oldest", "Newest"):
        random.shuffle(candidates)
    candidates.sort(key=lambda m: -deletion_priority(m, order))
    return candidates[:count]


def count_true(machines: Sequence[Machine], kind: str) -> int:
    """How many Machines have the condition ``kind`` True."""
    return sum(is_true(m.status.conditions, kind) for m in machines)
