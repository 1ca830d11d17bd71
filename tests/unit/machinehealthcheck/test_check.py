"""Which Machines are unhealthy, and when that changes by itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capi_core.api.cluster import Cluster
from capi_core.api.healthcheck import HealthChecks
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.reconcilers.machinehealthcheck.check import (
    Judgement,
    Target,
    duration,
    is_skipped,
    judge,
)
from capi_core.reconcilers.machinehealthcheck.watches import machine_facts, node_facts

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
REMEDIATE = "cluster.x-k8s.io/remediate-machine"
NOT_READY: JsonObject = {"type": "Ready", "status": "False", "timeoutSeconds": 300}
UNFIT: JsonObject = {"type": "Fit", "status": "Unknown", "timeoutSeconds": 60}


def ago(seconds: float) -> str:
    """The time some seconds before now."""
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind: str, status: str, seconds: float, reason: str = "R") -> JsonObject:
    """A condition that has its status for some seconds."""
    return {
        "type": kind, "status": status, "reason": reason, "message": "",
        "lastTransitionTime": ago(seconds),
    }


def cluster(initialized: float | None = 3000, infrastructure: float | None = 4000) -> Cluster:
    """A Cluster whose parts are there for some seconds, None for not yet."""
    found = [
        condition(kind, "False" if since is None else "True", since or 0)
        for kind, since in (
            ("ControlPlaneInitialized", initialized), ("InfrastructureReady", infrastructure)
        )
    ]
    return Cluster.parse({"metadata": {"name": "c"}, "status": {"conditions": found}})


def machine(
    *conditions: JsonObject, created: float = 1000, node: str = "n", **meta: Any
) -> Machine:
    """A Machine of that age."""
    status: JsonObject = {"conditions": list(conditions)}
    if node:
        status["nodeRef"] = {"name": node}
    return Machine.parse(
        {"metadata": {"name": "m", "creationTimestamp": ago(created), **meta}, "status": status}
    )


def node(*conditions: JsonObject) -> JsonObject:
    """A Node with conditions."""
    return {"metadata": {"name": "n"}, "status": {"conditions": list(conditions)}}


def checks(**spec: Any) -> HealthChecks:
    """What counts as unhealthy."""
    conditions = {"unhealthyNodeConditions": [NOT_READY], "unhealthyMachineConditions": [UNFIT]}
    return HealthChecks.model_validate({**conditions, **spec})


def judged(target: Target, of: Cluster | None = None, **spec: Any) -> Judgement:
    """The judgement now."""
    return judge(target, of or cluster(), checks(**spec), NOW)


def failure(found: Judgement) -> tuple[str, str]:
    """Reason and message of an unhealthy Machine."""
    assert found.verdict is not None
    assert found.unhealthy
    return found.verdict.reason, found.verdict.message


def test_a_machine_with_a_good_node_is_healthy() -> None:
    found = judged(Target(machine(), node(condition("Ready", "True", 9))))
    assert found.healthy
    assert not found.unhealthy
    assert found.seconds is None


def test_a_bad_condition_counts_when_it_has_lasted() -> None:
    bad = Target(machine(), node(condition("Ready", "False", 301, "KubeletNotReady")))
    assert failure(judged(bad)) == (
        "UnhealthyNode",
        "Health check failed:\n  * Condition Ready on Node is reporting status False with reason "
        "KubeletNotReady for more than 5m0s",
    )
    early = judged(Target(machine(), node(condition("Ready", "False", 299))))
    assert early.verdict is None
    assert early.seconds == pytest.approx(1, abs=0.1)
    other = judged(Target(machine(), node(condition("Ready", "Unknown", 999))))
    assert other.healthy


def test_a_condition_without_a_time_is_old() -> None:
    timeless = {"type": "Ready", "status": "False"}
    assert judged(Target(machine(), node(timeless))).unhealthy


def test_conditions_of_the_machine_come_first() -> None:
    both = Target(machine(condition("Fit", "Unknown", 61)), node(condition("Ready", "False", 999)))
    reason, message = failure(judged(both))
    assert reason == "UnhealthyMachine"
    assert [line[:20] for line in message.split("\n")[1:]] == [
        "  * Condition Fit on", "  * Condition Ready ",
    ]
    waiting = Target(machine(condition("Fit", "Unknown", 30)), node())
    assert judged(waiting).seconds == pytest.approx(30, abs=0.1)


def test_the_nearest_timeout_is_the_next_look() -> None:
    bad = Target(machine(condition("Fit", "Unknown", 50)), node(condition("Ready", "False", 297)))
    assert judged(bad).seconds == pytest.approx(3, abs=0.1)


def test_a_node_that_went() -> None:
    gone = Target(machine(node="n1"), node_gone=True)
    told = "Health check failed:\n  * Node n1 has been deleted"
    assert failure(judged(gone)) == ("NodeDeleted", told)


@pytest.mark.parametrize(
    ("created", "initialized", "infrastructure", "ready", "left"),
    [
        (100, 3000, 4000, None, 500),
        (3500, 200, 4000, None, 400),
        (3500, 3000, 50, None, 550),
        (3500, 3000, 4000, 20, 580),
        (3500, 3000, 4000, None, None),
    ],
)
def test_startup_begins_when_all_is_there(
    created: float, initialized: float, infrastructure: float, ready: float | None,
    left: float | None,
) -> None:
    told = [] if ready is None else [condition("InfrastructureReady", "True", ready)]
    waiting = Target(machine(*told, created=created, node=""))
    found = judged(waiting, cluster(initialized, infrastructure))
    if left is None:
        assert failure(found) == (
            "NodeStartupTimeout",
            "Health check failed:\n  * Node failed to report startup in 10m0s",
        )
    else:
        assert found.verdict is None
        assert found.seconds == pytest.approx(left, abs=0.1)


def test_startup_timeout() -> None:
    waiting = Target(machine(node="", created=100))
    assert judged(waiting, nodeStartupTimeoutSeconds=99).unhealthy
    assert judged(waiting, nodeStartupTimeoutSeconds=101).seconds == pytest.approx(1, abs=0.1)
    assert judged(waiting, nodeStartupTimeoutSeconds=0) == Judgement()


def test_nobody_is_judged_before_the_cluster_is_there() -> None:
    bad = node(condition("Ready", "False", 999))
    control_plane = {"labels": {"cluster.x-k8s.io/control-plane": ""}}
    assert judged(Target(machine(), bad), cluster(infrastructure=None)).healthy
    assert judged(Target(machine(), bad), cluster(initialized=None)).healthy
    assert judged(Target(machine(node="")), cluster(initialized=None)) == Judgement()
    leader = machine(node="", created=9999, **control_plane)
    assert judged(Target(leader), cluster(initialized=None)).unhealthy
    assert judged(Target(leader), cluster(infrastructure=None)) == Judgement()


def test_a_request_by_hand_needs_nothing_else() -> None:
    marked = machine(annotations={REMEDIATE: ""})
    found = judged(Target(marked, node(condition("Ready", "True", 9))), cluster(None, None))
    reason, message = failure(found)
    assert reason == "HasRemediateAnnotation"
    assert message == f"Health check failed: marked for remediation via {REMEDIATE} annotation"


def test_a_machine_that_goes_is_never_healthy() -> None:
    going = machine(deletionTimestamp=ago(1))
    assert judged(Target(going, node())) == Judgement()


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("cluster.x-k8s.io/paused", True),
        ("cluster.x-k8s.io/skip-remediation", True),
        (REMEDIATE, False),
    ],
)
def test_skipped(note: str, expected: bool) -> None:
    assert is_skipped(machine(annotations={note: ""})) is expected


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (45, "45s"), (60, "1m0s"), (600, "10m0s"), (3600, "1h0m0s"), (3725, "1h2m5s")],
)
def test_durations(seconds: int, text: str) -> None:
    assert duration(seconds) == text


@given(timeout=st.integers(0, 10_000), age=st.integers(0, 20_000))
def test_looking_again_when_told_finds_the_truth(timeout: int, age: int) -> None:
    check = {"unhealthyNodeConditions": [{**NOT_READY, "timeoutSeconds": timeout}]}
    bad = Target(machine(), node(condition("Ready", "False", age)))
    found = judged(bad, **check)
    assert found.unhealthy is (age > timeout)
    if found.seconds is not None:
        # Not a moment too early for the timer, and not a second late.
        again = NOW + timedelta(seconds=found.seconds)
        assert judge(bad, cluster(), checks(**check), again).unhealthy
        assert found.seconds - (timeout - age) < 0.1


def test_a_heartbeat_is_no_change() -> None:
    one, other = condition("Ready", "True", 9), condition("Ready", "True", 9)
    other["lastHeartbeatTime"] = ago(0)
    assert node_facts(node(one)) == node_facts(node(other))
    assert node_facts(node(one)) != node_facts(node(condition("Ready", "False", 0)))


def test_what_a_health_check_brings_about_does_not_wake_it() -> None:
    def facts(*conditions: JsonObject) -> object:
        return machine_facts(machine(*conditions).dump())

    for kind in ("Ready", "Available", "HealthCheckSucceeded", "ExternallyRemediated"):
        assert facts(condition(kind, "True", 9)) == facts(condition(kind, "False", 0))
    under_way, done = (condition("OwnerRemediated", status, 9) for status in ("False", "True"))
    assert facts() == facts(under_way) != facts(done)
    assert facts(condition("Fit", "True", 9)) != facts(condition("Fit", "False", 9))
    assert machine_facts(None) is None
