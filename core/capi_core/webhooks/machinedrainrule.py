"""Admission of MachineDrainRules."""

from capi_core.api.machinedrainrule import MachineDrainRule
from capi_core.api.shared import LabelSelector
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook, forbidden
from capi_core.webhooks.rules import parse_selector


def validate(
    rule: MachineDrainRule, old: MachineDrainRule | None, request: Request
) -> list[FieldError]:
    """Only what is drained has an order; selectors are selectors."""
    del old, request
    errors: list[FieldError] = []
    drain = rule.spec.drain
    if drain.behavior in ("Skip", "WaitCompleted") and drain.order is not None:
        errors.append(
            forbidden("spec.drain.order", f"must not be set with behavior {drain.behavior}")
        )
    for number, machines in enumerate(rule.spec.machines):
        path = f"spec.machines[{number}]"
        errors += _check(machines.selector, f"{path}.selector")
        errors += _check(machines.cluster_selector, f"{path}.clusterSelector")
    for number, pods in enumerate(rule.spec.pods):
        path = f"spec.pods[{number}]"
        errors += _check(pods.selector, f"{path}.selector")
        errors += _check(pods.namespace_selector, f"{path}.namespaceSelector")
    return errors


def _check(selector: LabelSelector | None, path: str) -> list[FieldError]:
    return parse_selector(selector, path) if selector is not None else []


WEBHOOK = Webhook(MachineDrainRule, validate=validate)
