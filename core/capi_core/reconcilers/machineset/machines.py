"""Makes the Machines of a MachineSet, with their bootstrap config and infrastructure."""

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CLUSTER_NAME_LABEL, DEPLOYMENT_NAME_LABEL, SET_NAME_LABEL
from capi_core.api.machine import Machine, MachineTemplateSpec
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.api.shared import ContractVersionedObjectReference
from capi_core.contract.external import External, ExternalObjects, UnknownKind
from capi_core.contract.owners import owner_reference
from capi_core.contract.templates import (
    clone_template,
    label_value,
    render_name,
)
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError

_DEFAULT_NAME = "{{ .machineSet.name }}-{{ .random }}"
_IN_PLACE_FIELDS = ("readinessGates", "minReadySeconds", "deletion", "taints")


class TemplateMissing(CapiError):
    """A template that Machines are made from does not exist."""


def machine_labels(machine_set: MachineSet) -> dict[str, str]:
    """The labels of a MachineSet's Machines."""
    labels = dict(machine_set.spec.template.metadata.labels)
    labels[CLUSTER_NAME_LABEL] = machine_set.spec.cluster_name
    labels[SET_NAME_LABEL] = label_value(machine_set.name)
    if deployment := machine_set.metadata.labels.get(DEPLOYMENT_NAME_LABEL):
        labels[DEPLOYMENT_NAME_LABEL] = deployment
    return labels


class MachineFactory:
    """Creates one Machine at a time, and cleans up when that fails half-way."""

    def __init__(self, client: Client, external: ExternalObjects) -> None:
        self._client = client
        self._external = external

    async def template(
        self, machine_set: MachineSet, ref: ContractVersionedObjectReference
    ) -> External:
        """The template that ``ref`` names.

        Raises:
            TemplateMissing: it does not exist, or its kind does not.
        """
        where = (ref.api_group, ref.kind, machine_set.namespace, ref.name)
        try:
            found = await self._external.get(*where) or await self._external.live(*where)
        except UnknownKind as error:
            raise TemplateMissing(str(error)) from error
        if found is None:
            raise TemplateMissing(f"{ref.kind} {ref.name} does not exist")
        return found

    async def own(self, template: External, cluster: Cluster | None) -> None:
        """Make the Cluster an owner of the template, so that it goes with it."""
        owners = template.obj["metadata"].get("ownerReferences") or []
        if cluster is None or any(owner["uid"] == cluster.metadata.uid for owner in owners):
            return
        meta = {
            "ownerReferences": [*owners, owner_reference(cluster).dump()],
            "resourceVersion": template.obj["metadata"]["resourceVersion"],
        }
        await self._external.patch(template, {"metadata": meta})

    async def create(self, machine_set: MachineSet) -> Machine:
        """Bootstrap config, infrastructure machine, Machine, in this order."""
        naming = machine_set.spec.machine_naming.template or _DEFAULT_NAME
        name = render_name(naming, {"machineSet.name": machine_set.name})
        spec = machine_set.spec.template.spec
        made: list[JsonObject] = []
        try:
            bootstrap = spec.bootstrap.config_ref
            refs = [bootstrap] if bootstrap is not None and bootstrap.name else []
            for ref in [*refs, spec.infrastructure_ref]:
                template = await self.template(machine_set, ref)
                made.append(await self._external.create(self._clone(machine_set, template, name)))
            body = self._machine(machine_set, name, made)
            return Machine.parse(await self._client.create(body, Machine.resource))
        except BaseException:
            for obj in made:
                contract = "v1beta2"
                await self._external.delete(External(obj, contract))
            raise

    def _clone(self, machine_set: MachineSet, template: External, name: str) -> JsonObject:
        return clone_template(
            template.obj,
            name=name,
            cluster=machine_set.spec.cluster_name,
            owner=machine_set,
            labels=machine_labels(machine_set),
            annotations=machine_set.spec.template.metadata.annotations,
        )

    def _machine(self, machine_set: MachineSet, name: str, made: list[JsonObject]) -> JsonObject:
        template = machine_set.spec.template
        spec = template.spec.dump()
        spec["infrastructureRef"] = {**spec["infrastructureRef"], **_reference(made[-1])}
        if len(made) > 1:
            spec["bootstrap"] = {"configRef": _reference(made[0])}
        return {
            "apiVersion": Machine.resource.api_version,
            "kind": "Machine",
            "metadata": {
                "name": name,
                "namespace": machine_set.namespace,
                "labels": machine_labels(machine_set),
                "annotations": dict(template.metadata.annotations),
                "ownerReferences": [owner_reference(machine_set, controller=True).dump()],
            },
            "spec": {**spec, "clusterName": machine_set.spec.cluster_name},
        }


def _reference(obj: JsonObject) -> JsonObject:
    return {
        "apiGroup": obj["apiVersion"].rpartition("/")[0],
        "kind": obj["kind"],
        "name": obj["metadata"]["name"],
    }


def in_place_patch(machine: Machine, machine_set: MachineSet) -> JsonObject:
    """What has to change on a Machine so that it follows its MachineSet without a rollout."""
    template: MachineTemplateSpec = machine_set.spec.template
    have, want = machine.spec.dump(), template.spec.dump()
    spec = {
        key: want.get(key)
        for key in _IN_PLACE_FIELDS
        if have.get(key) != want.get(key) and (key == "deletion" or not machine.deleting)
    }
    if "deletion" in spec and spec["deletion"] is None:
        # nodeDeletionTimeoutSeconds is defaulted by admission and stays.
        del spec["deletion"]
    elif "deletion" in spec:
        spec["deletion"] = {**have.get("deletion", {}), **want["deletion"]}
        if spec["deletion"] == have.get("deletion"):
            del spec["deletion"]
    patch: JsonObject = {"spec": spec} if spec else {}
    if not machine.deleting:
        labels = machine_labels(machine_set)
        missing = {k: v for k, v in labels.items() if machine.metadata.labels.get(k) != v}
        notes = {
            k: v
            for k, v in template.metadata.annotations.items()
            if machine.metadata.annotations.get(k) != v
        }
        meta = ({"labels": missing} if missing else {}) | ({"annotations": notes} if notes else {})
        patch |= {"metadata": meta} if meta else {}
    return patch
