"""DockerMachines on the real API server: every step, and what keeps it from being taken."""

import asyncio
import io
import tarfile
from collections.abc import AsyncIterator

import pytest
import yaml

from capd_py.container.fake import FakeRuntime
from capd_py.container.runtime import Container, EngineUnavailable, Executed, RuntimeFailure
from capd_py.loadbalancer.balancer import CONFIG_PATH
from capd_py.reconcilers.dockermachine import bootstrap as bootstrap_phase
from capd_py.reconcilers.dockermachine import container as container_phase
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerMachine
from capi_core.api.machine import Machine
from capi_core.contract.secrets import SECRETS
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, EVENTS, Api, running
from tests.support.workload import CLOUD_CONFIG, Workload, failed, is_bootstrap, workload

PROVISIONED, CGROUPS = "ContainerProvisioned", "CGroupsReady"
IMAGES, BOOTSTRAP = "PreLoadedImagesReady", "BootstrapCompleted"
KUBEADM = """\
#cloud-config
write_files:
- path: /run/kubeadm/kubeadm-join-config.yaml
  content: |
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: JoinConfiguration
runcmd:
- kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml
"""


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


async def events(api: Api, reason: str) -> list[str]:
    """The messages of the events with a reason."""
    return [e["message"] for e in await api.list(EVENTS) if e["reason"] == reason]


def bootstraps(runtime: FakeRuntime, container: str) -> int:
    """How often a container's bootstrap was asked for."""
    return sum(
        name == container and is_bootstrap(command) for name, command in runtime.executed
    )


async def test_a_control_plane_machine_takes_all_steps(cluster: Workload, api: Api) -> None:
    packed: list[bytes] = []
    cluster.on_bootstrap = lambda container, archive: packed.append(archive)
    spec = {"preLoadImages": ["app:1"], "extraMounts": [
        {"hostPath": "/a", "containerPath": "/b", "readOnly": True}
    ]}
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True, data=KUBEADM, infrastructure=spec,
                                 failureDomain="one")
    for kind, reason in ((PROVISIONED, "Provisioned"), (CGROUPS, "Ready"), (IMAGES, "Ready"),
                         (BOOTSTRAP, "Completed"), ("Ready", "Ready")):
        await api.condition(DockerMachine, "cp", kind, status="True", reason=reason)
    name = f"{cluster.name}-cp"
    container = await cluster.runtime.get(name)
    assert container is not None
    found = await api.get(DockerMachine, "cp")
    assert found["spec"]["providerID"] == f"docker:////{name}"
    assert found["status"]["addresses"] == [
        {"type": "Hostname", "address": name},
        {"type": "InternalIP", "address": container.address},
        {"type": "ExternalIP", "address": container.address},
    ]
    assert found["status"]["initialization"] == {"provisioned": True}
    assert found["status"]["loadBalancerConfigured"] is True
    assert found["status"]["failureDomain"] == "one"
    made = cluster.runtime.specs[name]
    assert made.image == "kindest/node:v1.34.4"
    assert made.machine
    assert made.labels["io.x-k8s.kind.role"] == "control-plane"
    assert made.labels["io.x-k8s.cluster.failureDomain"] == "one"
    assert [(m.source, m.target, m.read_only) for m in made.mounts] == [("/a", "/b", True)]
    imported = [command for who, command in cluster.runtime.executed if "import" in command]
    assert [command[-1] for command in imported] == ["app:1"]
    balancer = await cluster.runtime.get(f"{cluster.name}-lb")
    assert balancer is not None
    config = await cluster.runtime.read_file(balancer, CONFIG_PATH)
    assert f"server {name} {container.address}:6443 weight 100".encode() in (config or b"")
    assert len(packed) == bootstraps(cluster.runtime, name) == 1
    with tarfile.open(fileobj=io.BytesIO(packed[0])) as archive:
        member = archive.extractfile("files.tar")
        assert member is not None
        with tarfile.open(fileobj=member) as files:
            written = files.extractfile("run/kubeadm/kubeadm-join-config.yaml")
            assert written is not None
            joined = yaml.safe_load(written.read())
    arguments = {a["name"]: a["value"] for a in joined["nodeRegistration"]["kubeletExtraArgs"]}
    assert arguments["provider-id"] == f"docker:////{name}"
    assert await events(api, "ContainerStarted") == [f"Container {name} runs"]


