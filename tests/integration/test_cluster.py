"""Clusters on the real API server: references, kubeconfig, conditions, ordered deletion."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.cluster import Cluster
from capi_core.api.controlplane import KubeadmControlPlane
from capi_core.api.docker import DockerCluster
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.contract.secrets import SECRETS, secret_data
from capi_core.runtime.access import parse_kubeconfig
from capi_core.runtime.client import Client
from tests.support import foreign
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, running, until
from tests.support.workload import Workload, workload

HOLD = "example.com/hold"


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A workload cluster with core and the Docker provider at work on it."""
    async with (
        workload(server, api, runtime) as made,
        running(server, api, [CORE], runtime=runtime),
    ):
        yield made


async def phase(api: Api, name: str, wanted: str) -> None:
    """Wait for a phase."""

    async def look() -> bool:
        return (await api.get(Cluster, name)).get("status", {}).get("phase") == wanted

    await until(look, what=f"{name} to be {wanted}")


def held(obj: dict[str, Any]) -> dict[str, Any]:
    """The object, which the test lets go when it likes."""
    obj["metadata"]["finalizers"] = [HOLD]
    return obj


async def test_a_cluster_is_provisioned_connected_and_available(
    cluster: Workload, api: Api
) -> None:
    await cluster.create_cluster()
    await phase(api, cluster.name, "Provisioned")
    for kind, status, reason in (
        ("InfrastructureReady", "True", "Ready"),
        ("RemoteConnectionProbe", "True", "ProbeSucceeded"),
        ("ControlPlaneInitialized", "False", "NotInitialized"),
        ("ControlPlaneAvailable", "False", "NotAvailable"),
        ("WorkersAvailable", "True", "NoWorkers"),
        ("ControlPlaneMachinesReady", "True", "NoReplicas"),
        ("WorkerMachinesReady", "True", "NoReplicas"),
        ("ControlPlaneMachinesUpToDate", "True", "NoReplicas"),
        ("WorkerMachinesUpToDate", "True", "NoReplicas"),
        ("RollingOut", "False", "NotRollingOut"),
        ("ScalingUp", "False", "NotScalingUp"),
        ("ScalingDown", "False", "NotScalingDown"),
        ("Remediating", "False", "NotRemediating"),
        ("Deleting", "False", "NotDeleting"),
        ("Available", "False", "NotAvailable"),
    ):
        await api.condition(Cluster, cluster.name, kind, status=status, reason=reason)
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(Cluster, cluster.name, "ControlPlaneInitialized", status="True",
                        reason="Initialized")
    await api.condition(Cluster, cluster.name, "Available", status="True", reason="Available")
    await api.condition(Cluster, cluster.name, "ControlPlaneMachinesReady", status="True",
                        reason="Ready")
    found = await api.get(Cluster, cluster.name)
    assert found["spec"]["controlPlaneEndpoint"] == cluster.endpoint
    assert found["status"]["initialization"] == {
        "infrastructureProvisioned": True, "controlPlaneInitialized": True
    }
    assert found["status"]["controlPlane"]["readyReplicas"] == 1
    owned = await api.get(DockerCluster, cluster.name)
    [owner] = owned["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner.get("controller")) == (
        "Cluster", cluster.name, None
    )


async def test_the_kubeconfig_is_written_once_the_ca_is_there(
    server: ApiServer, api: Api, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capi_core.reconcilers.cluster.kubeconfig._CA_MISSING_SECONDS", 0.1)
    late = Workload(server, api, runtime, "late")
    async with running(server, api, [CORE], runtime=runtime):
        await late.create_cluster()
        await api.condition(Cluster, "late", "InfrastructureReady", status="True")
        await api.condition(Cluster, "late", "RemoteConnectionProbe", status="False",
                            reason="ProbeFailed")
        await late.create_ca()
        await api.condition(Cluster, "late", "RemoteConnectionProbe", status="True")
        secret = await api.get(SECRETS, "late-kubeconfig")
        assert secret["type"] == "cluster.x-k8s.io/secret"
        assert secret["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "late"}
        assert secret["metadata"]["ownerReferences"][0]["kind"] == "Cluster"
        access = parse_kubeconfig(secret_data(secret)["value"].decode())
        client = Client(access, user_agent="tests")
        assert await client.request("GET", "/readyz") == "ok"
        await client.close()


async def test_a_reference_to_an_unknown_kind_is_told_and_awaited(
    cluster: Workload, api: Api
) -> None:
    late = foreign.resource("LateCluster")
    await cluster.create(cluster.cluster(infrastructureRef=foreign.reference(late, "x")))
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="Unknown",
                        reason="InternalError", message="lateclusters.infrastructure.example.com")
    await foreign.install(api, late, "")
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="Unknown",
                        reason="InternalError", message="has no label")
    await foreign.install(api, late, "v1beta2")
    await foreign.create(api, late, "x", status={"initialization": {"provisioned": True}})
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")


