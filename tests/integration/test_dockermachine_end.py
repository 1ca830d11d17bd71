"""DockerMachines on the real API server: containers that end, deletion at any step, and pauses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from capd_py.container.fake import FakeRuntime
from capd_py.container.runtime import Container, EngineUnavailable, Executed, RuntimeFailure
from capd_py.loadbalancer.balancer import CONFIG_PATH
from capd_py.reconcilers.dockermachine import bootstrap as bootstrap_phase
from capd_py.reconcilers.dockermachine import container as container_phase
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerMachine
from capi_core.api.machine import Machine
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, new_api, running, until
from tests.support.workload import CLOUD_CONFIG, Workload, is_bootstrap, workload

PROVISIONED, CGROUPS = "ContainerProvisioned", "CGroupsReady"
BOOTSTRAP = "BootstrapCompleted"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no event, look again soon."""
    monkeypatch.setattr(bootstrap_phase, "_RETRY_SECONDS", 0.1)
    monkeypatch.setattr(bootstrap_phase, "_SECRET_SECONDS", 0.1)
    monkeypatch.setattr(container_phase, "_RETRY_SECONDS", 0.1)


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A workload cluster with core and the Docker provider at work on it."""
    async with (
        workload(server, api, runtime) as made,
        running(server, api, [CORE], runtime=runtime),
    ):
        yield made


@pytest.mark.parametrize("removed", [False, True])
async def test_a_container_that_ends_is_told_and_never_made_again(
    cluster: Workload, api: Api, removed: bool
) -> None:
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerMachine, "cp", "Ready", status="True")
    name = f"{cluster.name}-cp"
    container = await cluster.runtime.get(name)
    assert container is not None
    if removed:
        await cluster.runtime.remove(container)
        message = f"Container {name} does not exist anymore"
    else:
        cluster.runtime.stop(name)
        message = f"Container {name} is not running anymore"
    await api.condition(DockerMachine, "cp", PROVISIONED, status="False", reason="NotProvisioned",
                        message=message)
    await api.condition(Machine, "cp", "InfrastructureReady", status="False", message=message)
    found = await cluster.runtime.get(name)
    assert found is None if removed else found is not None and not found.running


async def test_a_container_whose_start_was_cut_off_is_made_again(
    cluster: Workload, api: Api
) -> None:
    cluster.runtime.images = {"kindest/haproxy:v20230606-42a2262b", "kindest/node:v1.34.4"}
    cluster.runtime.outages["execute"] = EngineUnavailable("away")
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerMachine, "cp", CGROUPS, status="False", message="away")
    name = f"{cluster.name}-cp"
    first = await cluster.runtime.get(name)
    cluster.runtime.stop(name)
    cluster.runtime.outages.clear()
    await api.condition(DockerMachine, "cp", "Ready", status="True")
    second = await cluster.runtime.get(name)
    assert first is not None
    assert second is not None
    assert second.id != first.id


async def test_machines_of_one_name_in_two_namespaces_keep_apart(
    server: ApiServer, cluster: Workload, api: Api
) -> None:
    runtime = cluster.runtime
    async with (
        new_api(server) as elsewhere,
        workload(server, elsewhere, runtime, cluster.name) as other,
        running(server, elsewhere, [CORE], runtime=runtime),
    ):
        for one in (cluster, other):
            await one.create_cluster()
            await one.create_machine("cp", control_plane=True)
            await one.api.condition(DockerMachine, "cp", "Ready", status="True")
        found = [await one.api.get(DockerMachine, "cp") for one in (cluster, other)]
        assert found[0]["spec"]["providerID"] != found[1]["spec"]["providerID"]
        await other.api.delete(Cluster, other.name)
        await other.api.gone(Cluster, other.name)
        assert runtime.names == [f"{cluster.name}-cp", f"{cluster.name}-lb"]


async def test_a_manager_that_starts_anew_goes_on_with_the_same_container(
    server: ApiServer, api: Api, runtime: FakeRuntime
) -> None:
    async with workload(server, api, runtime) as cluster:
        async with running(server, api, [CORE], runtime=runtime):
            runtime.outages["execute"] = EngineUnavailable("away")
            await cluster.create_cluster()
            await cluster.create_machine("cp", control_plane=True)
            await api.condition(DockerMachine, "cp", CGROUPS, status="False", message="away")
        before = await runtime.get(f"{cluster.name}-cp")
        runtime.outages.clear()
        async with running(server, api, [CORE], runtime=runtime):
            await api.condition(DockerMachine, "cp", "Ready", status="True")
        assert (await runtime.get(f"{cluster.name}-cp")) == before


async def _hold_infrastructure(cluster: Workload) -> None:
    cluster.runtime.outages["ensure_network"] = EngineUnavailable("away")


async def _hold_containerd(cluster: Workload) -> None:
    cluster.runtime.outages["execute"] = EngineUnavailable("away")


async def _hold_image(cluster: Workload) -> None:
    cluster.runtime.images = {"kindest/haproxy:v20230606-42a2262b"}


async def _hold_nothing(cluster: Workload) -> None:
    pass


@pytest.mark.parametrize(
    ("hold", "condition", "status"),
    [
        (_hold_infrastructure, PROVISIONED, "False"),
        (_hold_image, PROVISIONED, "False"),
        (_hold_containerd, CGROUPS, "False"),
        (_hold_nothing, BOOTSTRAP, "False"),
        (_hold_nothing, "Ready", "True"),
    ],
)
async def test_deletion_at_any_step_leaves_nothing(
    cluster: Workload,
    api: Api,
    hold: Callable[[Workload], Awaitable[None]],
    condition: str,
    status: str,
) -> None:
    await hold(cluster)
    await cluster.create_cluster()
    data = CLOUD_CONFIG if (condition, status) != (BOOTSTRAP, "False") else None
    await cluster.create_machine("cp", control_plane=True, data=data)
    await api.condition(DockerMachine, "cp", condition, status=status)
    await api.delete(Machine, "cp")
    await api.gone(Machine, "cp")
    await api.gone(DockerMachine, "cp")

    async def only_the_load_balancer() -> bool:
        return set(cluster.runtime.names) <= {f"{cluster.name}-lb"}

    await until(only_the_load_balancer, what="the container to be gone")


async def test_deletion_during_a_bootstrap_does_not_wait_for_it(
    cluster: Workload, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = cluster.runtime.execute

    async def slow(container: Container, command: list[str], **options: object) -> Executed:
        if is_bootstrap(command):
            await asyncio.sleep(60)
        return await execute(container, command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(cluster.runtime, "execute", slow)
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="False", reason="NotCompleted",
                        message="the bootstrap runs in container")
    await api.delete(Machine, "cp")
    await api.gone(DockerMachine, "cp", timeout=5)
    assert cluster.runtime.names == [f"{cluster.name}-lb"]


async def test_a_container_that_cannot_be_removed_keeps_the_object(
    cluster: Workload, api: Api
) -> None:
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerMachine, "cp", "Ready", status="True")
    cluster.runtime.outages["remove"] = RuntimeFailure("device is busy")
    await api.delete(Machine, "cp")
    await api.condition(DockerMachine, "cp", PROVISIONED, status="False", reason="Deleting",
                        message="device is busy")
    cluster.runtime.outages.clear()
    await api.gone(DockerMachine, "cp")


async def test_a_machine_that_leaves_takes_no_new_connections(cluster: Workload, api: Api) -> None:
    await cluster.create_cluster()
    for name in ("a", "b"):
        await cluster.create_machine(name, control_plane=True)
        await api.condition(Machine, name, "NodeReady", status="True")
    hook = {"metadata": {"annotations": {"pre-drain.delete.hook.machine.cluster.x-k8s.io/x": ""}}}
    await api.patch(Machine, "a", hook)
    await api.delete(Machine, "a")
    balancer = await cluster.runtime.get(f"{cluster.name}-lb")
    assert balancer is not None

    async def weights() -> bool:
        text = (await cluster.runtime.read_file(balancer, CONFIG_PATH) or b"").decode()
        found = {line.split()[1]: line.split()[4] for line in text.splitlines() if "weight" in line}
        return found == {f"{cluster.name}-a": "0", f"{cluster.name}-b": "100"}

    await until(weights, what="the leaving machine's weight to be 0")


async def test_pause(cluster: Workload, api: Api) -> None:
    await cluster.create(cluster.docker_cluster())
    await cluster.create(cluster.cluster())
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    paused = cluster.object("DockerMachine", "cp", {})
    paused["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    await cluster.create(paused)
    await cluster.create_secret("cp", {"value": CLOUD_CONFIG.encode()})
    await cluster.create(cluster.machine("cp", control_plane=True))
    await api.condition(DockerMachine, "cp", "Paused", status="True", reason="Paused",
                        message="DockerMachine has the cluster.x-k8s.io/paused annotation")
    assert cluster.runtime.names == [f"{cluster.name}-lb"]
    await api.patch(DockerMachine, "cp",
                    {"metadata": {"annotations": {"cluster.x-k8s.io/paused": None}}})
    await api.condition(DockerMachine, "cp", "Ready", status="True")
    await api.patch(Cluster, cluster.name, {"spec": {"paused": True}})
    await api.condition(DockerMachine, "cp", "Paused", status="True",
                        message="Cluster spec.paused is set to true")


async def test_what_others_wrote_stays(cluster: Workload, api: Api) -> None:
    machine = cluster.object("DockerMachine", "cp", {})
    machine["metadata"] |= {"finalizers": ["example.com/hold"], "annotations": {"theirs": "a"}}
    await cluster.create_cluster()
    await cluster.create_secret("cp", {"value": CLOUD_CONFIG.encode()})
    await cluster.create(machine)
    foreign = {
        "type": "Theirs", "status": "True", "reason": "Why", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    await api.patch(DockerMachine, "cp", {"status": {"conditions": [foreign]}}, sub="status")
    await cluster.create(cluster.machine("cp", control_plane=True))
    await api.condition(DockerMachine, "cp", "Ready", status="True")
    found = await api.get(DockerMachine, "cp")
    assert foreign in found["status"]["conditions"]
    assert found["metadata"]["annotations"]["theirs"] == "a"
    assert found["metadata"]["finalizers"][0] == "example.com/hold"
    await api.delete(Machine, "cp")

    async def let_go() -> bool:
        meta = (await api.get(DockerMachine, "cp"))["metadata"]
        return meta["finalizers"] == ["example.com/hold"]

    await until(let_go, what="our finalizer to be gone")
    await api.patch(DockerMachine, "cp", {"metadata": {"finalizers": None}})
    await api.gone(Machine, "cp")
