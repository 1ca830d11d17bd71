"""What Clusters and Machines, and sets of Machines, say of themselves."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from capi_core.api.cluster import Cluster
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import Health
from capi_core.reconcilers.cluster import status as cluster_status
from capi_core.reconcilers.cluster.scope import ClusterScope
from capi_core.reconcilers.machine import status as machine_status
from capi_core.reconcilers.machine.scope import MachineScope
from capi_core.reconcilers.machinedeployment import status as deployment_status
from capi_core.reconcilers.machineset import status as set_status
from tests.unit.status.build import PAST, condition, external, machine

READY = Cluster.parse(
    {
        "metadata": {"name": "c"},
        "status": {
            "initialization": {"infrastructureProvisioned": True},
            "conditions": [condition("ControlPlaneInitialized", "True")],
        },
    }
)
_STATUSES = ("True", "False", "Unknown")


def of_cluster(spec: dict[str, Any] | None = None, **meta: Any) -> ClusterScope:
    """A Cluster with references to an infrastructure and a control plane."""
    refs = {
        "infrastructureRef": {"apiGroup": "g", "kind": "DockerCluster", "name": "x"},
        "controlPlaneRef": {"apiGroup": "g", "kind": "KubeadmControlPlane", "name": "x"},
    }
    obj = {"metadata": {"name": "c", **meta}, "spec": {**refs, **(spec or {})}}
    return ClusterScope(Cluster.parse(obj), None, {})


@pytest.mark.parametrize("value", _STATUSES)
@pytest.mark.parametrize("kind", ["Ready", "UpToDate"])
def test_a_clusters_machines_are_summed_up(kind: str, value: str) -> None:
    judge = cluster_status.machines_ready if kind == "Ready" else cluster_status.machines_up_to_date
    verdict = judge([machine("m", {kind: value})])
    expected = {"True": kind, "False": f"Not{kind}", "Unknown": f"{kind}Unknown"}
    assert (verdict.status, verdict.reason) == (value, expected[value])
    assert judge([]).reason == "NoReplicas"


@pytest.mark.parametrize("value", _STATUSES)
def test_workers_are_available_when_their_deployments_are(value: str) -> None:
    deployment = MachineDeployment.parse(
        {"metadata": {"name": "md"}, "status": {"conditions": [condition("Available", value)]}}
    )
    verdict = cluster_status.workers_available([deployment])
    expected = {"True": "Available", "False": "NotAvailable", "Unknown": "AvailableUnknown"}
    assert (verdict.status, verdict.reason) == (value, expected[value])
    assert cluster_status.workers_available([]).reason == "NoWorkers"


@pytest.mark.parametrize("kind", ["RollingOut", "ScalingUp", "ScalingDown"])
@pytest.mark.parametrize("value", _STATUSES)
def test_activity_is_that_of_control_plane_and_workers(kind: str, value: str) -> None:
    scope = of_cluster()
    scope.control_plane = external("KubeadmControlPlane", conditions=[condition(kind, value)])
    verdict = cluster_status.activity(scope, kind)
    expected = {"True": kind, "False": f"Not{kind}", "Unknown": f"{kind}Unknown"}
    assert (verdict.status, verdict.reason) == (value, expected[value])
    assert cluster_status.activity(of_cluster(), kind).reason == f"Not{kind}"


def test_a_reference_mirrors_its_object_or_says_that_there_is_none() -> None:
    scope = of_cluster()
    assert cluster_status.infrastructure_ready(scope).reason == "ObjectDoesNotExist"
    scope.infrastructure = external("DockerCluster", initialization={"provisioned": True})
    assert cluster_status.infrastructure_ready(scope).reason == "Ready"
    scope.infrastructure = external("DockerCluster")
    verdict = cluster_status.infrastructure_ready(scope)
    assert verdict.reason == "NotReady"
    assert "status.initialization.provisioned is false" in verdict.message
    mirrored = [condition("Ready", "False", "Broken", "no engine")]
    scope.infrastructure = external("DockerCluster", conditions=mirrored)
    verdict = cluster_status.infrastructure_ready(scope)
    assert (verdict.reason, verdict.message) == ("Broken", "no engine")
    gone = of_cluster()
    gone.obj.status.initialization.infrastructure_provisioned = True
    assert cluster_status.infrastructure_ready(gone).reason == "ObjectDeleted"
    assert "still exists" in cluster_status.infrastructure_ready(gone).message


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ("no list", "status.conditions is not a list"),
        ([1], "no object"),
        ([{"type": "Ready", "status": "Maybe"}], "condition Ready has the status 'Maybe'"),
    ],
)
def test_a_condition_that_is_none_is_told(conditions: Any, message: str) -> None:
    scope = of_cluster()
    scope.infrastructure = external("DockerCluster", conditions=conditions)
    verdict = cluster_status.infrastructure_ready(scope)
    assert (verdict.status, verdict.reason) == ("Unknown", "InvalidConditionReported")
    assert message in verdict.message
    other = of_machine()
    other.infrastructure = external("DockerMachine", conditions=conditions)
    verdict = machine_status.infrastructure_ready(other)
    assert (verdict.status, verdict.reason) == ("Unknown", "InvalidConditionReported")


def test_a_cluster_whose_conditions_are_unknown_is_not_known_to_be_available() -> None:
    scope = of_cluster()
    scope.conditions[:] = []
    good = ("RemoteConnectionProbe", "InfrastructureReady", "ControlPlaneAvailable")
    for kind in (*good, "WorkersAvailable"):
        scope.set(kind, cluster_status.Verdict("Unknown", "R", "why"))
    scope.set("Deleting", cluster_status.Verdict("False", "NotDeleting"))
    verdict = cluster_status.available(scope)
    assert (verdict.status, verdict.reason) == ("Unknown", "AvailableUnknown")


def of_machine(node: JsonObject | None = None, **changes: Any) -> MachineScope:
    """A Machine in a cluster that is ready for it."""
    scope = MachineScope(machine(**changes), READY, {})
    scope.node = node
    return scope


def node(**conditions: str) -> JsonObject:
    """A Node with conditions of these statuses, the pressures False."""
    given = {"MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
    found = [{"type": k, "status": v, "message": f"{k} is {v}"} for k, v in
             {**given, **conditions}.items()]
    return {"metadata": {"name": "n"}, "status": {"conditions": found}}


FRESH = Health(last_success=datetime.now(UTC))
STALE = Health(last_success=datetime.now(UTC) - timedelta(seconds=900))


@pytest.mark.parametrize(
    ("seen", "ready", "healthy"),
    [
        (node(Ready="True"), "NodeReady", "NodeHealthy"),
        (node(Ready="False"), "NodeNotReady", "NodeNotHealthy"),
        (node(Ready="Unknown"), "NodeReadyUnknown", "NodeHealthyUnknown"),
        (node(), "NodeReadyUnknown", "NodeHealthyUnknown"),
        (node(Ready="True", DiskPressure="True"), "NodeReady", "NodeNotHealthy"),
    ],
)
def test_a_machine_says_how_its_node_is(seen: JsonObject, ready: str, healthy: str) -> None:
    first, second = machine_status.node_conditions(of_machine(seen), FRESH, 300.0)
    assert (first.reason, second.reason) == (ready, healthy)


def test_a_machine_without_a_node_says_what_it_waits_for() -> None:
    def reason(scope: MachineScope, health: Health = FRESH) -> tuple[str, str]:
        verdict, _ = machine_status.node_conditions(scope, health, 300.0)
        return verdict.reason, verdict.message

    early = MachineScope(machine(), Cluster.parse({"metadata": {"name": "c"}}), {})
    assert reason(early)[0] == "InspectionFailed"
    assert "infrastructureProvisioned" in reason(early)[1]
    assert reason(of_machine(), Health())[0] == "ConnectionDown"
    assert reason(of_machine(), STALE)[0] == "ConnectionDown"
    assert "Last successful probe" in reason(of_machine(), STALE)[1]
    assert "Waiting for DockerMachine to report" in reason(of_machine())[1]
    bound = {"providerID": "docker:////m"}
    assert "Waiting for a Node with spec.providerID docker:////m" in reason(
        of_machine(spec=bound)
    )[1]
    lost = of_machine(spec=bound, nodeRef={"name": "n"})
    lost.node_gone = True
    assert reason(lost) == ("NodeDeleted", "Node n has been deleted")


def test_ready_is_the_summary_and_available_follows_in_time() -> None:
    kinds = ("BootstrapConfigReady", "InfrastructureReady", "NodeHealthy")
    good = {**dict.fromkeys(kinds, "True"), "Deleting": "False", "Updating": "False"}
    for value, reason in (("True", "Ready"), ("False", "NotReady"), ("Unknown", "ReadyUnknown")):
        scope = of_machine(conditions={**good, "NodeHealthy": value})
        assert machine_status.ready_summary(scope).reason == reason
    waiting = of_machine(conditions={"Ready": "True"}, spec={"minReadySeconds": 10**9})
    assert machine_status.available(waiting).reason == "WaitingForMinReadySeconds"
    assert waiting.requeue
    assert machine_status.available(of_machine(conditions={"Ready": "True"})).reason == "Available"
    assert machine_status.available(of_machine()).reason == "NotReady"


def test_a_machine_is_up_to_date_with_its_deployment() -> None:
    template = {"spec": {"clusterName": "c", "version": "v1.34.4"}}
    scope = of_machine()
    scope.machine_set = MachineSet.parse({"spec": {"template": template}})
    scope.machine_deployment = MachineDeployment.parse({"spec": {"template": template}})
    assert machine_status.up_to_date(scope).reason == "UpToDate"
    scope.machine_deployment.spec.rollout.after = "2026-01-02T00:00:00Z"
    verdict = machine_status.up_to_date(scope)
    assert (verdict.status, verdict.reason) == ("False", "NotUpToDate")
    assert "rollout.after" in verdict.message
    scope.machine_deployment.spec.rollout.after = None
    scope.machine_deployment.spec.template.spec.version = "v1.35.0"
    assert "Version v1.34.4, v1.35.0 required" in machine_status.up_to_date(scope).message


@pytest.mark.parametrize(
    "reason",
    ["WaitingForPreDrainHook", "DrainingNode", "WaitingForVolumeDetach", "DeletingNode",
     "WaitingForBootstrapDeletion", "WaitingForInfrastructureDeletion", "DeletionCompleted"],
)
def test_a_deletion_tells_its_stage(reason: str) -> None:
    scope = of_machine()
    assert machine_status.deleting(scope).reason == "NotDeleting"
    scope.obj.metadata.deletion_timestamp = PAST
    scope.deleting_reason, scope.deleting_message = reason, "why"
    verdict = machine_status.deleting(scope)
    assert (verdict.status, verdict.reason, verdict.message) == ("True", reason, "why")


@pytest.mark.parametrize("kind", ["Ready", "UpToDate"])
@pytest.mark.parametrize("value", _STATUSES)
def test_a_sets_machines_are_summed_up(kind: str, value: str) -> None:
    verdict = set_status.machines_condition([machine("m", {kind: value})], kind)
    expected = {"True": kind, "False": f"Not{kind}", "Unknown": f"{kind}Unknown"}
    assert (verdict.status, verdict.reason) == (value, expected[value])


def test_scaling_waits_for_a_number() -> None:
    bare = MachineSet.parse({"metadata": {"name": "s"}})
    assert set_status.scaling_up(bare, [], []).reason == "WaitingForReplicasSet"
    assert set_status.scaling_down(bare, []).reason == "WaitingForReplicasSet"
    deployment = MachineDeployment.parse({"metadata": {"name": "d"}})
    assert deployment_status.scaling_up(deployment, []).reason == "WaitingForReplicasSet"
    assert deployment_status.scaling_down(deployment).reason == "WaitingForReplicasSet"
    verdict = deployment_status.available(deployment)
    assert (verdict.status, verdict.reason) == ("Unknown", "WaitingForReplicasSet")


def test_scaling_says_from_what_to_what_and_what_blocks_it() -> None:
    wanted = MachineSet.parse({"metadata": {"name": "s"}, "spec": {"replicas": 2}})
    verdict = set_status.scaling_up(wanted, [machine()], ["no template"])
    assert verdict.message == "Scaling up from 1 to 2 replicas is blocked because:\n* no template"
    many = [machine(str(n)) for n in range(3)]
    assert set_status.scaling_down(wanted, many).message == "Scaling down from 3 to 2 replicas"
    assert set_status.scaling_up(wanted, many, []).reason == "NotScalingUp"
    assert set_status.deleting(True, 2).message == "Deleting 2 Machines"
    assert set_status.deleting(False, 2).reason == "NotDeleting"
