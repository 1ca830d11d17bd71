"""KubeadmControlPlanes on a real API server: certificates, the first Machine, status, deletion."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.cluster import Cluster
from capi_core.api.controlplane import KubeadmControlPlane
from capi_core.api.docker import DockerMachine, DockerMachineTemplate
from capi_core.api.kubeadm import KubeadmConfig
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.contract.secrets import SECRETS, secret_data, secret_name
from tests.support.apiserver import ApiServer
from tests.support.cluster import BOOTSTRAP, CONTROL_PLANE, CORE, Api, running, until
from tests.support.kubeadm import control_plane, kubeadm_config, template
from tests.support.workload import Workload, workload

_PROVIDERS = [CORE, BOOTSTRAP, CONTROL_PLANE]


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A cluster whose control plane is ours."""
    async with (
        workload(server, api, runtime) as found,
        running(server, api, _PROVIDERS, runtime=runtime),
    ):
        yield found


async def create(cluster: Workload, **spec: object) -> None:
    """The Cluster with its control plane, and no template yet."""
    ref = cluster.reference("KubeadmControlPlane", "cp")
    await cluster.create(control_plane(cluster, **spec))
    await cluster.create_cluster(controlPlaneRef=ref)


async def machine_of(cluster: Workload) -> JsonObject:
    """The one Machine."""

    async def look() -> JsonObject | None:
        found = await cluster.api.list(Machine)
        assert len(found) <= 1
        return found[0] if found else None

    return await until(look, what="a Machine")


async def test_the_first_machine_is_made_with_all_that_belongs_to_it(cluster: Workload) -> None:
    meta = {"labels": {"mine": "yes"}, "annotations": {"note": "x"}}
    machine_template = {**control_plane(cluster)["spec"]["machineTemplate"], "metadata": meta}
    await cluster.create(template(cluster))
    await create(cluster, machineTemplate=machine_template)
    machine = await machine_of(cluster)
    name = machine["metadata"]["name"]
    assert machine["metadata"]["labels"]["mine"] == "yes"
    assert machine["metadata"]["labels"]["cluster.x-k8s.io/control-plane-name"] == "cp"
    assert "cluster.x-k8s.io/control-plane" in machine["metadata"]["labels"]
    assert machine["metadata"]["annotations"]["note"] == "x"
    owner = next(o for o in machine["metadata"]["ownerReferences"] if o.get("controller"))
    assert (owner["kind"], owner["name"]) == ("KubeadmControlPlane", "cp")
    config = await cluster.api.get(KubeadmConfig, name)
    assert config["spec"]["clusterConfiguration"]["imageRepository"] == "example"
    infrastructure = await cluster.api.get(DockerMachine, name)
    notes = infrastructure["metadata"]["annotations"]
    assert notes["cluster.x-k8s.io/cloned-from-name"] == "t"
    owners = (await cluster.api.get(DockerMachineTemplate, "t"))["metadata"]["ownerReferences"]
    assert [o["kind"] for o in owners] == ["Cluster"]