async def test_everything_but_the_bootstrap_is_done_before_its_data(
    cluster: Workload, api: Api
) -> None:
    await cluster.create(cluster.cluster())
    await cluster.create_machine("w", data=None)
    waiting = {"status": "False", "reason": "WaitingForClusterInfrastructureReady"}
    await api.condition(DockerMachine, "w", PROVISIONED, **waiting,
                        message="status.initialization.infrastructureProvisioned")
    assert f"{cluster.name}-w" not in cluster.runtime.names
    await cluster.create(cluster.docker_cluster())
    await api.condition(DockerMachine, "w", BOOTSTRAP, status="False",
                        reason="WaitingForControlPlaneInitialized")
    await api.condition(DockerMachine, "w", PROVISIONED, status="True")
    await api.condition(DockerMachine, "w", CGROUPS, status="True")
    found = await api.get(DockerMachine, "w")
    assert found["status"]["initialization"]["provisioned"] is True
    assert bootstraps(cluster.runtime, f"{cluster.name}-w") == 0
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(Cluster, cluster.name, "ControlPlaneInitialized", status="True")
    await api.condition(DockerMachine, "w", BOOTSTRAP, status="False",
                        reason="WaitingForBootstrapData")
    await cluster.create_secret("data", {"value": CLOUD_CONFIG.encode()})
    await api.patch(Machine, "w", {"spec": {"bootstrap": {"dataSecretName": "data"}}})
    await api.condition(DockerMachine, "w", BOOTSTRAP, status="True")
    await api.condition(Machine, "w", "NodeReady", status="True")


async def test_a_secret_that_is_missing_or_lacks_its_key_is_awaited(
    cluster: Workload, api: Api
) -> None:
    await cluster.create_cluster()
    await cluster.create(cluster.object("DockerMachine", "cp", {}))
    await cluster.create(cluster.machine("cp", control_plane=True))
    waiting = {"status": "False", "reason": "WaitingForBootstrapData"}
    await api.condition(DockerMachine, "cp", BOOTSTRAP, **waiting,
                        message="bootstrap data Secret cp does not exist")
    await cluster.create_secret("cp", {"other": b"x"})
    await api.condition(DockerMachine, "cp", BOOTSTRAP, **waiting, message="has no key value")
    value = {"value": "I2Nsb3VkLWNvbmZpZwo="}
    await api.patch(SECRETS, "cp", {"data": value})
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="True")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("#cloud-config\nwrite_files:\n- path: etc/x\n", "write_files[0].path: must be absolute"),
        ("#cloud-config\nruncmd: [", "not YAML"),
        ("#!/bin/sh\n", "no line says #cloud-config"),
        (
            "#cloud-config\nwrite_files:\n- path: /run/kubeadm/kubeadm.yaml\n  content: '- a'\n",
            "/run/kubeadm/kubeadm.yaml: a document has no kind",
        ),
    ],
)
async def test_malformed_data_is_a_failed_bootstrap(
    cluster: Workload, api: Api, data: str, message: str
) -> None:
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True, data=data)
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="False", reason="Failed",
                        message=message)
    await api.condition(Machine, "cp", "InfrastructureReady", status="False", message=message)
    assert bootstraps(cluster.runtime, f"{cluster.name}-cp") == 0


async def test_another_format_and_bytes_that_are_no_text_are_refused(
    cluster: Workload, api: Api
) -> None:
    await cluster.create_cluster()
    await cluster.create_secret("ignition", {"value": b"{}", "format": b"ignition"})
    await cluster.create_secret("bytes", {"value": b"\xff\xfe"})
    for name, message in (("ignition", "format ignition is not supported"),
                          ("bytes", "value is not UTF-8 text")):
        await cluster.create(cluster.object("DockerMachine", name, {}))
        await cluster.create(cluster.machine(name, control_plane=True))
        await api.condition(DockerMachine, name, BOOTSTRAP, status="False", reason="Failed",
                            message=message)


async def test_data_as_large_as_a_secret_can_be(cluster: Workload, api: Api) -> None:
    large = "#cloud-config\nwrite_files:\n- path: /x\n  content: " + "x" * 900_000
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True, data=large)
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="True")


@pytest.mark.parametrize("timeout", ["soon", "5"])
async def test_a_timeout_that_is_none_is_told(cluster: Workload, api: Api, timeout: str) -> None:
    await cluster.create_cluster()
    spec = {"bootstrapTimeout": timeout}
    await cluster.create_machine("cp", control_plane=True, infrastructure=spec)
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="False", reason="Failed",
                        message=f"{timeout} is not a duration")


async def test_without_version_and_image_there_is_no_container(cluster: Workload, api: Api) -> None:
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True, version=None)
    await api.condition(DockerMachine, "cp", PROVISIONED, status="False", reason="NotProvisioned",
                        message="neither the Machine's spec.version nor spec.customImage is set")
    await api.patch(Machine, "cp", {"spec": {"version": "v1.34.4"}})
    await api.condition(DockerMachine, "cp", PROVISIONED, status="True")


async def test_a_version_without_an_image_is_told_and_awaited(cluster: Workload, api: Api) -> None:
    cluster.runtime.images = {"kindest/haproxy:v20230606-42a2262b"}
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True, version="v1.99.0")
    await api.condition(DockerMachine, "cp", PROVISIONED, status="False", reason="NotProvisioned",
                        message="image kindest/node:v1.99.0 is not on the engine")
    await api.condition(Machine, "cp", "InfrastructureReady", status="False",
                        message="kindest/node:v1.99.0")
    cluster.runtime.images.add("kindest/node:v1.99.0")
    await api.condition(DockerMachine, "cp", "Ready", status="True")


