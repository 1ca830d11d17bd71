"""Machines on the real API server: from their references to their Nodes and their end."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerCluster, DockerMachine
from capi_core.api.kubeadm.config import KubeadmConfig
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import NODES, PODS
from tests.support import foreign
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, running, until
from tests.support.workload import CLOUD_CONFIG, Workload, workload


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A workload cluster with core and the Docker provider at work on it."""
    async with (
        workload(server, api, runtime) as made,
        running(server, api, [CORE], runtime=runtime),
    ):
        yield made


@pytest.fixture
async def up(cluster: Workload, api: Api) -> Workload:
    """The workload cluster with a control plane Machine that runs."""
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(Machine, "cp", "Available", status="True")
    return cluster


async def node(cluster: Workload, machine: str) -> JsonObject:
    """A Machine's Node."""
    return await cluster.api.client.get(NODES, None, f"{cluster.name}-{machine}")


async def test_machine_becomes_a_running_node(up: Workload, api: Api) -> None:
    await api.condition(Machine, "cp", "NodeReady", status="True", reason="NodeReady")
    for kind, status, reason in (
        ("BootstrapConfigReady", "True", "DataSecretProvided"),
        ("InfrastructureReady", "True", "Ready"), ("NodeHealthy", "True", "NodeHealthy"),
        ("Deleting", "False", "NotDeleting"), ("Updating", "False", "NotUpdating"),
        ("Ready", "True", "Ready"), ("Available", "True", "Available"),
    ):
        await api.condition(Machine, "cp", kind, status=status, reason=reason)
    machine = await api.get(Machine, "cp")
    container = f"{up.name}-cp"
    assert machine["spec"]["providerID"] == f"docker:////{container}"
    assert machine["status"]["nodeRef"] == {"name": container}
    assert machine["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.4"
    assert machine["status"]["phase"] == "Running"
    assert machine["status"]["addresses"][0] == {"type": "Hostname", "address": container}
    owned = await api.get(DockerMachine, "cp")
    [owner] = owned["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Machine", "cp", True)
    found = await node(up, "cp")
    annotations = found["metadata"]["annotations"]
    assert annotations["cluster.x-k8s.io/machine"] == "cp"
    assert annotations["cluster.x-k8s.io/cluster-name"] == up.name
    assert annotations["cluster.x-k8s.io/cluster-namespace"] == api.namespace


async def test_nothing_is_written_when_nothing_happens(up: Workload, api: Api) -> None:
    kinds = (Cluster, DockerCluster, Machine, DockerMachine)

    async def state() -> list[JsonObject]:
        return [obj["metadata"] for kind in kinds for obj in await api.list(kind)]

    # What follows from the last event is written within a moment.
    await asyncio.sleep(0.5)
    before, node_before = await state(), (await node(up, "cp"))["metadata"]
    await asyncio.sleep(2)
    assert await state() == before
    assert (await node(up, "cp"))["metadata"]["resourceVersion"] == node_before["resourceVersion"]
    for meta in before:
        assert not any("kopf" in key for key in meta.get("annotations") or {})
        assert not any("kopf" in finalizer for finalizer in meta["finalizers"])
        assert len(meta["finalizers"]) == 1


async def test_references_to_what_comes_later_or_never_was(cluster: Workload, api: Api) -> None:
    await cluster.create_cluster()
    config = cluster.reference("KubeadmConfig", "m")
    await cluster.create(cluster.machine("m", bootstrap={"configRef": config}))
    for kind, name in (("BootstrapConfigReady", "KubeadmConfig"),
                       ("InfrastructureReady", "DockerMachine")):
        await api.condition(Machine, "m", kind, status="False", reason="ObjectDoesNotExist",
                            message=f"{name} does not exist")
    await cluster.create(cluster.object("DockerMachine", "m", {}))
    await cluster.create(cluster.object("KubeadmConfig", "m", {"format": "cloud-config"}))
    await api.condition(Machine, "m", "BootstrapConfigReady", status="False", reason="NotReady",
                        message="status.initialization.dataSecretCreated is false", timeout=3)
    await api.condition(Machine, "m", "InfrastructureReady", status="False", reason="NotReady",
                        timeout=3)
    unknown = foreign.reference(foreign.resource("NoSuchMachine"), "x")
    await cluster.create_secret("u", {"value": CLOUD_CONFIG.encode()})
    await cluster.create(cluster.machine("u", infrastructureRef=unknown))
    await api.condition(Machine, "u", "InfrastructureReady", status="Unknown",
                        reason="InternalError", message="nosuchmachines")
    await api.delete(Machine, "m")
    await api.gone(Machine, "m")
    await api.gone(KubeadmConfig, "m")


async def test_a_bootstrap_config_is_read_through_the_contract(up: Workload, api: Api) -> None:
    await up.create_machine("w", data=None)
    await api.condition(Machine, "w", "BootstrapConfigReady", status="False")
    await up.create_secret("w-data", {"value": CLOUD_CONFIG.encode()})
    done = {"initialization": {"dataSecretCreated": True}, "dataSecretName": "w-data"}
    await api.patch(KubeadmConfig, "w", {"status": done}, sub="status")
    await api.condition(Machine, "w", "BootstrapConfigReady", status="True", reason="Ready")
    await api.condition(Machine, "w", "NodeReady", status="True")
    assert (await api.get(Machine, "w"))["spec"]["bootstrap"]["dataSecretName"] == "w-data"


async def test_infrastructure_of_others_makes_a_node_too(up: Workload, api: Api) -> None:
    kind = foreign.resource("AcmeMachine")
    await foreign.install(api, kind, "v1beta1")
    await foreign.create(api, kind, "w", spec={})
    await up.create_secret("w", {"value": CLOUD_CONFIG.encode()})
    await up.create(up.machine("w", infrastructureRef=foreign.reference(kind, "w")))
    await api.condition(Machine, "w", "InfrastructureReady", status="False", reason="NotReady")
    name = f"{up.name}-acme"
    await api.patch(kind, "w", {"spec": {"providerID": f"docker:////{name}"}})
    addresses = [{"type": "InternalIP", "address": "192.0.2.9"}]
    status = {"status": {"ready": True, "addresses": addresses}}
    await api.patch(kind, "w", status, sub="status")
    await api.condition(Machine, "w", "InfrastructureReady", status="True", reason="Ready")
    await up.register(name)
    await api.condition(Machine, "w", "NodeReady", status="True")
    assert (await api.get(Machine, "w"))["status"]["addresses"] == addresses


async def test_labels_and_taints_follow_the_machine_and_others_stay(
    cluster: Workload, api: Api
) -> None:
    theirs = {"key": "theirs", "effect": "NoSchedule", "value": "x"}
    uninitialized = {"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}
    cluster.node_spec = {"taints": [theirs, uninitialized]}
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True, taints=[
        {"key": "always", "effect": "NoExecute", "propagation": "Always"},
        {"key": "once", "effect": "NoSchedule", "propagation": "OnInitialization"},
    ])
    await api.condition(Machine, "cp", "NodeReady", status="True")
    labels = {"node-role.kubernetes.io/x": "", "a.node.cluster.x-k8s.io/y": "1", "other": "2"}
    await api.patch(Machine, "cp", {"metadata": {"labels": labels}})

    async def synced(*, labelled: bool, taints: set[str]) -> bool:
        found = await node(cluster, "cp")
        have = {t["key"] for t in found["spec"].get("taints") or []}
        present = found["metadata"]["labels"]
        return (
            ("node-role.kubernetes.io/x" in present) == labelled
            and ("a.node.cluster.x-k8s.io/y" in present) == labelled
            and have - {"node.kubernetes.io/not-ready"} == taints
        )

    await until(lambda: synced(labelled=True, taints={"theirs", "always", "once"}),
                what="labels and taints")
    found = await node(cluster, "cp")
    assert "other" not in found["metadata"]["labels"]
    assert found["metadata"]["labels"]["kubernetes.io/hostname"] == f"{cluster.name}-cp"
    assert theirs in found["spec"]["taints"]
    gone: JsonObject = {"metadata": {"labels": dict.fromkeys(labels)}, "spec": {"taints": None}}
    await api.patch(Machine, "cp", gone)
    await until(lambda: synced(labelled=False, taints={"theirs", "once"}), what="their end")


async def test_the_nodes_health_is_told(up: Workload, api: Api) -> None:
    name = f"{up.name}-cp"
    await up.set_ready(name, ready=False)
    await api.condition(Machine, "cp", "NodeReady", status="False", reason="NodeNotReady",
                        message="* Node.Ready: Ready is False")
    await api.condition(Machine, "cp", "NodeHealthy", status="False", reason="NodeNotHealthy")
    await api.condition(Machine, "cp", "Available", status="False", reason="NotReady")
    await up.set_ready(name, ready=True)
    await api.condition(Machine, "cp", "Available", status="True")
    await api.client.delete(NODES, None, name)
    await api.condition(Machine, "cp", "NodeReady", status="False", reason="NodeDeleted",
                        message=f"Node {name} has been deleted")


async def test_infrastructure_that_goes_is_told(up: Workload, api: Api) -> None:
    await api.delete(DockerMachine, "cp")
    await api.condition(Machine, "cp", "InfrastructureReady", status="False",
                        reason="ObjectDeleted", message="while the Machine still exists")
    await api.delete(Machine, "cp")
    await api.gone(Machine, "cp")


async def test_min_ready_seconds(cluster: Workload, api: Api) -> None:
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True, minReadySeconds=2)
    await api.condition(Machine, "cp", "Available", status="False",
                        reason="WaitingForMinReadySeconds")
    await api.condition(Machine, "cp", "Available", status="True", reason="Available")


