"""KubeadmConfigs on a real API server: who initializes, who joins, what is awaited."""

import json
from collections.abc import AsyncIterator

import pytest
import yaml

from capd_py.cloudinit.document import parse
from capd_py.container.fake import FakeRuntime
from capi_core.api.cluster import Cluster
from capi_core.api.kubeadm import KubeadmConfig
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import CONFIG_MAPS
from capi_core.contract.secrets import SECRETS, secret_data
from capi_core.runtime.errors import NotFound
from tests.support.apiserver import ApiServer
from tests.support.cluster import BOOTSTRAP, CORE, Api, running, until
from tests.support.kubeadm import bootstrap_data, create_config, make_certificates
from tests.support.workload import Workload, workload

_SPEC: JsonObject = {"clusterConfiguration": {"imageRepository": "example"}}


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A cluster without a control plane provider: somebody else made its certificates."""
    async with workload(server, api, runtime) as found:
        found.registers = False
        await make_certificates(found, "etcd", "proxy", "sa")
        async with running(server, api, [CORE, BOOTSTRAP], runtime=runtime):
            yield found


async def initialize(cluster: Workload) -> None:
    """Let core find the control plane initialized: one of its Machines has a Node."""
    await cluster.register(f"{cluster.name}-cp")
    await cluster.api.condition(Cluster, cluster.name, "ControlPlaneInitialized", status="True")


def kubeadm_documents(data: str, path: str) -> dict[str, JsonObject]:
    """kubeadm's configuration in a bootstrap document, by kind."""
    files = {file.path: file.content for file in parse(data, {}).files}
    return {doc["kind"]: doc for doc in yaml.safe_load_all(files[path]) if doc}


async def waits(cluster: Workload, name: str, message: str) -> None:
    """DataSecretAvailable says what is awaited."""
    await cluster.api.condition(
        KubeadmConfig, name, "DataSecretAvailable", status="False", reason="NotAvailable",
        message=message,
    )


async def available(cluster: Workload, name: str) -> JsonObject:
    """The bootstrap data is there; returns the KubeadmConfig."""
    await cluster.api.condition(
        KubeadmConfig, name, "DataSecretAvailable", status="True", reason="Available"
    )
    return await cluster.api.get(KubeadmConfig, name)


async def test_nothing_is_written_before_the_infrastructure_is_there(cluster: Workload) -> None:
    await cluster.create(cluster.cluster())
    await create_config(cluster, "cp", _SPEC, control_plane=True)
    await waits(cluster, "cp", "infrastructureProvisioned")
    await cluster.create(cluster.docker_cluster())
    await available(cluster, "cp")


async def test_the_first_control_plane_machine_initializes(cluster: Workload) -> None:
    await cluster.create_cluster(
        clusterNetwork={"pods": {"cidrBlocks": ["10.0.0.0/16"]}, "serviceDomain": "example"}
    )
    await create_config(cluster, "cp", _SPEC, control_plane=True)
    config = await available(cluster, "cp")
    assert config["status"]["dataSecretName"] == "cp"
    assert config["status"]["initialization"] == {"dataSecretCreated": True}
    data = await bootstrap_data(cluster, "cp")
    documents = kubeadm_documents(data, "/run/kubeadm/kubeadm.yaml")
    configuration = documents["ClusterConfiguration"]
    assert configuration["apiVersion"] == "kubeadm.k8s.io/v1beta4"
    assert configuration["clusterName"] == cluster.name
    assert configuration["imageRepository"] == "example"
    assert configuration["controlPlaneEndpoint"] == f"localhost:{cluster.server.port}"
    assert configuration["networking"] == {"dnsDomain": "example", "podSubnet": "10.0.0.0/16"}
    assert "InitConfiguration" in documents
    paths = {file.path: file.mode for file in parse(data, {}).files}
    assert paths["/etc/kubernetes/pki/ca.key"] == 0o600
    assert paths["/etc/kubernetes/pki/etcd/ca.crt"] == 0o640

    async def bound() -> bool:
        machine = await cluster.api.get(Machine, "cp")
        return machine["spec"]["bootstrap"].get("dataSecretName") == "cp"

    await until(bound, what="the Machine to name the Secret")


async def test_one_initializes_the_other_waits_for_the_lock(cluster: Workload) -> None:
    await cluster.create_cluster()
    await create_config(cluster, "cp", _SPEC, control_plane=True)
    await available(cluster, "cp")
    lock = await cluster.api.get(CONFIG_MAPS, f"{cluster.name}-lock")
    assert json.loads(lock["data"]["lock-information"]) == {"machineName": "cp"}
    await create_config(cluster, "cp2", _SPEC, control_plane=True)
    await waits(cluster, "cp2", "init lock")


