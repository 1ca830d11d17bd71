"""Admission of MachineHealthChecks."""

from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.contract.selectors import is_empty
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook, invalid, required
from capi_core.webhooks.rules import (
    check_cluster_name,
    check_int_or_percent,
    parse_selector,
)

_SELECTOR = "spec.selector"
_STARTUP_SECONDS, _MIN_STARTUP_SECONDS = 600, 30


def default(check: MachineHealthCheck, request: Request) -> None:
    """The cluster's label, and ten minutes for a Node to come."""
    del request
    check.metadata.labels[CLUSTER_NAME_LABEL] = check.spec.cluster_name
    if check.spec.checks.node_startup_timeout_seconds is None:
        check.spec.checks.node_startup_timeout_seconds = _STARTUP_SECONDS


def validate(
    check: MachineHealthCheck, old: MachineHealthCheck | None, request: Request
) -> list[FieldError]:
    """A selector that selects within the cluster, time for Nodes to start, limits that are some."""
    del request
    spec = check.spec
    selector = spec.selector
    errors = parse_selector(selector, _SELECTOR)
    if is_empty(selector):
        errors.append(required(_SELECTOR, "must not be empty"))
    named = selector.match_labels.get(CLUSTER_NAME_LABEL, spec.cluster_name)
    if named != spec.cluster_name:
        errors.append(invalid(_SELECTOR, named, "must not name another cluster than clusterName"))
    errors += check_cluster_name(spec.cluster_name, old.spec.cluster_name if old else None)
    timeout = spec.checks.node_startup_timeout_seconds
    if timeout is not None and timeout != 0 and timeout < _MIN_STARTUP_SECONDS:
        path = "spec.checks.nodeStartupTimeoutSeconds"
        errors.append(invalid(path, timeout, "must be 0 or at least 30"))
    return errors + check_int_or_percent(
        spec.remediation.trigger_if.unhealthy_less_than_or_equal_to,
        "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo",
    )


WEBHOOK = Webhook(MachineHealthCheck, default=default, validate=validate)
