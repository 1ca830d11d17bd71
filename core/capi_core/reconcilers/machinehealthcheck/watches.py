"""Which changes of Machines, Nodes and Clusters a MachineHealthCheck looks at."""

from collections.abc import Iterable

from capi_core.api.cluster import Cluster
from capi_core.api.machine import Machine
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.api.meta import JsonObject
from capi_core.api.shared import LabelSelector
from capi_core.contract.remote import ClusterCache
from capi_core.contract.selectors import matches
from capi_core.runtime.controller import Controller
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key, key_of

# What health checks and remediation bring about themselves; no check can name it. Two health checks
# that disagree on a Machine must not wake each other.
_CONSEQUENCES = ("Ready", "Available", "HealthCheckSucceeded", "ExternallyRemediated")
_CLUSTER_CONDITIONS = ("ControlPlaneInitialized", "InfrastructureReady")


def watch(manager: Manager, controller: Controller, remote: ClusterCache) -> None:
    """Wake the health checks of what changes."""
    checks, machines = manager.store(MachineHealthCheck), manager.store(Machine)

    def enqueue_all(cluster: Key) -> None:
        for obj in checks.by_index("cluster", f"{cluster.namespace}/{cluster.name}"):
            controller.enqueue(key_of(obj))

    def enqueue_choosers(*versions: JsonObject | None) -> None:
        """A Machine that changes its labels is seen by those that chose it, too."""
        found = [obj for obj in versions if obj is not None]
        namespace = key_of(found[0]).namespace
        cluster = (found[0].get("spec") or {}).get("clusterName")
        for obj in checks.by_index("cluster", f"{namespace}/{cluster}"):
            selector = LabelSelector.model_validate((obj.get("spec") or {}).get("selector") or {})
            if any(matches(selector, m["metadata"].get("labels") or {}) for m in found):
                controller.enqueue(key_of(obj))

    def machine_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if machine_facts(old) != machine_facts(new):
            enqueue_choosers(old, new)

    def cluster_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None and cluster_facts(old) != cluster_facts(new):
            enqueue_all(key_of(new))

    def node_changed(cluster: Key, old: JsonObject | None, new: JsonObject | None) -> None:
        node = new or old
        if node is None or node.get("kind", "Node") != "Node":
            return
        if old is not None and new is not None and node_facts(old) == node_facts(new):
            return
        name = node["metadata"]["name"]
        for obj in machines.by_index("cluster", f"{cluster.namespace}/{cluster.name}"):
            if ((obj.get("status") or {}).get("nodeRef") or {}).get("name") == name:
                enqueue_choosers(obj)

    machines.on_change(machine_changed)
    manager.store(Cluster).on_change(cluster_changed)
    remote.on_connection(enqueue_all)
    remote.on_object(node_changed)


def _conditions(obj: JsonObject, kinds: Iterable[str] = ()) -> list[tuple[str, str, str]]:
    found = (obj.get("status") or {}).get("conditions") or []
    return [
        (c.get("type", ""), c.get("status", ""), c.get("lastTransitionTime", ""))
        for c in found
        if not kinds or c.get("type") in kinds
    ]


def machine_facts(obj: JsonObject | None) -> object:
    """What of a Machine matters to its health; None when it is gone."""
    if obj is None:
        return None
    meta, status = obj["metadata"], obj.get("status") or {}
    conditions = [
        (kind, state, since)
        for kind, state, since in _conditions(obj)
        # Of a remediation only the end matters: the next one may begin.
        if kind not in _CONSEQUENCES and (kind != "OwnerRemediated" or state == "True")
    ]
    return (
        meta.get("uid"),
        meta.get("labels"),
        meta.get("annotations"),
        meta.get("deletionTimestamp"),
        status.get("nodeRef"),
        conditions,
    )


def cluster_facts(obj: JsonObject | None) -> object:
    """What of a Cluster matters to its Machines' health."""
    if obj is None:
        return None
    return ((obj.get("spec") or {}).get("paused"), _conditions(obj, _CLUSTER_CONDITIONS))


def node_facts(node: JsonObject) -> object:
    """What of a Node counts: its conditions without their heartbeats."""
    return (node["metadata"].get("uid"), _conditions(node))
