"""MachineHealthChecks on the real API server: who is unhealthy, and what follows from it."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.machine import Machine
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import NODES
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, EVENTS, Api, running, until
from tests.support.healthchecks import (
    HEALTH,
    HOLD,
    NOT_READY,
    OWNER,
    REMEDIATE,
    annotate,
    conditions,
    counted,
    create_check,
    node,
    press,
    replaced,
    workers,
)
from tests.support.workers import (
    create_data,
    create_templates,
    group,
    machines,
)
from tests.support.workload import Workload, workload


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A workload cluster with the templates of workers, core and the Docker provider at work."""
    async with (
        workload(server, api, runtime) as made,
        running(server, api, [CORE], runtime=runtime),
    ):
        await made.create_cluster()
        await made.create_machine("cp", control_plane=True)
        await create_data(made)
        await create_templates(made)
        await api.condition(Machine, "cp", "Available", status="True")
        yield made


async def test_a_node_that_is_not_ready_is_replaced_at_once(cluster: Workload, api: Api) -> None:
    names = await workers(cluster, 2)
    await create_check(cluster)
    await counted(
        api, expectedMachines=2, currentHealthy=2, remediationsAllowed=2, targets=sorted(names),
        observedGeneration=1,
    )
    await api.condition(
        MachineHealthCheck, "mhc", "RemediationAllowed", status="True", reason="RemediationAllowed"
    )
    await api.condition(MachineHealthCheck, "mhc", "Paused", status="False", reason="NotPaused")
    for name in names:
        await api.condition(Machine, name, HEALTH, status="True", reason=HEALTH)
    stored = await api.get(MachineHealthCheck, "mhc")
    [owner] = stored["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Cluster", cluster.name)

    await annotate(api, names[0], HOLD)
    await cluster.set_ready(node(cluster, names[0]), ready=False)
    started = time.monotonic()
    told = await api.condition(Machine, names[0], HEALTH, status="False", reason="UnhealthyNode")
    assert told["message"] == (
        "Health check failed:\n  * Condition Ready on Node is reporting status False with reason "
        "Test for more than 0s"
    )
    await api.condition(
        Machine, names[0], OWNER, status="False", reason="MachineDeleting",
        message="Machine is deleting",
    )

    async def deleting() -> bool:
        return "deletionTimestamp" in (await api.get(Machine, names[0]))["metadata"]

    await until(deleting, what="the deletion")
    assert time.monotonic() - started < 2
    await api.condition(
        MachineSet, "g", "Remediating", status="True", reason="Remediating", message=names[0]
    )
    await annotate(api, names[0], HOLD, None)
    await replaced(cluster, 2, names[0])
    assert names[1] in [m["metadata"]["name"] for m in await machines(cluster)]
    await api.condition(MachineSet, "g", "Remediating", status="False", reason="NotRemediating")
    await counted(api, expectedMachines=2, currentHealthy=2)

    async def event() -> bool:
        return any(e["reason"] == "MachineMarkedUnhealthy" for e in await api.list(EVENTS))

    await until(event, what="the event")


async def test_a_node_that_goes_is_replaced(cluster: Workload, api: Api) -> None:
    [name] = await workers(cluster, 1)
    await create_check(cluster)
    await counted(api, currentHealthy=1)
    await annotate(api, name, HOLD)
    await api.client.delete(NODES, None, node(cluster, name))
    await api.condition(
        Machine, name, HEALTH, status="False", reason="NodeDeleted",
        message=f"  * Node {node(cluster, name)} has been deleted",
    )
    await annotate(api, name, HOLD, None)
    await replaced(cluster, 1, name)


async def test_a_timeout_is_awaited_to_the_second(cluster: Workload, api: Api) -> None:
    [name] = await workers(cluster, 1)
    pressed = {"type": "DiskPressure", "status": "True", "timeoutSeconds": 4}
    await create_check(cluster, checks={"unhealthyNodeConditions": [NOT_READY, pressed]})
    await counted(api, currentHealthy=1)
    since = datetime.now(UTC).replace(microsecond=0)
    await press(cluster, name, since)
    # Neither healthy nor unhealthy yet.
    await counted(api, currentHealthy=0, expectedMachines=1, remediationsAllowed=0)
    assert (await conditions(api, name))[HEALTH]["status"] == "True"
    assert OWNER not in await conditions(api, name)
    await api.condition(Machine, name, HEALTH, status="False", message="for more than 4s")
    late = (datetime.now(UTC) - since - timedelta(seconds=4)).total_seconds()
    assert 0 <= late < 1.5
    await replaced(cluster, 1, name)


async def test_a_machine_without_a_node_is_replaced(cluster: Workload, api: Api) -> None:
    """With a startup timeout that the webhook, which is not at work here, would refuse."""
    cluster.registers = False
    await create_check(cluster, checks={"nodeStartupTimeoutSeconds": 3})
    await cluster.create(group(cluster, "MachineSet", "g", 1))

    async def made() -> list[JsonObject]:
        return await machines(cluster)

    [machine] = await until(made, what="the Machine")
    name = machine["metadata"]["name"]
    await counted(api, expectedMachines=1, currentHealthy=0)
    await annotate(api, name, HOLD)
    await api.condition(
        Machine, name, HEALTH, status="False", reason="NodeStartupTimeout",
        message="Node failed to report startup in 3s",
    )
    cluster.registers = True
    await annotate(api, name, HOLD, None)
    await replaced(cluster, 1, name)


