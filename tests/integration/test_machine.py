"""Machines on the real API server: from their references to their Nodes and their end."""

from collections.abc import AsyncIterator

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerMachine
from capi_core.api.machine import Machine
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, running
from tests.support.workload import Workload, workload


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A workload cluster with core and the Docker provider at work on it."""
    async with (
        workload(server, api, runtime) as made,
        running(server, api, [CORE], runtime=runtime),
    ):
        yield made


async def test_machine_becomes_a_running_node(cluster: Workload, api: Api) -> None:
    await cluster.create_cluster()
    await cluster.create_machine("cp", control_plane=True)
    await api.condition(Machine, "cp", "NodeReady", status="True", reason="NodeReady")
    await api.condition(Machine, "cp", "Available", status="True")
    await api.condition(Cluster, cluster.name, "ControlPlaneInitialized", status="True")
    machine = await api.get(Machine, "cp")
    container = f"{cluster.name}-cp"
    assert machine["spec"]["providerID"] == f"docker:////{container}"
    assert machine["status"]["nodeRef"] == {"name": container}
    assert machine["status"]["phase"] == "Running"
    assert container in cluster.runtime.names
    await api.condition(DockerMachine, "cp", "Ready", status="True")
