"""Counters and conditions of a KubeadmControlPlane. Pure."""

from collections import Counter
from collections.abc import Sequence

import semver

from capi_controlplane.scope import ETCD_CONDITIONS, POD_CONDITIONS, ControlPlaneScope
from capi_core.api.labels import CLUSTER_NAME_LABEL, CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.api.shared import StatusVersion
from capi_core.conditions import (
    Reasons,
    Source,
    Verdict,
    aggregate,
    get_condition,
    is_false,
    is_true,
)


def set_control_plane_status(scope: ControlPlaneScope) -> None:
    """All of a control plane's status."""
    control_plane, machines = scope.obj, scope.machines
    status = control_plane.status
    status.replicas = len(machines)
    status.ready_replicas = count_true(machines, "Ready")
    status.available_replicas = count_true(machines, "Available")
    status.up_to_date_replicas = count_true(machines, "UpToDate")
    name = scope.require_cluster().name
    status.selector = f"{CLUSTER_NAME_LABEL}={name},{CONTROL_PLANE_LABEL}"
    status.versions = versions_of(machines)
    if status.versions:
        status.version = status.versions[0].version
    if scope.initialized:
        status.initialization.control_plane_initialized = True
    scope.set("Initialized", initialized(scope))
    scope.set("CertificatesAvailable", certificates_available(scope))
    scope.set("ControlPlaneComponentsHealthy", components_healthy(scope, POD_CONDITIONS))
    if scope.manages_etcd:
        scope.set("EtcdClusterHealthy", components_healthy(scope, ETCD_CONDITIONS))
    scope.set("MachinesReady", machines_condition(machines, "Ready"))
    scope.set("MachinesUpToDate", machines_condition(machines, "UpToDate"))
    scope.set("RollingOut", rolling_out(machines))
    scope.set("ScalingUp", scaling(scope, up=True))
    scope.set("ScalingDown", scaling(scope, up=False))
    scope.set("Remediating", Verdict("False", "NotRemediating"))
    scope.set("Deleting", deleting(scope))
    scope.set("Available", available(scope))


def count_true(machines: Sequence[Machine], kind: str) -> int:
    """How many Machines have the condition ``kind`` True."""
    return sum(is_true(m.status.conditions, kind) for m in machines)


def versions_of(machines: Sequence[Machine]) -> list[StatusVersion]:
    """How many Machines run which version, oldest version first."""

    def rank(version: str) -> semver.Version:
        try:
            return semver.Version.parse(version.removeprefix("v"))
        except ValueError:
            return semver.Version(0)

    counted = Counter(m.spec.version for m in machines if m.spec.version)
    return [StatusVersion(version=v, replicas=counted[v]) for v in sorted(counted, key=rank)]


def initialized(scope: ControlPlaneScope) -> Verdict:
    """Initialized: once True it stays."""
    if scope.initialized:
        return Verdict("True", "Initialized")
    return Verdict("False", "NotInitialized")


def certificates_available(scope: ControlPlaneScope) -> Verdict:
    """CertificatesAvailable: all certificate Secrets exist."""
    if scope.missing_certificates:
        names = ", ".join(sorted(scope.missing_certificates))
        return Verdict("False", "NotAvailable", f"Missing certificates: {names}")
    if scope.certificates_problem:
        return Verdict("False", "InternalError", scope.certificates_problem)
    if not scope.certificates_checked:
        known = get_condition(scope.conditions, "CertificatesAvailable")
        if known is not None:
            return Verdict(known.status, known.reason, known.message)
        return Verdict("Unknown", "InternalError", "Certificates have not been checked yet")
    return Verdict("True", "Available")


