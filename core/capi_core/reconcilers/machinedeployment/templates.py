"""When do two Machine templates mean the same Machines? Pure comparisons and hashes."""

import hashlib

import orjson

from capi_core.api.machine import MachineTemplateSpec
from capi_core.api.meta import JsonObject

# These reach existing Machines in place, so a change of them is no reason to roll.
_IN_PLACE = (
    "clusterName",
    "providerID",
    "minReadySeconds",
    "readinessGates",
    "deletion",
    "taints",
)


def rollout_relevant(template: MachineTemplateSpec) -> JsonObject:
    """The part of a template whose change makes new Machines."""
    spec = template.spec.dump()
    return {key: value for key, value in spec.items() if key not in _IN_PLACE}


def same_machines(one: MachineTemplateSpec, other: MachineTemplateSpec) -> bool:
    """Whether both templates make the same Machines."""
    return rollout_relevant(one) == rollout_relevant(other)


def rollout_differences(have: MachineTemplateSpec, want: MachineTemplateSpec) -> list[str]:
    """What differs, in the words of the UpToDate condition; the version first."""
    old, new = rollout_relevant(have), rollout_relevant(want)
    reasons: list[str] = []
    if old.get("version") != new.get("version"):
        reasons.append(f"Version {old.get('version')}, {new.get('version')} required")
    if old.get("failureDomain") != new.get("failureDomain"):
        reasons.append(
            f"Failure domain {old.get('failureDomain')}, {new.get('failureDomain')} required"
        )
    if old.get("bootstrap") != new.get("bootstrap"):
        ref = (new.get("bootstrap") or {}).get("configRef") or {}
        reasons.append(f"{ref.get('kind', 'bootstrap').removesuffix('Template')} is not up-to-date")
    if old.get("infrastructureRef") != new.get("infrastructureRef"):
        ref = new.get("infrastructureRef") or {}
        reasons.append(f"{ref.get('kind', '').removesuffix('Template')} is not up-to-date")
    return reasons


def template_hash(template: MachineTemplateSpec) -> str:
    """A short hash of what makes new Machines, for labels and names."""
    text = orjson.dumps(rollout_relevant(template), option=orjson.OPT_SORT_KEYS)
    return str(int.from_bytes(hashlib.sha256(text).digest()[:4], "big"))
