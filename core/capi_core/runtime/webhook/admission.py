"""What a kind's webhook is: a defaulting function, a validating function, and the field errors.

Rules are pure functions of the objects; they collect all errors instead of stopping at the first,
and each names the field path, so that the user sees at ``kubectl apply`` what to change.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from capi_core.api.meta import JsonObject, KubeObject

Operation = Literal["CREATE", "UPDATE", "DELETE"]


@dataclass(frozen=True, slots=True)
class FieldError:
    """One refusal; its text has the form of Kubernetes' field errors."""

    kind: Literal["Invalid value", "Required value", "Forbidden", "Duplicate value"]
    path: str
    message: str
    value: Any = None

    def __str__(self) -> str:
        if self.kind in ("Required value", "Forbidden"):
            return f"{self.path}: {self.kind}: {self.message}"
        shown = f'"{self.value}"' if isinstance(self.value, str) else self.value
        tail = f": {self.message}" if self.message else ""
        return f"{self.path}: {self.kind}: {shown}{tail}"


def invalid(path: str, value: Any, message: str) -> FieldError:
    """The value at ``path`` is not acceptable."""
    return FieldError("Invalid value", path, message, value)


def required(path: str, message: str) -> FieldError:
    """Something at ``path`` is missing."""
    return FieldError("Required value", path, message)


def forbidden(path: str, message: str) -> FieldError:
    """``path`` may not be set, or not be changed."""
    return FieldError("Forbidden", path, message)


def duplicate(path: str, value: Any) -> FieldError:
    """The value at ``path`` occurs twice."""
    return FieldError("Duplicate value", path, "", value)


@dataclass(frozen=True, slots=True)
class Request:
    """One admission request; ``old`` is None on creation."""

    operation: Operation
    obj: JsonObject
    old: JsonObject | None
    dry_run: bool
    subresource: str = ""
    warnings: list[str] = field(default_factory=list)


Default = Callable[[Any, Request], None]
Validate = Callable[[Any, Any, Request], list[FieldError] | Awaitable[list[FieldError]]]


@dataclass(frozen=True, slots=True)
class Webhook:
    """The admission rules of one kind.

    Attributes:
        default: changes the parsed object in place; None when the kind has no defaulting.
        validate: (object, old or None, request) to errors; None when there is no validation.
        operations: the operations that ``validate`` wants to see.
        subresource: rules for this subresource instead of the object itself.
    """

    kind: type[KubeObject]
    default: Default | None = None
    validate: Validate | None = None
    operations: tuple[Operation, ...] = ("CREATE", "UPDATE")
    subresource: str = ""

    def path(self, verb: Literal["mutate", "validate"]) -> str:
        """The URL path, as upstream's: ``/mutate-<group with dashes>-<version>-<kind>``."""
        resource = self.kind.resource
        group = resource.group.replace(".", "-")
        sub = f"-{self.subresource}" if self.subresource else ""
        return f"/{verb}-{group}-{resource.version}-{resource.kind.lower()}{sub}"
