"""Conditions, counters and phase of a Cluster, computed from what a pass observed."""

from collections.abc import Iterable, Sequence

from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.meta import KubeObject
from capi_core.conditions import (
    Reasons,
    Source,
    Verdict,
    age_seconds,
    aggregate,
    get_condition,
    invalid_condition,
    is_true,
    mirror,
    read_conditions,
    summarize,
)
from capi_core.contract.external import External
from capi_core.contract.remote import Health
from capi_core.reconcilers.cluster.scope import ClusterScope

_UP_TO_DATE_GRACE = 10.0
_SUMMARY = (
    "Deleting",
    "RemoteConnectionProbe",
    "InfrastructureReady",
    "ControlPlaneAvailable",
    "WorkersAvailable",
    "TopologyReconciled",
)


def set_cluster_status(scope: ClusterScope, health: Health, *, grace_seconds: float) -> None:
    """All of a Cluster's status."""
    _counters(scope)
    scope.set("RemoteConnectionProbe", remote_connection(health, grace_seconds))
    scope.set("InfrastructureReady", infrastructure_ready(scope))
    scope.set("ControlPlaneAvailable", control_plane_available(scope))
    scope.set("ControlPlaneInitialized", control_plane_initialized(scope))
    scope.set("WorkersAvailable", workers_available(scope.machine_deployments))
    for prefix, machines in (
        ("ControlPlane", scope.control_plane_machines),
        ("Worker", scope.worker_machines),
    ):
        scope.set(f"{prefix}MachinesReady", machines_ready(machines))
        scope.set(f"{prefix}MachinesUpToDate", machines_up_to_date(machines))
    for kind in ("RollingOut", "ScalingUp", "ScalingDown"):
        scope.set(kind, activity(scope, kind))
    scope.set("Remediating", remediating(scope.machines))
    scope.set("Deleting", deleting(scope))
    scope.set("Available", available(scope))
    scope.obj.status.phase = phase(scope)


def remote_connection(health: Health, grace_seconds: float) -> Verdict:
    """RemoteConnectionProbe."""
    if health.last_success is None:
        return Verdict("False", "ProbeFailed", "Remote connection not established yet")
    if health.seconds_since_success > grace_seconds:
        since = health.last_success.strftime("%Y-%m-%dT%H:%M:%SZ")
        return Verdict(
            "False",
            "ProbeFailed",
            f"Remote connection probe failed, probe last succeeded at {since}",
        )
    return Verdict("True", "ProbeSucceeded")


def _referenced(
    scope: ClusterScope,
    found: External | None,
    kind: str,
    *,
    field: str,
    was_there: bool,
    good: str,
) -> Verdict:
    if found is None:
        if was_there and scope.obj.deleting:
            return Verdict("False", "ObjectDeleted", f"{kind} has been deleted")
        if was_there:
            message = f"{kind} has been deleted while the cluster still exists"
            return Verdict("False", "ObjectDeleted", message)
        return Verdict("False", "ObjectDoesNotExist", f"{kind} does not exist")
    provisioned = getattr(found, "provisioned" if good == "Ready" else "control_plane_initialized")
    fallback = (
        Verdict("True", good)
        if provisioned
        else Verdict("False", f"Not{good}", f"{kind} {field} is false")
    )
    if problem := invalid_condition(found.obj, good):
        return Verdict("Unknown", "InvalidConditionReported", f"{kind}: {problem}")
    return mirror(read_conditions(found.obj), good, fallback=fallback)


def infrastructure_ready(scope: ClusterScope) -> Verdict:
    """InfrastructureReady: mirrors the InfraCluster's Ready."""
    ref = scope.obj.spec.infrastructure_ref
    if ref is None or not ref.name:
        return Verdict("True", "Ready")
    if failure := _failure(scope, ref.kind):
        return failure
    return _referenced(
        scope,
        scope.infrastructure,
        ref.kind,
        field="status.initialization.provisioned",
        was_there=bool(scope.obj.status.initialization.infrastructure_provisioned),
        good="Ready",
    )