async def test_secrets_are_made_once_and_the_users_own_are_kept(cluster: Workload) -> None:
    await cluster.create(template(cluster))
    await create(cluster)
    await machine_of(cluster)
    for purpose in ("etcd", "proxy", "sa", "kubeconfig"):
        secret = await cluster.api.get(SECRETS, secret_name(cluster.name, purpose))
        assert secret["type"] == "cluster.x-k8s.io/secret"
        assert secret["metadata"]["ownerReferences"][0]["kind"] == "KubeadmControlPlane"
        assert secret["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == cluster.name
    ca = await cluster.api.get(SECRETS, secret_name(cluster.name, "ca"))
    assert secret_data(ca)["tls.crt"] == cluster.server.ca.certificate
    assert "ownerReferences" not in ca["metadata"]
    kubeconfig = await cluster.api.get(SECRETS, secret_name(cluster.name, "kubeconfig"))
    server = f"server: https://localhost:{cluster.server.port}"
    assert server in secret_data(kubeconfig)["value"].decode()


async def test_initialized_and_counted_when_the_api_server_answers(cluster: Workload) -> None:
    await cluster.create(template(cluster))
    await create(cluster)
    await cluster.api.condition(
        KubeadmControlPlane, "cp", "Initialized", status="False", reason="NotInitialized"
    )
    async with kubeadm_config(cluster.api):
        await cluster.api.condition(KubeadmControlPlane, "cp", "Initialized", status="True")
        await cluster.api.condition(Cluster, cluster.name, "ControlPlaneInitialized", status="True")
        status = (await cluster.api.get(KubeadmControlPlane, "cp"))["status"]
        assert status["initialization"]["controlPlaneInitialized"] is True
        assert status["replicas"] == 1
        assert status["version"] == "v1.34.4"
        assert status["versions"] == [{"version": "v1.34.4", "replicas": 1}]
        assert status["upToDateReplicas"] == 1
        conditions = {c["type"]: c["status"] for c in status["conditions"]}
        assert conditions["CertificatesAvailable"] == "True"
        assert conditions["MachinesUpToDate"] == "True"
        assert conditions["ScalingUp"] == "False"
        assert conditions["Deleting"] == "False"


async def test_a_template_that_is_missing_is_told_and_then_found(cluster: Workload) -> None:
    await create(cluster)
    await cluster.api.condition(
        KubeadmControlPlane, "cp", "ScalingUp", status="True",
        message="DockerMachineTemplate t does not exist",
    )
    await cluster.create(template(cluster))
    await machine_of(cluster)


async def test_a_ca_without_its_certificate_is_told(
    server: ApiServer, api: Api, runtime: FakeRuntime
) -> None:
    async with workload(server, api, runtime) as cluster:
        await api.patch(SECRETS, secret_name(cluster.name, "ca"), {"data": {"tls.crt": None}})
        async with running(server, api, _PROVIDERS, runtime=runtime):
            await cluster.create(template(cluster))
            await create(cluster)
            await api.condition(
                KubeadmControlPlane, "cp", "CertificatesAvailable", status="False",
                reason="InternalError", message="has no key tls.crt",
            )


async def test_nothing_is_made_while_paused(cluster: Workload) -> None:
    await cluster.create(template(cluster))
    paused = control_plane(cluster)
    paused["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    await cluster.create(paused)
    await cluster.create_cluster(controlPlaneRef=cluster.reference("KubeadmControlPlane", "cp"))
    await cluster.api.condition(KubeadmControlPlane, "cp", "Paused", status="True")
    assert await cluster.api.list(Machine) == []
    patch = {"metadata": {"annotations": {"cluster.x-k8s.io/paused": None}}}
    await cluster.api.patch(KubeadmControlPlane, "cp", patch)
    await machine_of(cluster)


async def test_the_control_plane_goes_after_the_workers(cluster: Workload) -> None:
    await cluster.create(template(cluster))
    await create(cluster)
    await machine_of(cluster)
    await cluster.create_machine("w", data=None)
    patch = {"metadata": {"finalizers": ["tests/keep", "machine.cluster.x-k8s.io"]}}
    await cluster.api.patch(Machine, "w", patch)
    await cluster.api.delete(Cluster, cluster.name)
    await cluster.api.condition(
        Cluster, cluster.name, "Deleting", status="True", message="Machines: w"
    )
    assert "deletionTimestamp" not in (
        await cluster.api.get(KubeadmControlPlane, "cp")
    )["metadata"]
    await cluster.api.patch(Machine, "w", {"metadata": {"finalizers": None}})
    await cluster.api.gone(KubeadmControlPlane, "cp")
    await cluster.api.gone(Cluster, cluster.name)
    assert cluster.runtime.names == []


async def test_rest_is_rest(cluster: Workload) -> None:
    await cluster.create(template(cluster))
    await create(cluster)
    async with kubeadm_config(cluster.api):
        await cluster.api.condition(KubeadmControlPlane, "cp", "Initialized", status="True")

        async def versions() -> dict[str, str]:
            kinds = (Cluster, KubeadmControlPlane, KubeadmConfig, Machine, DockerMachine)
            return {
                f"{obj['kind']}/{obj['metadata']['name']}": obj["metadata"]["resourceVersion"]
                for kind in kinds
                for obj in await cluster.api.list(kind)
            }

        async def settled() -> bool:
            before = await versions()
            await asyncio.sleep(1.0)
            return await versions() == before

        await until(settled, what="objects that nobody writes")
        before = await versions()
        await asyncio.sleep(3.0)
        assert await versions() == before
