"""Is a Machine as the control plane wants it? Pure."""

from capi_controlplane.machines import kubeadm_config_spec
from capi_controlplane.scope import ControlPlaneScope
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.conditions import age_seconds, parse_time
from capi_core.contract.templates import CLONED_FROM_GROUP_KIND, CLONED_FROM_NAME

# Written by admission or the controllers, or meaningless for an existing Machine.
_JOIN_ONLY = ("discovery", "controlPlane", "timeouts", "caCertPath")


def outdated_reasons(scope: ControlPlaneScope, machine: Machine) -> list[str]:
    """Why the Machine has to be replaced, in the words of the UpToDate condition."""
    control_plane = scope.obj
    reasons: list[str] = []
    if machine.spec.version != control_plane.spec.version:
        reasons.append(f"Version {machine.spec.version}, {control_plane.spec.version} required")
    after, created = control_plane.spec.rollout.after, machine.metadata.creation_timestamp
    if after and age_seconds(after) > 0 and created and parse_time(created) < parse_time(after):
        reasons.append("KubeadmControlPlane spec.rollout.after expired")
    if not _same_config(scope, machine):
        reasons.append("KubeadmConfig is not up-to-date")
    if not _same_infrastructure(scope, machine):
        kind = control_plane.spec.machine_template.spec.infrastructure_ref.kind
        reasons.append(f"{kind.removesuffix('Template')} is not up-to-date")
    return reasons


def _same_config(scope: ControlPlaneScope, machine: Machine) -> bool:
    config = scope.configs.get(machine.name)
    if config is None:
        return True
    version = machine.spec.version or scope.obj.spec.version
    wanted = scope.obj.spec.kubeadm_config_spec.dump()
    have = config.spec.dump()
    return any(
        _comparable(have)
        == _comparable(kubeadm_config_spec(wanted, first=first, version=version))
        for first in (True, False)
    )


def _comparable(spec: JsonObject) -> JsonObject:
    result = dict(spec)
    node = {
        **(result.pop("initConfiguration", None) or {}),
        **(result.pop("joinConfiguration", None) or {}),
    }
    configuration = dict(result.pop("clusterConfiguration", None) or {})
    for key in ("dns", "controlPlaneEndpoint"):
        configuration.pop(key, None)
    return {
        **result,
        "node": {k: v for k, v in node.items() if k not in _JOIN_ONLY},
        "cluster": configuration,
    }


def _same_infrastructure(scope: ControlPlaneScope, machine: Machine) -> bool:
    found = scope.infrastructure.get(machine.name)
    if found is None:
        return True
    notes = found.obj["metadata"].get("annotations") or {}
    ref = scope.obj.spec.machine_template.spec.infrastructure_ref
    if CLONED_FROM_NAME not in notes:
        return True
    return (
        notes[CLONED_FROM_NAME] == ref.name
        and notes.get(CLONED_FROM_GROUP_KIND) == f"{ref.kind}.{ref.api_group}"
    )
