"""Finds a Machine's Node by provider id and keeps its labels, annotations and taints in step."""

from typing import Any

from capi_core.api.machine import Machine, MachineStatus
from capi_core.api.meta import JsonObject
from capi_core.contract.owners import controller_of
from capi_core.contract.remote import NODES
from capi_core.reconcilers.machine.scope import MachineScope
from capi_core.runtime.client import MERGE_PATCH
from capi_core.runtime.errors import CapiError
from capi_core.runtime.patch import merge_diff
from capi_core.runtime.store import Key

_PREFIX = "cluster.x-k8s.io/"
_SYNCED_LABELS = f"{_PREFIX}labels-from-machine"
_SYNCED_ANNOTATIONS = f"{_PREFIX}annotations-from-machine"
_SYNCED_TAINTS = f"{_PREFIX}taints-from-machine"
_UNINITIALIZED = {"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}
_LABEL_DOMAINS = ("node-restriction.kubernetes.io", "node.cluster.x-k8s.io")


class NodeLost(CapiError):
    """The Node of a running Machine went."""


class AmbiguousProviderID(CapiError):
    """Several Nodes claim one provider id."""


async def observe_node(scope: MachineScope) -> None:
    """Bind the Node to the Machine and sync it."""
    machine, remote = scope.obj, scope.remote
    if remote is None or not machine.spec.provider_id:
        return
    nodes = remote.nodes.by_index("providerID", machine.spec.provider_id)
    if len(nodes) > 1:
        names = ", ".join(node["metadata"]["name"] for node in nodes)
        raise AmbiguousProviderID(f"{machine.spec.provider_id} is the provider id of {names}")
    bound = machine.status.node_ref.name if machine.status.node_ref else ""
    if not nodes:
        if bound and remote.nodes.get(Key("", bound)) is None:
            scope.node_gone = True
            if not machine.deleting:
                raise NodeLost(f"Node {bound} does not exist any more")
        return
    scope.node = nodes[0]
    seen = MachineStatus.model_validate(
        {
            "nodeRef": {"name": scope.node["metadata"]["name"]},
            "nodeInfo": (scope.node.get("status") or {}).get("nodeInfo") or {},
        }
    )
    machine.status.node_ref, machine.status.node_info = seen.node_ref, seen.node_info
    if machine.deleting:
        return
    wanted = desired_node(scope.node, scope)
    if patch := merge_diff(scope.node, wanted):
        name = scope.node["metadata"]["name"]
        patch.setdefault("metadata", {})["resourceVersion"] = scope.node["metadata"][
            "resourceVersion"
        ]
        # Taints are written whole, guarded by the resourceVersion that they were read at.
        scope.node = await remote.client.patch(NODES, None, name, patch, content_type=MERGE_PATCH)
        remote.nodes.put(scope.node)


def synced_label(key: str) -> bool:
    """Whether a Machine's label goes to its Node."""
    prefix, slash, _ = key.partition("/")
    if not slash:
        return False
    return prefix == "node-role.kubernetes.io" or any(
        prefix == domain or prefix.endswith(f".{domain}") for domain in _LABEL_DOMAINS
    )


def desired_node(node: JsonObject, scope: MachineScope) -> JsonObject:
    """The Node with everything that the Machine says about it; foreign keys stay."""
    machine, meta = scope.obj, node["metadata"]
    labels, annotations = dict(meta.get("labels") or {}), dict(meta.get("annotations") or {})
    wanted = {k: v for k, v in machine.metadata.labels.items() if synced_label(k)}
    for key in filter(None, annotations.get(_SYNCED_LABELS, "").split(",")):
        if key not in wanted:
            labels.pop(key, None)
    labels.update(wanted)
    if scope.infrastructure is not None and scope.infrastructure.field("status.interruptible"):
        labels[f"{_PREFIX}interruptible"] = ""
    owner = controller_of(machine.metadata)
    annotations.update(
        {
            f"{_PREFIX}cluster-name": machine.spec.cluster_name,
            f"{_PREFIX}cluster-namespace": machine.namespace,
            f"{_PREFIX}machine": machine.name,
            _SYNCED_LABELS: ",".join(sorted(wanted)),
            _SYNCED_ANNOTATIONS: "",
        }
    )
    if owner:
        annotations[f"{_PREFIX}owner-kind"] = owner.kind
        annotations[f"{_PREFIX}owner-name"] = owner.name
    taints, tracked = desired_taints(node, machine)
    annotations[_SYNCED_TAINTS] = tracked
    spec = {**(node.get("spec") or {}), "taints": taints}
    if not taints:
        del spec["taints"]
    return {
        **node,
        "metadata": {**meta, "labels": labels, "annotations": annotations},
        "spec": spec,
    }


def desired_taints(node: JsonObject, machine: Machine) -> tuple[list[Any], str]:
    """The Node's taints, and the list of those that follow the Machine."""
    annotations = node["metadata"].get("annotations") or {}
    first_time = _SYNCED_TAINTS not in annotations
    followed = set(filter(None, annotations.get(_SYNCED_TAINTS, "").split(",")))
    always = {
        f"{t.key}:{t.effect}": t for t in machine.spec.taints if t.propagation != "OnInitialization"
    }
    taints: list[Any] = []
    for taint in (node.get("spec") or {}).get("taints") or []:
        name = f"{taint['key']}:{taint['effect']}"
        if all(taint.get(k) == v for k, v in _UNINITIALIZED.items()) and first_time:
            continue
        if name in always or (name in followed and name not in always):
            continue
        taints.append(taint)
    for wanted in machine.spec.taints:
        if wanted.propagation == "OnInitialization" and not first_time:
            continue
        taint = {"key": wanted.key, "effect": wanted.effect}
        if wanted.value:
            taint["value"] = wanted.value
        if not any(_same(taint, old) for old in taints):
            taints.append(taint)
    return taints, ",".join(sorted(always))


def _same(one: JsonObject, other: JsonObject) -> bool:
    return one["key"] == other["key"] and one["effect"] == other["effect"]
