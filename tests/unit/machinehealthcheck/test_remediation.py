"""Which Machines a MachineSet replaces first, and what the others wait for."""

from typing import Any

import pytest

from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.reconcilers.machineset.remediation import (
    blocked,
    has_recovered,
    plan_remediation,
    remediation_facts,
)
from capi_core.reconcilers.machineset.status import remediating
from tests.unit.status.build import condition

REVISION = "machinedeployment.clusters.x-k8s.io/revision"
REMEDIATE = "cluster.x-k8s.io/remediate-machine"
ASKED = {"HealthCheckSucceeded": "False", "OwnerRemediated": "False"}


def machine(name: str, day: int = 1, asked: dict[str, str] = ASKED, **meta: Any) -> Machine:
    """A Machine whose replacement is asked for."""
    reason = "MachineDeleting" if "deletionTimestamp" in meta else "R"
    found = [condition(kind, status, reason, "told") for kind, status in asked.items()]
    created = f"2026-01-{day:02}T00:00:00Z"
    return Machine.parse(
        {
            "metadata": {"name": name, "creationTimestamp": created, **meta},
            "status": {"conditions": found},
        }
    )


def machine_set(revision: str = "2") -> MachineSet:
    """A MachineSet of that revision."""
    return MachineSet.parse({"metadata": {"annotations": {REVISION: revision}}})


def deployment(limit: int | str | None, replicas: int | None = 4) -> MachineDeployment:
    """A MachineDeployment of revision 2."""
    spec: dict[str, Any] = {"replicas": replicas, "remediation": {"maxInFlight": limit}}
    return MachineDeployment.parse(
        {"metadata": {"annotations": {REVISION: "2"}}, "spec": spec}
    )


def names(machines: list[Machine]) -> list[str]:
    """Their names."""
    return [m.name for m in machines]


def test_only_those_asked_for() -> None:
    others = [
        machine("healthy", asked={"HealthCheckSucceeded": "True"}),
        machine("held-back", asked={"HealthCheckSucceeded": "False"}),
        machine("done", asked={**ASKED, "OwnerRemediated": "True"}),
        machine("going", deletionTimestamp="2026-01-09T00:00:00Z"),
    ]
    plan = plan_remediation([*others, machine("a")], machine_set(), None)
    assert (names(plan.now), plan.later) == (["a"], [])
    assert plan_remediation(others, machine_set(), deployment(0)).now == []


def test_an_old_revision_is_left_to_the_rollout() -> None:
    plan = plan_remediation([machine("a")], machine_set("1"), deployment(None))
    assert (plan.now, names(plan.later)) == ([], ["a"])
    assert plan.excuse.reason == "CannotBeRemediated"


@pytest.mark.parametrize(
    ("limit", "replicas", "now"),
    [
        (None, 4, 3), (1, 4, 1), (0, 4, 0), (9, 4, 3), ("25%", 4, 1), ("26%", 4, 2),
        ("100%", None, 1),
    ],
)
def test_only_so_many_at_a_time(limit: int | str | None, replicas: int | None, now: int) -> None:
    found = [machine(name) for name in "abc"]
    plan = plan_remediation(found, machine_set(), deployment(limit, replicas))
    assert (len(plan.now), len(plan.later)) == (now, 3 - now)
    if plan.later:
        assert plan.excuse.reason == "RemediationDeferred"
        assert f"maxInFlight is {limit}" in plan.excuse.message


def test_those_under_way_count() -> None:
    going = machine("z", deletionTimestamp="2026-01-09T00:00:00Z")
    plan = plan_remediation([machine("a"), machine("b"), going], machine_set(), deployment(2))
    assert (names(plan.now), names(plan.later)) == (["a"], ["b"])
    plan = plan_remediation([machine("a"), going], machine_set(), deployment(0))
    assert (plan.now, names(plan.later)) == ([], ["a"])


def test_the_marked_first_then_the_newest() -> None:
    found = [
        machine("old", 1), machine("new-b", 5), machine("new-a", 5),
        machine("marked", 1, annotations={REMEDIATE: ""}),
    ]
    plan = plan_remediation(found, machine_set(), deployment(2))
    assert (names(plan.now), names(plan.later)) == (["marked", "new-a"], ["new-b", "old"])


def test_recovered() -> None:
    well = {"HealthCheckSucceeded": "True", "OwnerRemediated": "False"}
    assert has_recovered(machine("a", asked=well))
    assert not has_recovered(machine("a"))
    assert not has_recovered(machine("a", asked=well, deletionTimestamp="2026-01-09T00:00:00Z"))


def test_preflight_is_told() -> None:
    assert blocked(["one", "two"]).message == "* one\n* two"


def test_remediating_tells_who_and_who_not() -> None:
    assert remediating([machine("a")]).message == "* Machine a: told"
    unhealthy = {"HealthCheckSucceeded": "False"}
    held = [machine(name, asked=unhealthy) for name in "dbca"]
    told = remediating(held)
    assert (told.status, told.reason) == ("False", "NotRemediating")
    assert told.message == (
        "Machines a, b, c, ... (1 more) are not healthy (not to be remediated by MachineSet)"
    )
    assert remediating(held[:1]).message.startswith("Machine d is not healthy")
    assert remediating([]).message == ""


def test_facts_of_a_deployment() -> None:
    one, other = deployment(1).dump(), deployment(2).dump()
    assert remediation_facts(one) != remediation_facts(other)
    assert remediation_facts(one) == remediation_facts({**one, "status": {"replicas": 1}})
    assert remediation_facts(None) is None
