"""May a MachineSet make a Machine now? Checks against the control plane. Pure."""

import semver

from capi_core.api.machineset import MachineSet
from capi_core.contract.external import External

SKIP_ANNOTATION = "machineset.cluster.x-k8s.io/skip-preflight-checks"
_MAX_SKEW = 3


def preflight_problems(machine_set: MachineSet, control_plane: External | None) -> list[str]:
    """Why no Machine should be made now, one line each."""
    if control_plane is None:
        return []
    version = control_plane.field("spec.version")
    if not version:
        return []
    skipped = machine_set.metadata.annotations.get(SKIP_ANNOTATION, "").split(",")
    skipped = [item.strip() for item in skipped]
    if "All" in skipped:
        return []
    problems: list[str] = []
    if "ControlPlaneIsStable" not in skipped:
        problems += _unstable(control_plane, version)
    wanted = machine_set.spec.template.spec.version
    if wanted:
        problems += _skew(machine_set, wanted, version, skipped)
    return problems


def _parse(version: str) -> semver.Version | None:
    try:
        return semver.Version.parse(version.removeprefix("v"))
    except ValueError:
        return None


def _unstable(control_plane: External, version: str) -> list[str]:
    name = f"{control_plane.obj['kind']} {control_plane.obj['metadata']['name']}"
    versions = control_plane.field("status.versions") or []
    current = versions[0].get("version") if versions else control_plane.field("status.version")
    if not current:
        return [f'{name} is provisioning ("ControlPlaneIsStable" preflight check failed)']
    have, want = _parse(current), _parse(version)
    if have and want and have < want:
        return [f'{name} is upgrading ("ControlPlaneIsStable" preflight check failed)']
    return []


def _skew(machine_set: MachineSet, wanted: str, version: str, skipped: list[str]) -> list[str]:
    mine, control_plane = _parse(wanted), _parse(version)
    if mine is None or control_plane is None:
        return []
    problems: list[str] = []
    if "KubernetesVersionSkew" not in skipped and (
        mine.minor > control_plane.minor or mine.minor < control_plane.minor - _MAX_SKEW
    ):
        problems.append(
            f"MachineSet version ({wanted}) and ControlPlane version ({version}) do not conform to "
            'the kubernetes version skew policy ("KubernetesVersionSkew" preflight check failed)'
        )
    ref = machine_set.spec.template.spec.bootstrap.config_ref
    uses_kubeadm = ref is not None and ref.kind == "KubeadmConfigTemplate"
    if "KubeadmVersionSkew" not in skipped and uses_kubeadm and mine.minor != control_plane.minor:
        problems.append(
            f"MachineSet version ({wanted}) and ControlPlane version ({version}) do not conform to "
            'kubeadm version skew policy ("KubeadmVersionSkew" preflight check failed)'
        )
    return problems
