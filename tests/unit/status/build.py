"""Objects with conditions, for the tests of what is computed from them."""

from typing import Any

from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.contract.external import External

PAST = "2026-01-01T00:00:00Z"


def condition(kind: str, status: str, reason: str = "R", message: str = "") -> JsonObject:
    """A condition that came long ago."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": PAST,
    }


def machine(
    name: str = "m",
    conditions: dict[str, str] | None = None,
    *,
    spec: dict[str, Any] | None = None,
    **status: Any,
) -> Machine:
    """A Machine, created long ago, with conditions of these statuses."""
    found = [condition(kind, value) for kind, value in (conditions or {}).items()]
    return Machine.parse(
        {
            "metadata": {"name": name, "namespace": "n", "creationTimestamp": PAST},
            "spec": {
                "clusterName": "c",
                "infrastructureRef": {"apiGroup": "g", "kind": "DockerMachine", "name": name},
                **(spec or {}),
            },
            "status": {"conditions": found, **status},
        }
    )


def external(kind: str, **status: Any) -> External:
    """An object of another provider."""
    return External({"kind": kind, "metadata": {"name": "x"}, "status": status}, "v1beta2")