def control_plane_available(scope: ClusterScope) -> Verdict:
    """ControlPlaneAvailable: mirrors the control plane's Available."""
    ref = scope.obj.spec.control_plane_ref
    if ref is None or not ref.name:
        if is_true(scope.conditions, "ControlPlaneInitialized"):
            return Verdict("True", "Available")
        return Verdict("False", "NotAvailable", "No control plane object, no machine with a Node")
    if failure := _failure(scope, ref.kind):
        return failure
    return _referenced(
        scope,
        scope.control_plane,
        ref.kind,
        field="status.initialization.controlPlaneInitialized",
        was_there=bool(scope.obj.status.initialization.control_plane_initialized),
        good="Available",
    )


def _failure(scope: ClusterScope, kind: str) -> Verdict | None:
    # A kind that no CRD serves is the user's mistake: say so where the user looks.
    for error in scope.errors:
        if type(error).__name__ == "UnknownKind" and plural_hint(kind) in str(error):
            return Verdict("Unknown", "InternalError", str(error))
    return None


def plural_hint(kind: str) -> str:
    """The part of a CRD's name that comes from its kind."""
    return kind.lower()


def control_plane_initialized(scope: ClusterScope) -> Verdict:
    """ControlPlaneInitialized: once True it stays."""
    cluster = scope.obj
    if is_true(scope.conditions, "ControlPlaneInitialized"):
        return Verdict("True", "Initialized")
    if cluster.spec.control_plane_ref and cluster.spec.control_plane_ref.name:
        if cluster.status.initialization.control_plane_initialized:
            return Verdict("True", "Initialized")
        return Verdict("False", "NotInitialized", "Control plane not yet initialized")
    if any(m.status.node_ref and m.status.node_ref.name for m in scope.control_plane_machines):
        cluster.status.initialization.control_plane_initialized = True
        return Verdict("True", "Initialized")
    message = "Waiting for the first control plane machine to have status.nodeRef set"
    return Verdict("False", "NotInitialized", message)


def sources(objects: Iterable[KubeObject], kind: str) -> list[Source]:
    """Objects of our kinds as sources of an aggregate."""
    return [
        Source(
            kind,
            obj.name,
            obj.status.conditions,  # pyright: ignore[reportAttributeAccessIssue]
            control_plane=CONTROL_PLANE_LABEL in obj.metadata.labels,
        )
        for obj in objects
    ]


def workers_available(deployments: Sequence[MachineDeployment]) -> Verdict:
    """WorkersAvailable: aggregate of the MachineDeployments' Available."""
    if not deployments:
        return Verdict("True", "NoWorkers")
    reasons = Reasons("NotAvailable", "AvailableUnknown", "Available")
    return aggregate(sources(deployments, "MachineDeployment"), "Available", reasons=reasons)


def machines_ready(machines: Sequence[Machine]) -> Verdict:
    """MachinesReady: aggregate of the Machines' Ready."""
    if not machines:
        return Verdict("True", "NoReplicas")
    reasons = Reasons("NotReady", "ReadyUnknown", "Ready")
    return aggregate(sources(machines, "Machine"), "Ready", reasons=reasons)


def machines_up_to_date(machines: Sequence[Machine]) -> Verdict:
    """MachinesUpToDate: aggregate of UpToDate, new Machines that lack it left out."""
    judged = [
        m
        for m in machines
        if get_condition(m.status.conditions, "UpToDate")
        or age_seconds(m.metadata.creation_timestamp) > _UP_TO_DATE_GRACE
    ]
    if not judged:
        return Verdict("True", "NoReplicas")
    reasons = Reasons("NotUpToDate", "UpToDateUnknown", "UpToDate")
    return aggregate(sources(judged, "Machine"), "UpToDate", reasons=reasons)


def activity(scope: ClusterScope, kind: str) -> Verdict:
    """RollingOut, ScalingUp, ScalingDown: aggregates with negative polarity."""
    owners = sources(scope.machine_deployments, "MachineDeployment")
    owners += sources(scope.standalone_machine_sets, "MachineSet") if kind != "RollingOut" else []
    if scope.control_plane is not None:
        obj = scope.control_plane.obj
        found = read_conditions(scope.control_plane.obj)
        if get_condition(found, kind):
            owners.append(Source(obj["kind"], obj["metadata"]["name"], found, control_plane=True))
    if not owners:
        return Verdict("False", f"Not{kind}")
    reasons = Reasons(kind, f"{kind}Unknown", f"Not{kind}")
    return aggregate(owners, kind, negative=True, reasons=reasons)


