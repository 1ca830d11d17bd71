"""DockerClusters on the real API server: the load balancer, its endpoint and its configuration."""

from collections.abc import AsyncIterator

import pytest

from capd_py.container.fake import FakeRuntime
from capd_py.container.runtime import EngineUnavailable, RuntimeFailure
from capd_py.loadbalancer.balancer import CONFIG_PATH
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerCluster
from capi_core.contract.remote import CONFIG_MAPS
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, new_api, running, until
from tests.support.workload import Workload, workload

LB = "LoadBalancerAvailable"
PAUSED = {"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}}


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A workload cluster with core and the Docker provider at work on it."""
    async with (
        workload(server, api, runtime) as made,
        running(server, api, [CORE], runtime=runtime),
    ):
        yield made


async def create(cluster: Workload, **spec: object) -> None:
    """The Cluster with a DockerCluster of this spec."""
    await cluster.create(cluster.object("DockerCluster", cluster.name, spec))
    await cluster.create(cluster.cluster())


async def config(cluster: Workload) -> str:
    """What HAProxy serves."""
    container = await cluster.runtime.get(f"{cluster.name}-lb")
    assert container is not None
    return (await cluster.runtime.read_file(container, CONFIG_PATH) or b"").decode()


async def test_the_load_balancer_becomes_the_endpoint(cluster: Workload, api: Api) -> None:
    await create(cluster, failureDomains=[{"name": "a", "controlPlane": True}])
    await api.condition(DockerCluster, cluster.name, LB, status="True", reason="Available")
    await api.condition(DockerCluster, cluster.name, "Ready", status="True", reason="Ready")
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    container = await cluster.runtime.get(f"{cluster.name}-lb")
    assert container is not None
    found = await api.get(DockerCluster, cluster.name)
    endpoint = {"host": container.address, "port": 6443}
    assert found["spec"]["controlPlaneEndpoint"] == endpoint
    assert found["status"]["initialization"] == {"provisioned": True}
    assert found["status"]["failureDomains"] == [{"name": "a", "controlPlane": True}]
    assert found["metadata"]["finalizers"] == [
        "dockercluster.infrastructure.cluster.x-k8s.io"
    ]
    owner = await api.get(Cluster, cluster.name)
    assert owner["spec"]["controlPlaneEndpoint"] == endpoint
    assert owner["status"]["failureDomains"] == [{"name": "a", "controlPlane": True}]
    spec = cluster.runtime.specs[container.name]
    assert spec.labels["io.x-k8s.kind.role"] == "external-load-balancer"
    assert spec.labels["io.capd-py.namespace"] == api.namespace


async def test_the_image_is_the_users(cluster: Workload, api: Api) -> None:
    cluster.runtime.images = set()
    image = {"imageRepository": "registry.example", "imageTag": "v2"}
    await create(cluster, loadBalancer=image)
    await api.condition(
        DockerCluster, cluster.name, LB, status="False", reason="NotAvailable",
        message="image registry.example/haproxy:v2 is not on the engine",
    )
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="False",
                        message="registry.example/haproxy:v2")
    cluster.runtime.images.add("registry.example/haproxy:v2")
    await api.condition(DockerCluster, cluster.name, LB, status="True")


@pytest.mark.parametrize("method", ["find", "run", "ensure_network", "read_file", "signal"])
async def test_failures_of_the_engine_are_told_and_overcome(
    cluster: Workload, api: Api, method: str
) -> None:
    cluster.runtime.outages[method] = EngineUnavailable("the engine restarts")
    if method == "signal":
        cluster.runtime.outages["read_file"] = RuntimeFailure("the engine restarts")
    await create(cluster)
    await api.condition(DockerCluster, cluster.name, LB, status="False", reason="NotAvailable",
                        message="the engine restarts")
    cluster.runtime.outages.clear()
    await api.condition(DockerCluster, cluster.name, LB, status="True")


async def test_nothing_is_done_without_an_owner_or_when_managed_by_others(
    cluster: Workload, api: Api
) -> None:
    alone = cluster.object("DockerCluster", "alone", {})
    del alone["metadata"]["labels"]
    await cluster.create(alone)
    external = cluster.object("DockerCluster", cluster.name, {})
    external["metadata"]["annotations"] = {"cluster.x-k8s.io/managed-by": "somebody"}
    await cluster.create(external)
    await cluster.create(cluster.cluster())
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="False",
                        message="DockerCluster status.initialization.provisioned is false")
    for name in ("alone", cluster.name):
        found = await api.get(DockerCluster, name)
        assert "finalizers" not in found["metadata"]
        assert "status" not in found
    assert cluster.runtime.names == []
    # What manages it elsewhere says so, and the Cluster goes on.
    done = {"status": {"initialization": {"provisioned": True}}}
    await api.patch(DockerCluster, cluster.name, done, sub="status")
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")


async def test_a_load_balancer_that_ends_or_goes_comes_back_at_its_address(
    cluster: Workload, api: Api
) -> None:
    await create(cluster)
    await api.condition(DockerCluster, cluster.name, LB, status="True")
    name = f"{cluster.name}-lb"
    first = await cluster.runtime.get(name)
    assert first is not None
    cluster.runtime.stop(name)

    async def back() -> bool:
        found = await cluster.runtime.get(name)
        return found is not None and found.running and found.address == first.address

    await until(back, what="the load balancer to run again")
    found = await cluster.runtime.get(name)
    assert found is not None
    assert found.id == first.id
    await cluster.runtime.remove(found)
    await until(back, what="another load balancer")
    endpoint = (await api.get(DockerCluster, cluster.name))["spec"]["controlPlaneEndpoint"]
    assert endpoint["host"] == first.address


async def test_an_endpoint_that_is_another_address_is_told(cluster: Workload, api: Api) -> None:
    await create(cluster, controlPlaneEndpoint={"host": "192.0.2.1", "port": 7443})
    await api.condition(DockerCluster, cluster.name, LB, status="False",
                        message="the control plane endpoint is 192.0.2.1")
    assert "bind *:7443" in await config(cluster)


async def test_a_refused_configuration_is_told_and_the_old_one_stays(
    cluster: Workload, api: Api
) -> None:
    await cluster.create_cluster()
    await api.condition(DockerCluster, cluster.name, LB, status="True")
    before = await config(cluster)
    cluster.runtime.refuse_reload = "[ALERT] config : proxy 'x' has no server\nLoading failure"
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerCluster, cluster.name, LB, status="False", reason="NotAvailable",
                        message="proxy 'x' has no server")
    assert await config(cluster) == before
    cluster.runtime.refuse_reload = ""
    await api.condition(DockerCluster, cluster.name, LB, status="True")
    assert f"server {cluster.name}-cp " in await config(cluster)


async def test_the_users_template_is_awaited_checked_and_used(cluster: Workload, api: Api) -> None:
    template = {"customHAProxyConfigTemplateRef": {"name": "haproxy"}}
    await create(cluster, loadBalancer=template)

    async def told(message: str) -> None:
        await api.condition(DockerCluster, cluster.name, LB, status="False", reason="NotAvailable",
                            message=message)

    await told(f"ConfigMap {api.namespace}/haproxy does not exist")
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "haproxy"}}
    await api.create(config_map, CONFIG_MAPS)
    await told(f"ConfigMap {api.namespace}/haproxy has no key value")

    async def write(template: str) -> None:
        await api.patch(CONFIG_MAPS, "haproxy", {"data": {"value": template}})

    await write("{{ template \"x\" }}")
    await told("{{ template \"x\" }}, which is not supported")
    await write("mine {{.FrontendControlPlanePort}}")
    await api.condition(DockerCluster, cluster.name, LB, status="True")
    assert await config(cluster) == "mine 6443"


async def test_clusters_of_one_name_in_two_namespaces_keep_apart(
    server: ApiServer, cluster: Workload, api: Api
) -> None:
    runtime = cluster.runtime
    async with (
        new_api(server) as elsewhere,
        workload(server, elsewhere, runtime, cluster.name) as other,
        running(server, elsewhere, [CORE], runtime=runtime),
    ):
        for one in (cluster, other):
            await create(one)
            await one.api.condition(DockerCluster, one.name, LB, status="True")
        hosts = [
            (await one.api.get(DockerCluster, one.name))["spec"]["controlPlaneEndpoint"]["host"]
            for one in (cluster, other)
        ]
        assert len(set(hosts)) == 2
        assert len(runtime.names) == 2
        await other.api.delete(Cluster, other.name)
        await other.api.gone(Cluster, other.name)
        assert runtime.names == [f"{cluster.name}-lb"]


async def test_deletion_goes_on_when_the_engine_is_back(cluster: Workload, api: Api) -> None:
    await create(cluster)
    await api.condition(DockerCluster, cluster.name, LB, status="True")
    cluster.runtime.outages["remove"] = EngineUnavailable("the engine restarts")
    await api.delete(Cluster, cluster.name)
    await api.condition(DockerCluster, cluster.name, LB, status="False", reason="Deleting")
    await api.condition(Cluster, cluster.name, "Deleting", status="True",
                        reason="WaitingForInfrastructureDeletion", message=cluster.name)
    cluster.runtime.outages.clear()
    await api.gone(DockerCluster, cluster.name)
    await api.gone(Cluster, cluster.name)
    assert cluster.runtime.names == []


async def test_leftovers_of_the_cluster_go_with_it(cluster: Workload, api: Api) -> None:
    await create(cluster)
    await api.condition(DockerCluster, cluster.name, LB, status="True")
    spec = cluster.runtime.specs[f"{cluster.name}-lb"]
    labels = {**spec.labels, "io.x-k8s.kind.role": "worker"}
    object.__setattr__(spec, "name", "left-over")
    object.__setattr__(spec, "labels", labels)
    await cluster.runtime.run(spec)
    await api.delete(Cluster, cluster.name)
    await api.gone(Cluster, cluster.name)
    assert cluster.runtime.names == []


async def test_pause_by_annotation_and_by_the_cluster(cluster: Workload, api: Api) -> None:
    paused = cluster.object("DockerCluster", cluster.name, {})
    paused["metadata"] |= PAUSED["metadata"]
    await cluster.create(paused)
    await cluster.create(cluster.cluster(paused=True))
    await api.condition(Cluster, cluster.name, "Paused", status="True", reason="Paused")
    # A paused Cluster adopts nothing, so the label alone tells whose it is.
    await api.condition(DockerCluster, cluster.name, "Paused", status="True", reason="Paused",
                        message="Cluster spec.paused is set to true, DockerCluster has the")
    await api.patch(Cluster, cluster.name, {"spec": {"paused": False}})
    await api.condition(DockerCluster, cluster.name, "Paused", status="True",
                        message="DockerCluster has the cluster.x-k8s.io/paused annotation")
    assert cluster.runtime.names == []
    await api.patch(DockerCluster, cluster.name,
                    {"metadata": {"annotations": {"cluster.x-k8s.io/paused": None}}})
    await api.condition(DockerCluster, cluster.name, LB, status="True")
    await api.condition(DockerCluster, cluster.name, "Paused", status="False", reason="NotPaused")
