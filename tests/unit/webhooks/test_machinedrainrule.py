"""Admission of MachineDrainRules."""

import pytest

from capi_core.api.meta import JsonObject
from capi_core.webhooks.machinedrainrule import WEBHOOK
from tests.unit.webhooks.cases import Case, run

GOOD: JsonObject = {"metadata": {"name": "r"}, "spec": {"drain": {"behavior": "Drain", "order": 1}}}
_WRONG = {"matchExpressions": [{"key": "a", "operator": "Near"}]}


@pytest.mark.parametrize(
    "case",
    [
        Case("good", {}),
        Case("skip with an order", {"spec.drain.behavior": "Skip"}, ("spec.drain.order",)),
        Case("skip", {"spec.drain": {"behavior": "Skip"}}),
        Case("wait", {"spec.drain.behavior": "WaitCompleted"}, ("spec.drain.order",)),
        Case(
            "machines",
            {"spec.machines": [{"selector": _WRONG, "clusterSelector": _WRONG}]},
            (
                "spec.machines[0].selector.matchExpressions[0].operator",
                "spec.machines[0].clusterSelector.matchExpressions[0].operator",
            ),
        ),
        Case(
            "pods",
            {"spec.pods": [{"selector": {}}, {"namespaceSelector": _WRONG}]},
            ("spec.pods[1].namespaceSelector.matchExpressions[0].operator",),
        ),
    ],
    ids=lambda case: case.name,
)
def test_rule(case: Case) -> None:
    assert run(WEBHOOK, GOOD, case) == case.refused