async def test_a_reference_to_what_comes_later_is_acted_on_at_once(
    cluster: Workload, api: Api
) -> None:
    await cluster.create(cluster.cluster())
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="False",
                        reason="ObjectDoesNotExist", message="DockerCluster does not exist")
    await phase(api, cluster.name, "Provisioning")
    await cluster.create(cluster.docker_cluster())
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True", timeout=3)


async def test_infrastructure_that_goes_is_told(cluster: Workload, api: Api) -> None:
    await cluster.create_cluster()
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    await api.delete(DockerCluster, cluster.name)
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="False",
                        reason="ObjectDeleted",
                        message="DockerCluster has been deleted while the cluster still exists")
    await phase(api, cluster.name, "Provisioned")


@pytest.mark.parametrize(
    ("contract", "done", "domains"),
    [
        ("v1beta2", {"initialization": {"provisioned": True}}, [{"name": "a"}]),
        ("v1beta1", {"ready": True}, {"a": {}}),
    ],
)
async def test_infrastructure_of_others_is_read_through_the_contract(
    cluster: Workload, api: Api, contract: str, done: dict[str, Any], domains: object
) -> None:
    kind = foreign.resource(f"Acme{contract.title()}Cluster")
    await foreign.install(api, kind, contract)
    spec = {"controlPlaneEndpoint": cluster.endpoint, "theirs": {"deep": [1]}}
    await foreign.create(api, kind, "x", spec=spec)
    await cluster.create(cluster.cluster(infrastructureRef=foreign.reference(kind, "x")))
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="False",
                        reason="NotReady",
                        message=f"{kind.kind} status.initialization.provisioned is false")
    await api.patch(kind, "x", {"status": {**done, "failureDomains": domains}}, sub="status")
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    # Its own condition is what users see, in the words of either generation.
    told = {"type": "Ready", "status": "False", "reason": "Flood", "message": "water"}
    await api.patch(kind, "x", {"status": {"conditions": [told]}}, sub="status")
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="False",
                        reason="Flood", message="water")
    found = await api.get(Cluster, cluster.name)
    assert found["spec"]["controlPlaneEndpoint"] == cluster.endpoint
    assert found["status"]["failureDomains"] == [{"name": "a"}]
    assert (await api.get(kind, "x"))["spec"] == spec


@pytest.mark.parametrize(
    ("contract", "done"),
    [
        ("v1beta2", {"initialization": {"controlPlaneInitialized": True}}),
        ("v1beta1", {"initialized": True}),
    ],
)
async def test_control_planes_of_others_are_read_through_the_contract(
    cluster: Workload, api: Api, contract: str, done: dict[str, Any]
) -> None:
    kind = foreign.resource(f"Acme{contract.title()}ControlPlane")
    await foreign.install(api, kind, contract)
    await foreign.create(api, kind, "x", spec={"replicas": 3, "version": "v1.34.4"})
    await cluster.create_cluster(controlPlaneRef=foreign.reference(kind, "x"))
    await api.condition(Cluster, cluster.name, "ControlPlaneInitialized", status="False",
                        reason="NotInitialized", message="Control plane not yet initialized")
    counters = {"replicas": 3, "readyReplicas": 2}
    await api.patch(kind, "x", {"status": {**done, **counters}}, sub="status")
    await api.condition(Cluster, cluster.name, "ControlPlaneInitialized", status="True")
    found = await api.get(Cluster, cluster.name)
    assert found["status"]["controlPlane"]["desiredReplicas"] == 3
    assert found["status"]["controlPlane"]["readyReplicas"] == 2


