"""How the Pods of a Node are treated when it is drained, and in which order."""

from typing import Any

import pytest

from capi_core.api.cluster import Cluster
from capi_core.api.machine import Machine
from capi_core.api.machinedrainrule import MachineDrainRule
from capi_core.api.meta import JsonObject
from capi_core.reconcilers.machine.drain import DrainResult, Treatment, treatment
from capi_core.reconcilers.machine.drainrules import DrainRules, rules_for

MACHINE = Machine.parse({"metadata": {"name": "m", "labels": {"pool": "a"}}})
CLUSTER = Cluster.parse({"metadata": {"name": "c", "labels": {"stage": "test"}}})


def rule(name: str, behavior: str, order: int | None = None, **spec: Any) -> MachineDrainRule:
    """A rule."""
    drain: JsonObject = {"behavior": behavior}
    if order is not None:
        drain["order"] = order
    return MachineDrainRule.parse(
        {"metadata": {"name": name, "namespace": "n"}, "spec": {"drain": drain, **spec}}
    )


def pod(labels: dict[str, str] | None = None, phase: str = "Running", **meta: Any) -> JsonObject:
    """A Pod in namespace default."""
    return {
        "metadata": {"name": "p", "namespace": "default", "labels": labels or {}, **meta},
        "status": {"phase": phase},
    }


def labelled(key: str, value: str) -> JsonObject:
    """A selector."""
    return {"matchLabels": {key: value}}


@pytest.mark.parametrize(
    ("machines", "chosen"),
    [
        ([], True),
        ([{"selector": labelled("pool", "a")}], True),
        ([{"selector": labelled("pool", "b")}], False),
        ([{"clusterSelector": labelled("stage", "test")}], True),
        ([{"selector": labelled("pool", "a"), "clusterSelector": labelled("stage", "x")}], False),
        ([{"selector": labelled("pool", "b")}, {"selector": labelled("pool", "a")}], True),
        ([{"selector": {}}], True),
    ],
)
def test_rules_choose_machines(machines: list[JsonObject], chosen: bool) -> None:
    spec = {"machines": machines} if machines else {}
    found = rules_for(MACHINE, CLUSTER, [rule("r", "Skip", **spec)])
    assert bool(found.rules) is chosen


def test_the_first_rule_by_name_that_chooses_a_pod_wins() -> None:
    rules = rules_for(
        MACHINE,
        CLUSTER,
        [
            rule("b", "Drain", 5),
            rule("a", "Skip", pods=[{"selector": labelled("app", "x")}]),
        ],
    )
    assert treatment(pod({"app": "x"}), rules, unreachable=False) == Treatment("skip")
    assert treatment(pod({"app": "y"}), rules, unreachable=False) == Treatment("drain", 5)


def test_namespaces_choose_pods_by_their_labels() -> None:
    chosen = rule("r", "Skip", pods=[{"namespaceSelector": labelled("team", "a")}])
    for labels, expected in (({"team": "a"}, "skip"), ({"team": "b"}, "drain")):
        rules = DrainRules([chosen], {"default": labels})
        assert rules.look_at_namespaces
        assert treatment(pod(), rules, unreachable=False).behaviour == expected


def test_what_has_to_complete_is_awaited_until_it_has() -> None:
    rules = DrainRules([rule("r", "WaitCompleted")])
    assert treatment(pod(), rules, unreachable=False) == Treatment("wait")
    assert treatment(pod(phase="Succeeded"), rules, unreachable=False) == Treatment("skip")


def test_a_pods_own_label_and_kind_come_before_rules() -> None:
    rules = DrainRules([rule("r", "Drain", 3)])
    skipped = pod({"cluster.x-k8s.io/drain": "skip"})
    assert treatment(skipped, rules, unreachable=False) == Treatment("skip")
    owner = {"kind": "DaemonSet", "controller": True}
    assert treatment(pod(ownerReferences=[owner]), rules, unreachable=False).behaviour == "skip"
    mirror = pod(annotations={"kubernetes.io/config.mirror": "x"})
    assert treatment(mirror, rules, unreachable=False).behaviour == "skip"


def test_pods_whose_turn_has_not_come_keep_the_drain_from_being_done() -> None:
    result = DrainResult(later=["default/p"])
    assert not result.done
    assert "default/p: to be evicted after" in result.message()
