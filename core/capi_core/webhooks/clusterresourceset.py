"""Admission of ClusterResourceSets and their bindings."""

from capi_core.api.clusterresourceset import ClusterResourceSet, ClusterResourceSetBinding
from capi_core.contract.selectors import is_empty
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook, forbidden, invalid
from capi_core.webhooks.rules import check_cluster_name, parse_selector

_SELECTOR = "spec.clusterSelector"


def default(obj: ClusterResourceSet, request: Request) -> None:
    """Apply once, unless told otherwise."""
    del request
    obj.spec.strategy = obj.spec.strategy or "ApplyOnce"


def validate(
    obj: ClusterResourceSet, old: ClusterResourceSet | None, request: Request
) -> list[FieldError]:
    """A selector that selects something; which clusters and how is decided once."""
    del request
    selector = obj.spec.cluster_selector
    errors = parse_selector(selector, _SELECTOR)
    if is_empty(selector):
        errors.append(invalid(_SELECTOR, "", "must not be empty"))
    if old is None:
        return errors
    if old.spec.strategy and obj.spec.strategy != old.spec.strategy:
        errors.append(forbidden("spec.strategy", "field is immutable"))
    if selector.dump() != old.spec.cluster_selector.dump():
        errors.append(forbidden(_SELECTOR, "field is immutable"))
    return errors


def validate_binding(
    obj: ClusterResourceSetBinding, old: ClusterResourceSetBinding | None, request: Request
) -> list[FieldError]:
    """A binding stays with its cluster."""
    del request
    return check_cluster_name(obj.spec.cluster_name, old.spec.cluster_name if old else None)


WEBHOOKS = (
    Webhook(ClusterResourceSet, default=default, validate=validate),
    Webhook(ClusterResourceSetBinding, validate=validate_binding),
)