async def test_without_infrastructure_a_cluster_is_provisioned_at_once(
    cluster: Workload, api: Api
) -> None:
    spec: dict[str, Any] = {"controlPlaneEndpoint": cluster.endpoint}
    await cluster.create(cluster.object("Cluster", cluster.name, spec))
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    await phase(api, cluster.name, "Provisioned")
    await api.condition(Cluster, cluster.name, "RemoteConnectionProbe", status="True")


async def test_deletion_takes_workers_then_control_plane_then_infrastructure(
    cluster: Workload, api: Api
) -> None:
    machines = {"infrastructureRef": cluster.reference("DockerMachineTemplate", "t")}
    control_plane = {
        "replicas": 1, "version": "v1.34.4", "machineTemplate": {"spec": machines},
        "kubeadmConfigSpec": {"format": "cloud-config"},
    }
    await cluster.create(held(cluster.object("KubeadmControlPlane", "cp", control_plane)))
    await cluster.create(held(cluster.docker_cluster()))
    await cluster.create(
        cluster.cluster(controlPlaneRef=cluster.reference("KubeadmControlPlane", "cp"))
    )
    deployment = {
        "clusterName": cluster.name, "replicas": 0, "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"clusterName": cluster.name, "bootstrap": {"dataSecretName": "x"}, **machines},
        },
    }
    await cluster.create(held(cluster.object("MachineDeployment", "md", deployment)))
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")

    async def owned() -> bool:
        return bool((await api.get(MachineDeployment, "md"))["metadata"].get("ownerReferences"))

    await until(owned, what="the MachineDeployment to be owned")
    await api.delete(Cluster, cluster.name)
    order = [
        (MachineDeployment, "md", "WaitingForWorkersDeletion", "* MachineDeployments: md"),
        (KubeadmControlPlane, "cp", "WaitingForControlPlaneDeletion", "* KubeadmControlPlane: cp"),
        (DockerCluster, cluster.name, "WaitingForInfrastructureDeletion", "* DockerCluster: "),
    ]
    for number, (kind, name, reason, message) in enumerate(order):
        await api.condition(Cluster, cluster.name, "Deleting", status="True", reason=reason,
                            message=message)
        await phase(api, cluster.name, "Deleting")
        for later, later_name, *_ in order[number + 1 :]:
            meta = (await api.get(later, later_name))["metadata"]
            assert "deletionTimestamp" not in meta, f"{later_name} went too early"

        async def only_held(kind: Any = kind, name: str = name) -> bool:
            meta = (await api.get(kind, name))["metadata"]
            return bool(meta.get("deletionTimestamp")) and HOLD in meta["finalizers"]

        await until(only_held, what=f"{name} to be deleted")
        finalizers = (await api.get(kind, name))["metadata"]["finalizers"]
        finalizers.remove(HOLD)
        await api.patch(kind, name, {"metadata": {"finalizers": finalizers}})
    await api.gone(Cluster, cluster.name)
    assert cluster.runtime.names == []


async def test_a_cluster_whose_references_never_were_goes_at_once(
    cluster: Workload, api: Api
) -> None:
    await cluster.create(cluster.cluster())
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="False",
                        reason="ObjectDoesNotExist")
    await api.delete(Cluster, cluster.name)
    await api.gone(Cluster, cluster.name, timeout=5)


async def test_a_cluster_whose_kind_of_infrastructure_is_not_served_can_go(
    cluster: Workload, api: Api
) -> None:
    gone = foreign.resource("GoneCluster")
    await cluster.create(cluster.cluster(infrastructureRef=foreign.reference(gone, "x")))
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="Unknown")
    await api.delete(Cluster, cluster.name)
    await api.condition(Cluster, cluster.name, "Deleting", status="True", reason="InternalError",
                        message="Please check controller logs")
    await foreign.install(api, gone, "v1beta2")
    await api.gone(Cluster, cluster.name)


async def test_pause(cluster: Workload, api: Api) -> None:
    await cluster.create(cluster.docker_cluster())
    await cluster.create(cluster.cluster(paused=True))
    await api.condition(Cluster, cluster.name, "Paused", status="True", reason="Paused",
                        message="Cluster spec.paused is set to true")
    found = await api.get(Cluster, cluster.name)
    assert "finalizers" not in found["metadata"]
    assert "ownerReferences" not in (await api.get(DockerCluster, cluster.name))["metadata"]
    await api.patch(Cluster, cluster.name, {"spec": {"paused": False}})
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    await api.condition(Cluster, cluster.name, "Paused", status="False", reason="NotPaused")