async def test_a_machine_is_drained_before_its_container_goes(up: Workload, api: Api) -> None:
    await up.create_machine("w")
    await api.condition(Machine, "w", "NodeReady", status="True")
    name = f"{up.name}-w"
    for pod, labels in (("app", {}), ("stays", {"cluster.x-k8s.io/drain": "skip"}),
                        ("job", {"cluster.x-k8s.io/drain": "wait-completed"})):
        container = {"name": "c", "image": "x"}
        spec = {"nodeName": name, "containers": [container], "terminationGracePeriodSeconds": 30}
        await api.create({"apiVersion": "v1", "kind": "Pod", "spec": spec,
                          "metadata": {"name": pod, "labels": labels}}, PODS)
    await api.delete(Machine, "w")
    told = await api.condition(Machine, "w", "Deleting", status="True", reason="DrainingNode",
                               message="still not removed from the Node")
    assert f"* Pods {api.namespace}/app: deletionTimestamp set" in told["message"]
    assert f"* Pods {api.namespace}/job: waiting for completion" in told["message"]
    assert (await node(up, "w"))["spec"]["unschedulable"] is True
    assert name in up.runtime.names
    path = PODS.path(api.namespace, "app")
    await api.client.request("DELETE", path, body={"gracePeriodSeconds": 0})
    await api.patch(PODS, "job", {"status": {"phase": "Succeeded"}}, sub="status")
    await api.gone(Machine, "w")
    assert name not in up.runtime.names
    assert await api.client.find(NODES, None, name) is None
    assert "deletionTimestamp" not in (await api.get(PODS, "stays"))["metadata"]


