"""What a KubeadmControlPlane and its Machines say of pods, etcd, Nodes, and of themselves."""

from typing import Any

import pytest

from capi_controlplane.etcd import Member, MemberList
from capi_controlplane.health import (
    machine_verdicts,
    member_verdict,
    node_verdict,
    pod_verdict,
)
from capi_controlplane.scope import POD_CONDITIONS, ControlPlaneScope
from capi_controlplane.status import (
    available,
    certificates_available,
    components_healthy,
    deleting,
    machines_condition,
    scaling,
)
from capi_core.api.cluster import Cluster
from capi_core.api.controlplane import KubeadmControlPlane
from capi_core.api.meta import JsonObject
from tests.unit.status.build import condition, machine

_ROLE = "node-role.kubernetes.io/control-plane"
ALL = dict.fromkeys((*POD_CONDITIONS, "EtcdPodHealthy", "EtcdMemberHealthy"), "True")


def scope(
    *machines: Any, initialized: bool = True, spec: dict[str, Any] | None = None, **meta: Any
) -> ControlPlaneScope:
    """A control plane with these Machines."""
    found = [condition("Initialized", "True")] if initialized else []
    found.append(condition("CertificatesAvailable", "True"))
    obj = KubeadmControlPlane.parse(
        {
            "metadata": {"name": "cp", "namespace": "n", **meta},
            "spec": {"replicas": 1, "version": "v1.34.4", **(spec or {})},
            "status": {"conditions": found},
        }
    )
    result = ControlPlaneScope(obj, Cluster.parse({"metadata": {"name": "c"}}), {})
    result.machines = list(machines)
    return result


def pod(**status: Any) -> JsonObject:
    """A static Pod's mirror."""
    return {"metadata": {"name": "p"}, "status": status}


@pytest.mark.parametrize(
    ("mirror", "status", "reason", "message"),
    [
        (None, "False", "DoesNotExist", ""),
        ({"metadata": {"deletionTimestamp": "x"}}, "False", "Deleting", ""),
        (pod(conditions=[{"type": "Ready", "status": "True"}]), "True", "Running", ""),
        (pod(phase="Pending"), "False", "Provisioning", "Waiting to be ready"),
        (pod(phase="Failed"), "False", "Failed", "terminated"),
        (
            pod(
                containerStatuses=[
                    {
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": {"terminated": {"exitCode": 1}},
                    }
                ]
            ),
            "False",
            "Failed",
            "CrashLoopBackOff",
        ),
        (
            pod(containerStatuses=[{"state": {"terminated": {"reason": "Error"}}}]),
            "False",
            "Failed",
            "Error",
        ),
    ],
)
def test_a_static_pod_is_judged_by_its_mirror(
    mirror: JsonObject | None, status: str, reason: str, message: str
) -> None:
    verdict = pod_verdict(mirror)
    assert (verdict.status, verdict.reason) == (status, reason)
    assert message in verdict.message


def members(*alarms: tuple[str, str], learner: bool = False) -> MemberList:
    """etcd's own list, with the member of Node node."""
    return MemberList((Member("1", "node", learner),), alarms)


def test_an_etcd_member_is_judged_by_etcds_own_list() -> None:
    asked = scope()
    asked.etcd_error = "no route"
    assert member_verdict(asked, "node").reason == "InspectionFailed"
    assert member_verdict(asked, "node").message == "no route"
    asked.members = members()
    assert member_verdict(asked, "node").reason == "Healthy"
    assert member_verdict(asked, "other").reason == "NotHealthy"
    asked.members = members(("1", "NOSPACE"))
    assert "NOSPACE" in member_verdict(asked, "node").message
    asked.members = members(learner=True)
    assert "learner" in member_verdict(asked, "node").message


def test_a_node_needs_kubeadms_label_and_taint() -> None:
    taint = {"key": _ROLE, "effect": "NoSchedule"}
    good: JsonObject = {"metadata": {"labels": {_ROLE: ""}}, "spec": {"taints": [taint]}}
    assert node_verdict(scope(), good, "n").reason == "Set"
    assert node_verdict(scope(), None, "n").reason == "InspectionFailed"
    bare: JsonObject = {"metadata": {}, "spec": {}}
    verdict = node_verdict(scope(), bare, "n")
    assert (verdict.status, verdict.reason) == ("False", "NotSet")
    assert "label" in verdict.message
    assert "taint" in verdict.message
    untainted = {"initConfiguration": {"nodeRegistration": {"taints": []}}}
    tolerant = scope(spec={"kubeadmConfigSpec": untainted})
    labelled: JsonObject = {"metadata": {"labels": {_ROLE: ""}}, "spec": {}}
    assert node_verdict(tolerant, labelled, "n").reason == "Set"


