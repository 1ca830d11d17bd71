"""The frame of the webhook tests: a good object, a change to it, and what it is refused with."""

import copy
from dataclasses import dataclass, field
from typing import Any

from capi_core.api.meta import JsonObject
from capi_core.runtime.webhook.admission import Request, Webhook


@dataclass(frozen=True)
class Case:
    """A change of the good object.

    Attributes:
        change: dotted path to new value; None removes.
        refused: paths of the errors expected, empty when it is accepted.
        old: changes that make the old object of an update; None for a creation.
    """

    name: str
    change: dict[str, Any]
    refused: tuple[str, ...] = ()
    old: dict[str, Any] | None = field(default=None)


def changed(obj: JsonObject, changes: dict[str, Any]) -> JsonObject:
    """A copy with the values at dotted paths replaced; ``a|b`` keeps the dots of a key."""
    result = copy.deepcopy(obj)
    for path, value in changes.items():
        *parents, last = [part.replace("|", ".") for part in path.split(".")]
        target = result
        for part in parents:
            target = target.setdefault(part, {})
        if value is None:
            target.pop(last, None)
        else:
            target[last] = value
    return result


def run(webhook: Webhook, good: JsonObject, case: Case) -> tuple[str, ...]:
    """The paths that the validation refuses."""
    obj = changed(good, case.change)
    old = changed(good, case.old) if case.old is not None else None
    request = Request("UPDATE" if old else "CREATE", obj, old, dry_run=False)
    assert webhook.validate is not None
    parsed: Any = obj if webhook.subresource else webhook.kind.parse(obj)
    before: Any = old
    if old is not None and not webhook.subresource:
        before = webhook.kind.parse(old)
    errors: Any = webhook.validate(parsed, before, request)
    return tuple(error.path for error in errors)


def default(webhook: Webhook, obj: JsonObject, old: JsonObject | None = None) -> JsonObject:
    """The object after defaulting, which changes nothing more the second time."""
    assert webhook.default is not None
    parsed: Any = webhook.kind.parse(obj)
    request = Request("UPDATE" if old else "CREATE", obj, old, dry_run=False)
    webhook.default(parsed, request)
    once = parsed.dump()
    again: Any = webhook.kind.parse(once)
    webhook.default(again, request)
    assert again.dump() == once
    return once