async def test_a_lock_of_nobody_is_taken_over(cluster: Workload) -> None:
    body: JsonObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{cluster.name}-lock"},
        "data": {"lock-information": '{"machineName": "gone"}'},
    }
    await cluster.api.create(body, CONFIG_MAPS)
    await cluster.create_cluster()
    await create_config(cluster, "cp", _SPEC, control_plane=True)
    await available(cluster, "cp")
    lock = await cluster.api.get(CONFIG_MAPS, f"{cluster.name}-lock")
    assert json.loads(lock["data"]["lock-information"]) == {"machineName": "cp"}


async def test_workers_join_once_the_control_plane_is_initialized(cluster: Workload) -> None:
    await cluster.create_cluster(controlPlaneEndpoint=cluster.endpoint)
    await create_config(cluster, "w", {"joinConfiguration": {"nodeRegistration": {"name": "w"}}})
    await waits(cluster, "w", "control plane to be initialized")
    await create_config(cluster, "cp", _SPEC, control_plane=True)
    await available(cluster, "cp")
    await initialize(cluster)
    await available(cluster, "w")
    data = await bootstrap_data(cluster, "w")
    join = kubeadm_documents(data, "/run/kubeadm/kubeadm-join-config.yaml")["JoinConfiguration"]
    discovery = join["discovery"]["bootstrapToken"]
    assert discovery["apiServerEndpoint"] == f"localhost:{cluster.server.port}"
    assert discovery["caCertHashes"][0].startswith("sha256:")
    assert join["nodeRegistration"]["taints"][0]["key"] == "node.cluster.x-k8s.io/uninitialized"
    identifier, _, secret = discovery["token"].partition(".")
    stored = await cluster.api.client.get(SECRETS, "kube-system", f"bootstrap-token-{identifier}")
    assert stored["type"] == "bootstrap.kubernetes.io/token"
    assert secret_data(stored)["token-secret"].decode() == secret
    config = await cluster.api.get(KubeadmConfig, "w")
    assert secret not in json.dumps(config)
    # The lock is of no use any more.
    async def released() -> bool:
        try:
            await cluster.api.get(CONFIG_MAPS, f"{cluster.name}-lock")
        except NotFound:
            return True
        return False

    await until(released, what="the init lock to be released")


async def test_missing_certificates_are_awaited(
    server: ApiServer, api: Api, runtime: FakeRuntime
) -> None:
    async with (
        workload(server, api, runtime) as cluster,
        running(server, api, [CORE, BOOTSTRAP], runtime=runtime),
    ):
        ref = {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane",
               "name": "later"}
        await cluster.create_cluster(controlPlaneRef=ref)
        await create_config(cluster, "cp", _SPEC, control_plane=True)
        await waits(cluster, "cp", f"{cluster.name}-etcd")


async def test_a_files_secret_that_is_missing_then_lacks_its_key_then_is_good(
    cluster: Workload,
) -> None:
    source = {"secret": {"name": "content", "key": "file"}}
    spec = {**_SPEC, "files": [{"path": "/etc/a", "contentFrom": source}]}
    await cluster.create_cluster()
    await create_config(cluster, "cp", spec, control_plane=True)
    await waits(cluster, "cp", "/content does not exist")
    await cluster.create_secret("content", {"other": b"x"})
    await waits(cluster, "cp", "/content has no key file")
    await cluster.api.patch(SECRETS, "content", {"stringData": {"file": "good"}})
    await available(cluster, "cp")
    data = await bootstrap_data(cluster, "cp")
    assert b"good" in {file.path: file.content for file in parse(data, {}).files}["/etc/a"]


async def test_data_that_no_secret_can_hold_is_told_not_tried_for_ever(cluster: Workload) -> None:
    files = [{"path": f"/etc/{n}", "content": "x" * 10000} for n in range(110)]
    await cluster.create_cluster()
    await create_config(cluster, "cp", {**_SPEC, "files": files}, control_plane=True)
    await waits(cluster, "cp", "a Secret holds at most 1048576")


async def test_data_that_was_written_before_a_restart_is_kept(cluster: Workload) -> None:
    await cluster.create_secret("cp", {"value": b"#cloud-config\n", "format": b"cloud-config"})
    await cluster.create_cluster()
    await create_config(cluster, "cp", _SPEC, control_plane=True)
    await available(cluster, "cp")
    # What a stopped manager had written is written anew, complete.
    assert "kubeadm init" in await bootstrap_data(cluster, "cp")


async def test_nothing_happens_while_paused(cluster: Workload) -> None:
    await cluster.create(cluster.cluster())
    await create_config(cluster, "cp", _SPEC, control_plane=True)
    await waits(cluster, "cp", "infrastructureProvisioned")
    paused = {"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}}
    await cluster.api.patch(KubeadmConfig, "cp", paused)
    await cluster.api.condition(KubeadmConfig, "cp", "Paused", status="True", reason="Paused")
    await cluster.create(cluster.docker_cluster())
    await cluster.api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    with pytest.raises(NotFound):
        await cluster.api.get(SECRETS, "cp")
    go_on = {"metadata": {"annotations": {"cluster.x-k8s.io/paused": None}}}
    await cluster.api.patch(KubeadmConfig, "cp", go_on)
    await available(cluster, "cp")