def remediating(machines: Sequence[Machine]) -> Verdict:
    """Remediating: machines whose owner has been asked to replace them."""
    affected = [m for m in machines if get_condition(m.status.conditions, "OwnerRemediated")]
    if not affected:
        return Verdict("False", "NotRemediating")
    verdict = aggregate(sources(affected, "Machine"), "OwnerRemediated")
    return Verdict("True", "Remediating", verdict.message)


def deleting(scope: ClusterScope) -> Verdict:
    """Deleting: what the deletion waits for."""
    if not scope.obj.deleting:
        return Verdict("False", "NotDeleting")
    return Verdict("True", scope.deleting_reason, scope.deleting_message)


def available(scope: ClusterScope) -> Verdict:
    """Available: the summary of all."""
    gates = scope.obj.spec.availability_gates
    negative = [g.condition_type for g in gates if g.polarity == "Negative"]
    as_info: list[str] = []
    if scope.obj.deleting:
        for kind in ("InfrastructureReady", "ControlPlaneAvailable"):
            condition = get_condition(scope.conditions, kind)
            if condition and condition.reason in ("ObjectDeleted", "ObjectDoesNotExist"):
                as_info.append(kind)
    return summarize(
        scope.conditions,
        [*_SUMMARY, *(g.condition_type for g in gates)],
        negative=["Deleting", *negative],
        ignore_if_missing=[] if scope.obj.spec.topology else ["TopologyReconciled"],
        as_info=as_info,
        reasons=Reasons("NotAvailable", "AvailableUnknown", "Available"),
    )


def phase(scope: ClusterScope) -> str:
    """Pending, Provisioning, Provisioned or Deleting."""
    cluster = scope.obj
    if cluster.deleting:
        return "Deleting"
    endpoint = cluster.spec.control_plane_endpoint
    if cluster.status.initialization.infrastructure_provisioned and endpoint.host and endpoint.port:
        return "Provisioned"
    return "Provisioning" if cluster.spec.infrastructure_ref else "Pending"


def _counters(scope: ClusterScope) -> None:
    control_plane, workers = scope.obj.status.control_plane, scope.obj.status.workers
    found = scope.control_plane
    if found is not None:
        control_plane.desired_replicas = found.field("spec.replicas")
        control_plane.replicas = found.field("status.replicas")
        control_plane.ready_replicas = found.field("status.readyReplicas")
        control_plane.available_replicas = found.field("status.availableReplicas")
        control_plane.up_to_date_replicas = found.field("status.upToDateReplicas")
    else:
        machines = scope.control_plane_machines
        control_plane.desired_replicas = control_plane.replicas = len(machines)
        control_plane.ready_replicas = count_true(machines, "Ready")
        control_plane.available_replicas = count_true(machines, "Available")
        control_plane.up_to_date_replicas = count_true(machines, "UpToDate")
    groups = [*scope.machine_deployments, *scope.standalone_machine_sets]
    alone = [
        m
        for m in scope.worker_machines
        if not any(ref.controller for ref in m.metadata.owner_references)
    ]
    workers.desired_replicas = sum(g.spec.replicas or 0 for g in groups) + len(alone)
    workers.replicas = sum(g.status.replicas or 0 for g in groups) + len(alone)
    workers.ready_replicas = sum(g.status.ready_replicas or 0 for g in groups) + count_true(
        alone, "Ready"
    )
    workers.available_replicas = sum(g.status.available_replicas or 0 for g in groups) + count_true(
        alone, "Available"
    )
    workers.up_to_date_replicas = sum(
        g.status.up_to_date_replicas or 0 for g in groups
    ) + count_true(alone, "UpToDate")


def count_true(machines: Iterable[Machine], kind: str) -> int:
    """How many of the machines have the condition ``kind`` True."""
    return sum(is_true(m.status.conditions, kind) for m in machines)
