"""Label selectors: what they choose. Pure."""

from collections.abc import Mapping

from capi_core.api.shared import LabelSelector


def is_empty(selector: LabelSelector) -> bool:
    """Whether it sets no condition."""
    return not selector.match_labels and not selector.match_expressions


def matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether ``labels`` satisfy ``selector``; an empty selector matches nothing here."""
    return not is_empty(selector) and selects(selector, labels)


def selects(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether ``labels`` satisfy the selector; an empty one selects everything."""
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    for rule in selector.match_expressions:
        value = labels.get(rule.key)
        holds = {
            "In": value is not None and value in rule.values,
            "NotIn": value is None or value not in rule.values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }
        if not holds.get(rule.operator, False):
            return False
    return True
