"""MachineSets delete as many Machines as they should, however late they learn of it."""

import asyncio

from capd_py.container.fake import FakeRuntime
from capi_core.api.machine import Machine
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, running, until
from tests.support.workload import VERSION, Workload, workload


async def _create_set(cluster: Workload, replicas: int) -> None:
    label = {"set": "one"}
    template: JsonObject = {"template": {"spec": {}}}
    await cluster.create(cluster.object("DockerMachineTemplate", "t", template))
    spec: JsonObject = {
        "clusterName": cluster.name,
        "replicas": replicas,
        "selector": {"matchLabels": label},
        "template": {
            "metadata": {"labels": label},
            "spec": {
                "clusterName": cluster.name,
                "version": VERSION,
                "bootstrap": {"dataSecretName": "data"},
                "infrastructureRef": cluster.reference("DockerMachineTemplate", "t"),
            },
        },
    }
    await cluster.create(cluster.object("MachineSet", "set", spec))


async def _machines(api: Api, count: int) -> set[str]:
    async def look() -> set[str]:
        found = {obj["metadata"]["name"] for obj in await api.list(Machine)}
        return found if len(found) == count else set()

    return await until(look, what=f"{count} Machines")


async def test_scaling_down_never_deletes_too_many(
    server: ApiServer, api: Api, runtime: FakeRuntime
) -> None:
    async with workload(server, api, runtime) as cluster, running(server, api, [CORE],
                                                                  runtime=runtime) as manager:
        await cluster.create_cluster(controlPlaneEndpoint=cluster.endpoint)
        await cluster.create_secret("data", {"value": b"#cloud-config\n"})
        await _create_set(cluster, 5)
        before = await _machines(api, 5)
        # Events come late here: the controller knows of its deletions only what it was answered.
        store = manager.store(Machine)
        put = store.put
        held: list[JsonObject] = []

        def late(obj: JsonObject) -> bool:
            if asyncio.current_task() and "kopf" in repr(asyncio.current_task()):
                held.append(obj)
                return False
            return put(obj)

        store.put = late  # type: ignore[method-assign]
        await api.patch(MachineSet, "set", {"spec": {"replicas": 3}})
        await asyncio.sleep(1.0)
        store.put = put  # type: ignore[method-assign]
        for obj in held:
            put(obj)
        left = await _machines(api, 3)
        assert left < before
