"""Admission of MachineHealthChecks."""

import pytest

from capi_core.api.meta import JsonObject
from capi_core.webhooks.machinehealthcheck import WEBHOOK
from tests.unit.webhooks.cases import Case, changed, default, run

LABEL = "cluster.x-k8s.io/cluster-name"
GOOD: JsonObject = {
    "metadata": {"name": "mhc"},
    "spec": {
        "clusterName": "c",
        "selector": {"matchLabels": {"nodepool": "a"}},
        "checks": {"nodeStartupTimeoutSeconds": 600},
    },
}
_WRONG = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
_STARTUP = "spec.checks.nodeStartupTimeoutSeconds"
_LIMIT = "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo"


@pytest.mark.parametrize(
    "case",
    [
        Case("good", {}),
        Case("empty selector", {"spec.selector": {}}, ("spec.selector",)),
        Case(
            "no selector",
            {"spec.selector": _WRONG},
            ("spec.selector.matchExpressions[0].operator",),
        ),
        Case("own cluster", {"spec.selector.matchLabels": {LABEL: "c"}}),
        Case("other cluster", {"spec.selector.matchLabels": {LABEL: "d"}}, ("spec.selector",)),
        Case("moved", {"spec.clusterName": "d"}, ("spec.clusterName",), old={}),
        Case("stays", {}, old={"spec.checks": None}),
        Case("no startup timeout", {_STARTUP: None}),
        Case("startup timeout off", {_STARTUP: 0}),
        Case("startup timeout short", {_STARTUP: 29}, (_STARTUP,)),
        Case("startup timeout just long enough", {_STARTUP: 30}),
        Case("limit", {_LIMIT: 2}),
        Case("limit in percent", {_LIMIT: "40%"}),
        Case("limit in words", {_LIMIT: "some"}, (_LIMIT,)),
        Case("limit without its sign", {_LIMIT: "40"}, (_LIMIT,)),
    ],
    ids=lambda case: case.name,
)
def test_rule(case: Case) -> None:
    assert run(WEBHOOK, GOOD, case) == case.refused


def test_defaults() -> None:
    stored = default(WEBHOOK, changed(GOOD, {"spec.checks": None}))
    assert stored["metadata"]["labels"] == {LABEL: "c"}
    assert stored["spec"]["checks"] == {"nodeStartupTimeoutSeconds": 600}
    kept = default(WEBHOOK, changed(GOOD, {_STARTUP: 0}))
    assert kept["spec"]["checks"] == {"nodeStartupTimeoutSeconds": 0}