async def test_a_drain_that_takes_too_long_is_given_up(up: Workload, api: Api) -> None:
    await up.create_machine("w", deletion={"nodeDrainTimeoutSeconds": 1})
    await api.condition(Machine, "w", "NodeReady", status="True")
    spec = {"nodeName": f"{up.name}-w", "containers": [{"name": "c", "image": "x"}]}
    labels = {"cluster.x-k8s.io/drain": "wait-completed"}
    await api.create({"apiVersion": "v1", "kind": "Pod", "spec": spec,
                      "metadata": {"name": "job", "labels": labels}}, PODS)
    await api.delete(Machine, "w")
    await api.condition(Machine, "w", "Deleting", reason="DrainingNode")
    await api.gone(Machine, "w", timeout=10)


async def test_hooks_hold_the_deletion_before_drain_and_before_the_end(
    up: Workload, api: Api
) -> None:
    await up.create_machine("w")
    await api.condition(Machine, "w", "NodeReady", status="True")
    hooks = {
        "pre-drain.delete.hook.machine.cluster.x-k8s.io/a": "WaitingForPreDrainHook",
        "pre-terminate.delete.hook.machine.cluster.x-k8s.io/b": "WaitingForPreTerminateHook",
    }
    await api.patch(Machine, "w", {"metadata": {"annotations": dict.fromkeys(hooks, "")}})
    await api.delete(Machine, "w")
    for hook, reason in hooks.items():
        await api.condition(Machine, "w", "Deleting", status="True", reason=reason, message=hook)
        assert f"{up.name}-w" in up.runtime.names
        await api.patch(Machine, "w", {"metadata": {"annotations": {hook: None}}})
    await api.gone(Machine, "w")


async def test_pause(up: Workload, api: Api) -> None:
    annotation = {"cluster.x-k8s.io/paused": ""}
    await api.patch(Machine, "cp", {"metadata": {"annotations": annotation}})
    await api.condition(Machine, "cp", "Paused", status="True", reason="Paused",
                        message="Machine has the cluster.x-k8s.io/paused annotation")
    await up.set_ready(f"{up.name}-cp", ready=False)
    await api.delete(Machine, "cp")
    await asyncio.sleep(0.3)
    conditions = (await api.get(Machine, "cp"))["status"]["conditions"]
    assert {c["type"]: c["status"] for c in conditions}["NodeReady"] == "True"
    await api.patch(Machine, "cp", {"metadata": {"annotations": dict.fromkeys(annotation)}})
    await api.gone(Machine, "cp")
