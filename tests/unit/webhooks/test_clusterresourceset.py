"""Admission of ClusterResourceSets and their bindings."""

import pytest

from capi_core.api.meta import JsonObject
from capi_core.webhooks.clusterresourceset import WEBHOOKS
from tests.unit.webhooks.cases import Case, default, run

SET, BINDING = WEBHOOKS
GOOD: JsonObject = {
    "metadata": {"name": "s"},
    "spec": {
        "clusterSelector": {"matchLabels": {"a": "b"}},
        "resources": [{"kind": "ConfigMap", "name": "c"}],
        "strategy": "ApplyOnce",
    },
}
_SELECTOR = "spec.clusterSelector"


@pytest.mark.parametrize(
    "case",
    [
        Case("good", {}),
        Case("empty selector", {_SELECTOR: {}}, (_SELECTOR,)),
        Case(
            "operator",
            {_SELECTOR: {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
            (f"{_SELECTOR}.matchExpressions[0].operator",),
        ),
        Case("strategy", {"spec.strategy": "Reconcile"}, ("spec.strategy",), old={}),
        Case("selector", {_SELECTOR: {"matchLabels": {"a": "c"}}}, (_SELECTOR,), old={}),
        Case("resources", {"spec.resources": [{"kind": "Secret", "name": "c"}]}, old={}),
        Case("first strategy", {}, old={"spec.strategy": None}),
    ],
    ids=lambda case: case.name,
)
def test_set(case: Case) -> None:
    assert run(SET, GOOD, case) == case.refused


def test_applies_once_unless_told_otherwise() -> None:
    bare = {**GOOD, "spec": {**GOOD["spec"], "strategy": None}}
    assert default(SET, bare)["spec"]["strategy"] == "ApplyOnce"


def test_a_binding_stays_with_its_cluster() -> None:
    good: JsonObject = {"metadata": {"name": "a"}, "spec": {"clusterName": "a"}}
    case = Case("moved", {"spec.clusterName": "b"}, ("spec.clusterName",), old={})
    assert run(BINDING, good, case) == case.refused
