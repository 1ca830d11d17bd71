"""Puts the health of static Pods, etcd members and Nodes on the control plane's Machines."""

from typing import Any

from capi_controlplane.etcd import EtcdUnreachable, client_access, list_members
from capi_controlplane.scope import ControlPlaneScope
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict, get_condition
from capi_core.contract.remote import CONFIG_MAPS, PODS, RemoteCluster, Watch
from capi_core.contract.secrets import ETCD_CA, read_key_pair
from capi_core.runtime.client import Client
from capi_core.runtime.store import Key

POD_WATCH = Watch(
    PODS,
    namespace="kube-system",
    labels="tier=control-plane,component in (kube-apiserver,kube-controller-manager,"
    "kube-scheduler,etcd)",
)
CONFIG_WATCH = Watch(CONFIG_MAPS, namespace="kube-system", fields="metadata.name=kubeadm-config")
_COMPONENTS = {
    "APIServerPodHealthy": "kube-apiserver",
    "ControllerManagerPodHealthy": "kube-controller-manager",
    "SchedulerPodHealthy": "kube-scheduler",
    "EtcdPodHealthy": "etcd",
}
_ROLE = "node-role.kubernetes.io/control-plane"


async def read_members(scope: ControlPlaneScope, client: Client) -> None:
    """Ask etcd for its members, through any of the control plane's Nodes."""
    if not scope.manages_etcd or scope.remote is None:
        return
    cluster = scope.require_cluster()
    ca = await read_key_pair(client, cluster.namespace, cluster.name, ETCD_CA)
    if ca is None or not ca.key:
        scope.etcd_error = "the etcd CA has no key"
        return
    for machine in scope.machines:
        for address in internal_addresses(scope.remote, machine):
            try:
                scope.members = await list_members(await client_access(ca, address))
                return
            except EtcdUnreachable as error:
                scope.etcd_error = str(error)


def internal_addresses(remote: RemoteCluster, machine: Machine) -> list[str]:
    """The addresses of a Machine's Node inside the cluster's network."""
    name = machine.status.node_ref.name if machine.status.node_ref else ""
    node = remote.nodes.get(Key("", name)) if name else None
    found = ((node or {}).get("status") or {}).get("addresses") or []
    return [a["address"] for a in found if a["type"] == "InternalIP"]


def machine_verdicts(scope: ControlPlaneScope, machine: Machine) -> dict[str, Verdict]:
    """The health conditions of one Machine."""
    kinds = (*scope.machine_conditions, "NodeKubeadmLabelsAndTaintsSet")
    if machine.deleting:
        return {kind: Verdict("Unknown", "Deleting", "Machine is deleting") for kind in kinds}
    name = machine.status.node_ref.name if machine.status.node_ref else ""
    if scope.remote is None:
        return {kind: _unconnected(machine, kind) for kind in kinds}
    if not name:
        kind = machine.spec.infrastructure_ref.kind
        text = f"Waiting for {kind} to report spec.providerID"
        if machine.spec.provider_id:
            text = f"Waiting for a Node with spec.providerID {machine.spec.provider_id} to exist"
        return {kind: Verdict("Unknown", "InspectionFailed", text) for kind in kinds}
    pods = scope.remote.stores[POD_WATCH]
    result = {
        kind: pod_verdict(pods.get(Key("kube-system", f"{_COMPONENTS[kind]}-{name}")))
        for kind in scope.machine_conditions
        if kind in _COMPONENTS
    }
    if scope.manages_etcd:
        result["EtcdMemberHealthy"] = member_verdict(scope, name)
    node = scope.remote.nodes.get(Key("", name))
    result["NodeKubeadmLabelsAndTaintsSet"] = node_verdict(scope, node, name)
    return result


def _unconnected(machine: Machine, kind: str) -> Verdict:
    known = get_condition(machine.status.conditions, kind)
    if known is not None and known.reason not in ("InspectionFailed", "ConnectionDown"):
        return Verdict(known.status, known.reason, known.message)
    return Verdict("Unknown", "ConnectionDown", "Remote connection not established yet")


def pod_verdict(pod: JsonObject | None) -> Verdict:
    """The health of a static Pod, from its mirror."""
    if pod is None:
        return Verdict("False", "DoesNotExist", "Pod does not exist")
    if pod["metadata"].get("deletionTimestamp"):
        return Verdict("False", "Deleting", "Pod is being deleted")
    status: dict[str, Any] = pod.get("status") or {}
    conditions = {c["type"]: c for c in status.get("conditions") or []}
    if conditions.get("Ready", {}).get("status") == "True":
        return Verdict("True", "Running")
    for container in status.get("containerStatuses") or []:
        waiting = (container.get("state") or {}).get("waiting")
        crashed = (container.get("lastState") or {}).get("terminated") or {}
        if waiting and crashed.get("exitCode"):
            return Verdict("False", "Failed", f"Waiting to restart: {waiting.get('reason')}")
        ended = (container.get("state") or {}).get("terminated")
        if ended:
            return Verdict("False", "Failed", f"Terminated: {ended.get('reason')}")
    if status.get("phase") in ("Failed", "Succeeded"):
        return Verdict("False", "Failed", "All the containers have been terminated")
    return Verdict("False", "Provisioning", "Waiting to be ready")


def member_verdict(scope: ControlPlaneScope, node: str) -> Verdict:
    """The health of the etcd member of a Node."""
    if scope.members is None:
        message = scope.etcd_error or "etcd has not been asked yet"
        return Verdict("Unknown", "InspectionFailed", message)
    member = scope.members.by_name(node)
    if member is None:
        return Verdict("False", "NotHealthy", f"Etcd doesn't have a member for Node {node}")
    if member.learner:
        return Verdict("False", "NotHealthy", "Waiting for learner etcd member to be promoted")
    if alarms := scope.members.alarms_of(member):
        return Verdict("False", "NotHealthy", f"Etcd reports alarms: {', '.join(alarms)}")
    return Verdict("True", "Healthy")


def node_verdict(scope: ControlPlaneScope, node: JsonObject | None, name: str) -> Verdict:
    """Whether kubeadm's label and taint are on a control plane Node."""
    if node is None:
        return Verdict("Unknown", "InspectionFailed", f"Node {name} does not exist")
    missing: list[str] = []
    if _ROLE not in (node["metadata"].get("labels") or {}):
        missing.append(f"label {_ROLE} is missing")
    taints = (node.get("spec") or {}).get("taints") or []
    if wants_taint(scope) and not any(
        t["key"] == _ROLE and t["effect"] == "NoSchedule" for t in taints
    ):
        missing.append(f"taint {_ROLE}:NoSchedule is missing")
    if missing:
        return Verdict("False", "NotSet", "; ".join(missing))
    return Verdict("True", "Set")


def wants_taint(scope: ControlPlaneScope) -> bool:
    """Whether kubeadm taints the Nodes: it does unless taints are given."""
    spec = scope.obj.spec.kubeadm_config_spec.dump()
    for part in ("initConfiguration", "joinConfiguration"):
        taints = ((spec.get(part) or {}).get("nodeRegistration") or {}).get("taints")
        if taints is not None:
            return any(taint.get("key") == _ROLE for taint in taints)
    return True