def components_healthy(scope: ControlPlaneScope, kinds: Sequence[str]) -> Verdict:
    """ControlPlaneComponentsHealthy, EtcdClusterHealthy: over all Machines' conditions."""
    if not scope.initialized or not scope.machines:
        return Verdict(
            "Unknown", "InspectionFailed", "Waiting for Cluster control plane to be initialized"
        )
    bad: list[str] = []
    unknown: list[str] = []
    for machine in scope.machines:
        for kind in kinds:
            condition = get_condition(machine.status.conditions, kind)
            if condition is None or condition.status == "Unknown":
                text = condition.message if condition else "Condition not yet reported"
                unknown.append(f"* Machine {machine.name}: {kind}: {text}")
            elif condition.status == "False":
                bad.append(f"* Machine {machine.name}: {kind}: {condition.message}")
    if bad:
        return Verdict("False", "NotHealthy", "\n".join(bad + unknown))
    if unknown:
        return Verdict("Unknown", "HealthUnknown", "\n".join(unknown))
    return Verdict("True", "Healthy")


def machines_condition(machines: Sequence[Machine], kind: str) -> Verdict:
    """MachinesReady, MachinesUpToDate: aggregates over the Machines."""
    judged = [m for m in machines if kind == "Ready" or get_condition(m.status.conditions, kind)]
    if not judged:
        return Verdict("True", "NoReplicas")
    sources = [Source("Machine", m.name, m.status.conditions) for m in judged]
    return aggregate(sources, kind, reasons=Reasons(f"Not{kind}", f"{kind}Unknown", kind))


def rolling_out(machines: Sequence[Machine]) -> Verdict:
    """RollingOut: how many Machines are not up to date, and why."""
    old = [m for m in machines if is_false(m.status.conditions, "UpToDate")]
    if not old:
        return Verdict("False", "NotRollingOut")
    lines: set[str] = set()
    for machine in old:
        condition = get_condition(machine.status.conditions, "UpToDate")
        lines.update(condition.message.split("\n") if condition else [])
    head = f"Rolling out {len(old)} not up-to-date replicas"
    return Verdict("True", "RollingOut", "\n".join([head, *sorted(filter(None, lines))]))


def scaling(scope: ControlPlaneScope, *, up: bool) -> Verdict:
    """ScalingUp, ScalingDown: what is missing or too many, and what is in the way."""
    kind = "ScalingUp" if up else "ScalingDown"
    wanted = 0 if scope.obj.deleting else scope.obj.spec.replicas
    if wanted is None:
        return Verdict("Unknown", "WaitingForReplicasSet", "Waiting for spec.replicas set")
    have = len(scope.machines)
    if (have >= wanted) if up else (have <= wanted):
        return Verdict("False", f"Not{kind}")
    lines = [f"Scaling {'up' if up else 'down'} from {have} to {wanted} replicas"]
    if scope.problems:
        lines[0] += " is blocked because:"
    return Verdict("True", kind, "\n".join([*lines, *(f"* {p}" for p in scope.problems)]))


def deleting(scope: ControlPlaneScope) -> Verdict:
    """Deleting: what the deletion waits for."""
    if not scope.obj.deleting:
        return Verdict("False", "NotDeleting")
    return Verdict("True", scope.deleting_reason, scope.deleting_message)


def available(scope: ControlPlaneScope) -> Verdict:
    """Available: initialized, certificates there, quorum, one Machine with all components."""
    if scope.obj.deleting:
        return Verdict("False", "NotAvailable", "* Control plane metadata.deletionTimestamp is set")
    if not scope.initialized:
        return Verdict("False", "NotAvailable", "* Control plane not yet initialized")
    lines: list[str] = []
    if not is_true(scope.conditions, "CertificatesAvailable"):
        lines.append("* Control plane certificates are not available")
    complete = [
        m
        for m in scope.machines
        if all(is_true(m.status.conditions, kind) for kind in POD_CONDITIONS)
    ]
    if not complete:
        lines.append("* There are no Machines with healthy control plane components")
    if scope.manages_etcd:
        healthy = count_true(scope.machines, "EtcdMemberHealthy")
        voters = (
            sum(not m.learner for m in scope.members.members)
            if scope.members
            else len(scope.machines)
        )
        needed = voters // 2 + 1
        if healthy < needed:
            lines.append(
                f"* {healthy} of {voters} etcd members are healthy, at least {needed} healthy "
                "members required for etcd quorum"
            )
    if lines:
        return Verdict("False", "NotAvailable", "\n".join(lines))
    return Verdict("True", "Available")