async def test_a_startup_timeout_of_zero_waits_for_ever(cluster: Workload, api: Api) -> None:
    cluster.registers = False
    await create_check(cluster, checks={"nodeStartupTimeoutSeconds": 0})
    await cluster.create(group(cluster, "MachineSet", "g", 1))
    await counted(api, expectedMachines=1, currentHealthy=0)
    await asyncio.sleep(1.5)
    [machine] = await machines(cluster)
    assert HEALTH not in [c["type"] for c in machine["status"]["conditions"]]


async def test_a_machine_condition_makes_unhealthy(cluster: Workload, api: Api) -> None:
    [name] = await workers(cluster, 1)
    mine = {"type": "example.com/Fit", "status": "False", "timeoutSeconds": 0}
    await create_check(cluster, checks={"unhealthyMachineConditions": [mine]})
    await counted(api, currentHealthy=1)
    await annotate(api, name, HOLD)
    told = {
        "type": "example.com/Fit", "status": "False", "reason": "Tired", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }

    async def told_it() -> bool:
        machine = await api.get(Machine, name)
        found = [*machine["status"]["conditions"], told]
        version = machine["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "status": {"conditions": found}}
        await api.patch(Machine, name, body, sub="status")
        return True

    await until(told_it, what="the condition to be written", tolerate=Exception)
    await api.condition(
        Machine, name, HEALTH, status="False", reason="UnhealthyMachine",
        message="Condition example.com/Fit on Machine is reporting status False with reason Tired",
    )
    await annotate(api, name, HOLD, None)
    await replaced(cluster, 1, name)


async def test_a_machine_is_replaced_on_demand(cluster: Workload, api: Api) -> None:
    [name] = await workers(cluster, 1)
    await create_check(cluster)
    await counted(api, currentHealthy=1)
    await annotate(api, name, HOLD)
    await annotate(api, name, REMEDIATE)
    await api.condition(Machine, name, HEALTH, status="False", reason="HasRemediateAnnotation")
    await annotate(api, name, HOLD, None)
    await replaced(cluster, 1, name)


async def test_before_the_control_plane_is_there_no_worker_is_judged(
    server: ApiServer, api: Api, runtime: FakeRuntime
) -> None:
    async with (
        workload(server, api, runtime) as made,
        running(server, api, [CORE], runtime=runtime),
    ):
        made.registers = False
        # Nothing says that the control plane is initialized.
        await made.create_cluster()
        await made.create_machine("cp", control_plane=True, data=None)
        await create_data(made)
        await create_templates(made)
        await create_check(made, checks={"nodeStartupTimeoutSeconds": 1})
        await made.create(group(made, "MachineSet", "g", 1))
        await counted(api, expectedMachines=1, currentHealthy=0)
        await asyncio.sleep(2)
        [machine] = await machines(made)
        assert HEALTH not in [c["type"] for c in machine["status"]["conditions"]]


async def test_at_rest_nothing_is_written(cluster: Workload, api: Api) -> None:
    names = await workers(cluster, 2)
    await create_check(cluster, remediation={"triggerIf": {"unhealthyInRange": "[2-2]"}})
    await cluster.set_ready(node(cluster, names[0]), ready=False)
    await api.condition(Machine, names[0], HEALTH, status="False")
    await api.condition(Machine, names[1], HEALTH, status="True")

    async def versions() -> list[str]:
        found = [await api.get(Machine, name) for name in names]
        found.append(await api.get(MachineHealthCheck, "mhc"))
        return [obj["metadata"]["resourceVersion"] for obj in found]

    await asyncio.sleep(1)
    before = await versions()
    # A heartbeat is no change.
    found = await api.client.get(NODES, None, node(cluster, names[1]))
    stamp = {"lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    beat = {"status": {"conditions": [{**c, **stamp} for c in found["status"]["conditions"]]}}
    await api.client.patch(NODES, None, node(cluster, names[1]), beat, sub="status")
    await asyncio.sleep(2)
    assert await versions() == before


async def test_two_that_disagree_do_not_write_for_ever(cluster: Workload, api: Api) -> None:
    [name] = await workers(cluster, 1)
    held = {"triggerIf": {"unhealthyLessThanOrEqualTo": 0}}
    await create_check(cluster, remediation=held)
    await create_check(cluster, "lenient", checks={"nodeStartupTimeoutSeconds": 600})
    await counted(api, currentHealthy=1)
    await counted(api, "lenient", currentHealthy=1)
    await cluster.set_ready(node(cluster, name), ready=False)
    await counted(api, currentHealthy=0)
    await asyncio.sleep(0.5)
    before = (await api.get(Machine, name))["metadata"]["resourceVersion"]
    await asyncio.sleep(1)
    assert (await api.get(Machine, name))["metadata"]["resourceVersion"] == before


async def test_a_health_check_awaits_its_cluster(cluster: Workload, api: Api) -> None:
    await create_check(cluster, "early", clusterName="later")
    await asyncio.sleep(0.3)
    late = cluster.cluster()
    late["metadata"]["name"] = "later"
    await cluster.create(late)
    await counted(api, "early", expectedMachines=0, remediationsAllowed=0)
    await api.condition(MachineHealthCheck, "early", "RemediationAllowed", status="True")