async def test_an_image_to_load_that_is_missing_is_told_and_awaited(
    cluster: Workload, api: Api
) -> None:
    cluster.runtime.images = {"kindest/haproxy:v20230606-42a2262b", "kindest/node:v1.34.4"}
    await cluster.create_cluster()
    spec = {"preLoadImages": ["app:1"]}
    await cluster.create_machine("cp", control_plane=True, infrastructure=spec)
    await api.condition(DockerMachine, "cp", IMAGES, status="False", reason="InternalError",
                        message="image app:1 is not on the engine")
    assert bootstraps(cluster.runtime, f"{cluster.name}-cp") == 0
    cluster.runtime.images.add("app:1")
    await api.condition(DockerMachine, "cp", "Ready", status="True")


@pytest.mark.parametrize(
    ("method", "condition"),
    [("run", PROVISIONED), ("execute", CGROUPS), ("copy_image", IMAGES), ("find", PROVISIONED),
     ("get", PROVISIONED), ("signal", CGROUPS)],
)
async def test_failures_of_the_engine_are_told_and_overcome(
    cluster: Workload, api: Api, method: str, condition: str
) -> None:
    await cluster.create_cluster()
    await api.condition(Cluster, cluster.name, "InfrastructureReady", status="True")
    cluster.runtime.outages[method] = EngineUnavailable("the engine restarts")
    spec = {"preLoadImages": ["app:1"]}
    await cluster.create_machine("cp", control_plane=True, infrastructure=spec)
    await api.condition(DockerMachine, "cp", condition, status="False",
                        message="the engine restarts")
    cluster.runtime.outages.clear()
    await api.condition(DockerMachine, "cp", "Ready", status="True")
    assert cluster.runtime.names == [f"{cluster.name}-cp", f"{cluster.name}-lb"]


async def test_an_engine_that_fails_during_the_bootstrap_is_asked_again(
    cluster: Workload, api: Api
) -> None:
    tries: list[str] = []

    def answer(container: Container, archive: bytes) -> Executed | None:
        tries.append(container.name)
        if len(tries) < 3:
            raise RuntimeFailure("the engine restarts")
        return None

    cluster.on_bootstrap = answer
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="True")
    assert len(tries) == 3


async def test_containerd_that_does_not_answer_is_told_with_the_containers_words(
    cluster: Workload, api: Api
) -> None:
    execute = cluster.runtime.on_execute
    cluster.runtime.on_execute = lambda c, command, stdin: (
        Executed(124, "", "") if "ctr" in command[-1] else execute(c, command, stdin)
    )
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerMachine, "cp", CGROUPS, status="False", reason="InternalError",
                        message="did not answer within 60 s")
    cluster.runtime.on_execute = execute
    await api.condition(DockerMachine, "cp", CGROUPS, status="True")


async def test_a_failed_bootstrap_is_told_and_never_repeated(cluster: Workload, api: Api) -> None:
    cluster.on_bootstrap = lambda container, archive: failed(
        1, 1, "[preflight] running\nerror: boom", "warning: bang"
    )
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    told = await api.condition(DockerMachine, "cp", BOOTSTRAP, status="False", reason="Failed")
    for part in ("kubeadm join --config /run/kubeadm/join.yaml: ended with exit code 1",
                 "error: boom", "warning: bang"):
        assert part in told["message"]
    await api.condition(DockerMachine, "cp", "Ready", status="False", message="error: boom")
    await api.condition(Machine, "cp", "InfrastructureReady", status="False", message="error: boom")
    await api.patch(DockerMachine, "cp", {"metadata": {"labels": {"touched": "yes"}}})
    await api.patch(Machine, "cp", {"metadata": {"labels": {"touched": "yes"}}})
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="False", reason="Failed")
    assert bootstraps(cluster.runtime, f"{cluster.name}-cp") == 1


async def test_a_bootstrap_whose_time_is_up_says_so(cluster: Workload, api: Api) -> None:
    cluster.on_bootstrap = lambda container, archive: failed(124, 1)
    await cluster.create_cluster()
    spec = {"bootstrapTimeout": "1m30s"}
    await cluster.create_machine("cp", control_plane=True, infrastructure=spec)
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="False", reason="Failed",
                        message="did not end within 90 s")


async def test_modules_that_are_not_acted_on_are_named(cluster: Workload, api: Api) -> None:
    await cluster.create_cluster()
    data = f"{CLOUD_CONFIG}ntp: {{}}\nusers: []\n"
    await cluster.create_machine("cp", control_plane=True, data=data)
    await api.condition(DockerMachine, "cp", BOOTSTRAP, status="True", reason="Completed",
                        message="Not acted on in a container: ntp, users")


async def test_a_failure_is_not_repeated_at_once(
    cluster: Workload, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_phase, "_RETRY_SECONDS", 60)
    cluster.runtime.outages["execute"] = EngineUnavailable("away")
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(DockerMachine, "cp", CGROUPS, status="False", message="away")

    async def version() -> str:
        return (await api.get(DockerMachine, "cp"))["metadata"]["resourceVersion"]

    await asyncio.sleep(0.3)
    before = await version()
    await asyncio.sleep(0.7)
    assert await version() == before
