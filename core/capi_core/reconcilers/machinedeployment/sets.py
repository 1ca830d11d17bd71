"""The MachineSets of a MachineDeployment: which is the new one, how it is made. Pure."""

from collections.abc import Sequence

from capi_core.api.labels import CLUSTER_NAME_LABEL, DEPLOYMENT_NAME_LABEL
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.conditions import age_seconds, parse_time
from capi_core.contract.owners import owner_reference
from capi_core.contract.templates import random_suffix
from capi_core.reconcilers.machinedeployment.templates import same_machines, template_hash

HASH_LABEL = "machine-template-hash"
REVISION = "machinedeployment.clusters.x-k8s.io/revision"
DESIRED_REPLICAS = "machinedeployment.clusters.x-k8s.io/desired-replicas"
MAX_REPLICAS = "machinedeployment.clusters.x-k8s.io/max-replicas"
DISABLE_CREATE = "cluster.x-k8s.io/disable-machine-create"


def revision(obj: MachineSet | MachineDeployment) -> int:
    """The revision annotation as a number."""
    text = obj.metadata.annotations.get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def find_new(deployment: MachineDeployment, sets: Sequence[MachineSet]) -> MachineSet | None:
    """The MachineSet that already makes what the template wants."""
    after = deployment.spec.rollout.after
    due = bool(after) and age_seconds(after) >= 0
    matching = [
        s
        for s in sets
        if same_machines(s.spec.template, deployment.spec.template)
        and not s.deleting
        and not (due and after and _created_before(s, after))
    ]
    matching.sort(
        key=lambda s: (-(s.spec.replicas or 0), s.metadata.creation_timestamp or "", s.name)
    )
    return matching[0] if matching else None


def _created_before(machine_set: MachineSet, moment: str) -> bool:
    created = machine_set.metadata.creation_timestamp
    return created is not None and parse_time(created) < parse_time(moment)


def old_sets(new: MachineSet | None, sets: Sequence[MachineSet]) -> list[MachineSet]:
    """All others, oldest first."""
    others = [s for s in sets if new is None or s.metadata.uid != new.metadata.uid]
    return sorted(others, key=lambda s: (s.metadata.creation_timestamp or "", s.name))


def in_place_fields(deployment: MachineDeployment) -> JsonObject:
    """What of a MachineDeployment its new MachineSet follows without a rollout."""
    template = deployment.spec.template
    spec = template.spec.dump()
    return {
        key: spec.get(key) for key in ("readinessGates", "minReadySeconds", "deletion", "taints")
    }


def copied_annotations(deployment: MachineDeployment) -> dict[str, str]:
    """The annotations that a MachineSet takes over."""
    foreign = ("kubectl.kubernetes.io/last-applied-configuration", REVISION)
    return {k: v for k, v in deployment.metadata.annotations.items() if k not in foreign}


def make_set(
    deployment: MachineDeployment, sets: Sequence[MachineSet], replicas: int
) -> JsonObject:
    """A MachineSet for the present template."""
    suffix = f"{template_hash(deployment.spec.template)}-{random_suffix()}"
    name = f"{deployment.name[:57]}-{random_suffix()}"
    number = max((revision(s) for s in sets), default=0) + 1
    template = deployment.spec.template.dump()
    template["metadata"] = {
        **(template.get("metadata") or {}),
        "labels": {**deployment.spec.template.metadata.labels, HASH_LABEL: suffix},
    }
    selector = deployment.spec.selector.dump()
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: suffix}
    spec: JsonObject = {
        "clusterName": deployment.spec.cluster_name,
        "replicas": replicas,
        "selector": selector,
        "template": template,
    }
    if deployment.spec.deletion.order:
        spec["deletion"] = {"order": deployment.spec.deletion.order}
    if deployment.spec.machine_naming.template:
        spec["machineNaming"] = {"template": deployment.spec.machine_naming.template}
    return {
        "apiVersion": MachineSet.resource.api_version,
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": deployment.namespace,
            "labels": {
                **deployment.spec.template.metadata.labels,
                CLUSTER_NAME_LABEL: deployment.spec.cluster_name,
                DEPLOYMENT_NAME_LABEL: deployment.name,
                HASH_LABEL: suffix,
            },
            "annotations": {**copied_annotations(deployment), REVISION: str(number)},
            "ownerReferences": [owner_reference(deployment, controller=True).dump()],
        },
        "spec": spec,
    }
