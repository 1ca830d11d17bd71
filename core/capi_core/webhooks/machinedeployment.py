"""Admission of MachineDeployments."""

from capi_core.api.labels import CLUSTER_NAME_LABEL, DEPLOYMENT_NAME_LABEL
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.contract.selectors import is_empty
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook, invalid
from capi_core.webhooks.machineset import check_machines
from capi_core.webhooks.rules import (
    check_int_or_percent,
    check_rolling_update,
    default_replicas,
    is_label_value,
    with_v,
)


def default(deployment: MachineDeployment, request: Request) -> None:
    """Labels, replicas, the rolling update's limits, a selector of its own, the version's v."""
    spec = deployment.spec
    deployment.metadata.labels[CLUSTER_NAME_LABEL] = spec.cluster_name
    spec.replicas = default_replicas(deployment, spec.replicas, request)
    strategy = spec.rollout.strategy
    strategy.type = strategy.type or "RollingUpdate"
    if strategy.type == "RollingUpdate":
        limits = strategy.rolling_update
        limits.max_surge = 1 if limits.max_surge is None else limits.max_surge
        limits.max_unavailable = 0 if limits.max_unavailable is None else limits.max_unavailable
    own = {CLUSTER_NAME_LABEL: spec.cluster_name}
    if is_empty(spec.selector):
        own[DEPLOYMENT_NAME_LABEL] = deployment.name
    spec.selector.match_labels.update(own)
    spec.template.metadata.labels.update(own)
    if spec.template.spec.version:
        spec.template.spec.version = with_v(spec.template.spec.version)


def validate(
    deployment: MachineDeployment, old: MachineDeployment | None, request: Request
) -> list[FieldError]:
    """A MachineSet's rules, and that a rollout can move."""
    del request
    errors: list[FieldError] = []
    if not is_label_value(deployment.name):
        errors.append(invalid("metadata.name", deployment.name, "must be a valid label value"))
    errors += check_machines(deployment, old)
    strategy = deployment.spec.rollout.strategy
    if strategy.type == "RollingUpdate":
        limits = strategy.rolling_update
        path = "spec.rollout.strategy.rollingUpdate"
        errors += check_rolling_update(limits.max_surge, limits.max_unavailable, path)
    in_flight = deployment.spec.remediation.max_in_flight
    return errors + check_int_or_percent(in_flight, "spec.remediation.maxInFlight")


WEBHOOK = Webhook(MachineDeployment, default=default, validate=validate)