def test_without_a_connection_the_last_verdict_is_kept() -> None:
    fresh = machine_verdicts(scope(), machine())
    assert {v.reason for v in fresh.values()} == {"ConnectionDown"}
    known = machine(conditions={"APIServerPodHealthy": "True"})
    assert machine_verdicts(scope(), known)["APIServerPodHealthy"].status == "True"
    leaving = machine()
    leaving.metadata.deletion_timestamp = "2026-01-01T00:00:00Z"
    assert {v.reason for v in machine_verdicts(scope(), leaving).values()} == {"Deleting"}


@pytest.mark.parametrize(
    ("initialized", "conditions", "status", "reason"),
    [
        (False, ALL, "Unknown", "InspectionFailed"),
        (True, ALL, "True", "Healthy"),
        (True, {**ALL, "APIServerPodHealthy": "False"}, "False", "NotHealthy"),
        (True, {**ALL, "APIServerPodHealthy": "Unknown"}, "Unknown", "HealthUnknown"),
        (True, {}, "Unknown", "HealthUnknown"),
    ],
)
def test_components_are_healthy_when_all_are(
    initialized: bool, conditions: dict[str, str], status: str, reason: str
) -> None:
    found = scope(machine("m", conditions), initialized=initialized)
    verdict = components_healthy(found, POD_CONDITIONS)
    assert (verdict.status, verdict.reason) == (status, reason)


@pytest.mark.parametrize("kind", ["Ready", "UpToDate"])
@pytest.mark.parametrize("value", ["True", "False", "Unknown"])
def test_machines_are_summed_up(kind: str, value: str) -> None:
    verdict = machines_condition([machine("m", {kind: value})], kind)
    reasons = {"True": kind, "False": f"Not{kind}", "Unknown": f"{kind}Unknown"}
    assert (verdict.status, verdict.reason) == (value, reasons[value])
    assert machines_condition([], kind).reason == "NoReplicas"


def test_scaling_waits_for_a_number_then_says_what_is_in_the_way() -> None:
    unset = scope(spec={"replicas": None})
    assert scaling(unset, up=True).reason == "WaitingForReplicasSet"
    assert scaling(unset, up=False).reason == "WaitingForReplicasSet"
    wanted = scope(spec={"replicas": 3})
    wanted.problems = ["no template"]
    verdict = scaling(wanted, up=True)
    assert (verdict.status, verdict.reason) == ("True", "ScalingUp")
    assert verdict.message == "Scaling up from 0 to 3 replicas is blocked because:\n* no template"
    assert scaling(wanted, up=False).reason == "NotScalingDown"
    many = scope(machine("a"), machine("b"))
    assert scaling(many, up=False).reason == "ScalingDown"
    assert scaling(many, up=True).reason == "NotScalingUp"


def test_deletion_tells_its_stage() -> None:
    assert deleting(scope()).reason == "NotDeleting"
    for reason in ("WaitingForWorkersDeletion", "WaitingForMachineDeletion", "DeletionCompleted"):
        going = scope(deletionTimestamp="2026-01-01T00:00:00Z")
        going.deleting_reason = reason
        assert (deleting(going).status, deleting(going).reason) == ("True", reason)
        assert available(going).reason == "NotAvailable"


def test_certificates_are_available_missing_or_unreadable() -> None:
    missing = scope()
    missing.missing_certificates = ["etcd", "ca"]
    assert certificates_available(missing).reason == "NotAvailable"
    assert certificates_available(missing).message == "Missing certificates: ca, etcd"
    broken = scope()
    broken.certificates_problem = "Secret x has no key tls.crt"
    verdict = certificates_available(broken)
    assert (verdict.status, verdict.reason) == ("False", "InternalError")
    checked = scope()
    checked.certificates_checked = True
    assert certificates_available(checked).reason == "Available"


def test_available_needs_components_and_a_quorum_of_etcd() -> None:
    assert available(scope(machine("m", ALL))).reason == "Available"
    assert "not yet initialized" in available(scope(initialized=False)).message
    ill = available(scope(machine("m", {**ALL, "SchedulerPodHealthy": "False"})))
    assert "no Machines with healthy control plane components" in ill.message
    lone = scope(
        machine("a", ALL),
        machine("b", {**ALL, "EtcdMemberHealthy": "False"}),
        machine("c", {**ALL, "EtcdMemberHealthy": "False"}),
    )
    assert "1 of 3 etcd members are healthy, at least 2" in available(lone).message
