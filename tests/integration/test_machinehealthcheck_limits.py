"""Limits of MachineHealthChecks, and who remediates: MachineSets, somebody else, or nobody."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.cluster import Cluster
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.api.machineset import MachineSet
from tests.support import foreign
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, EVENTS, Api, running, until
from tests.support.healthchecks import (
    HEALTH,
    HOLD,
    OWNER,
    PAUSED,
    SKIP,
    annotate,
    conditions,
    counted,
    create_check,
    node,
    replaced,
    workers,
)
from tests.support.workers import (
    create_data,
    create_templates,
    group,
    machines,
    running_machines,
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


async def test_limits_hold_remediation_back(cluster: Workload, api: Api) -> None:
    names = await workers(cluster, 3)
    limit = {"triggerIf": {"unhealthyLessThanOrEqualTo": "40%"}}
    await create_check(cluster, remediation=limit)
    await counted(api, expectedMachines=3, currentHealthy=3, remediationsAllowed=1)
    for name in names[:2]:
        # Not found unhealthy one after the other: the first alone would be replaced.
        await annotate(api, name, SKIP)
        await cluster.set_ready(node(cluster, name), ready=False)
    await counted(api, expectedMachines=1)
    await api.patch(MachineHealthCheck, "mhc", {"metadata": {"annotations": {PAUSED: ""}}})
    await api.condition(MachineHealthCheck, "mhc", "Paused", status="True", reason="Paused")
    for name in names[:2]:
        await annotate(api, name, SKIP, None)
    await api.patch(MachineHealthCheck, "mhc", {"metadata": {"annotations": {PAUSED: None}}})
    await api.condition(
        MachineHealthCheck, "mhc", "RemediationAllowed", status="False", reason="TooManyUnhealthy",
        message="exceeds maxUnhealthy (total: 3, unhealthy: 2, maxUnhealthy: 40%)",
    )
    await counted(api, currentHealthy=1, remediationsAllowed=0)
    for name in names[:2]:
        await api.condition(Machine, name, HEALTH, status="False", reason="UnhealthyNode")
        assert OWNER not in await conditions(api, name)
    await api.condition(
        MachineSet, "g", "Remediating", status="False", reason="NotRemediating",
        message="are not healthy (not to be remediated by MachineSet)",
    )

    async def event() -> bool:
        return any(e["reason"] == "RemediationRestricted" for e in await api.list(EVENTS))

    await until(event, what="the event")

    # One recovers; the other is within the limit then.
    await cluster.set_ready(node(cluster, names[0]), ready=True)
    await replaced(cluster, 3, names[1])
    assert names[0] in [m["metadata"]["name"] for m in await machines(cluster)]
    await api.condition(Machine, names[0], HEALTH, status="True")
    await counted(api, currentHealthy=3, remediationsAllowed=1)


async def test_a_range_has_two_ends(cluster: Workload, api: Api) -> None:
    names = await workers(cluster, 2)
    await create_check(cluster, remediation={"triggerIf": {"unhealthyInRange": "[2-3]"}})
    await api.condition(
        MachineHealthCheck, "mhc", "RemediationAllowed", status="False", reason="TooManyUnhealthy",
        message="does not fall within the range (total: 2, unhealthy: 0, unhealthyRange: [2-3])",
    )
    await cluster.set_ready(node(cluster, names[0]), ready=False)
    await api.condition(Machine, names[0], HEALTH, status="False")
    await counted(api, currentHealthy=1, remediationsAllowed=0)
    assert OWNER not in await conditions(api, names[0])
    await cluster.set_ready(node(cluster, names[1]), ready=False)
    for name in names:
        await api.gone(Machine, name)
    await running_machines(cluster, 2)


async def test_only_so_many_remediations_in_flight(cluster: Workload, api: Api) -> None:
    limited = group(cluster, "MachineDeployment", "g", 2, remediation={"maxInFlight": 1})
    await cluster.create(limited)
    names = [m["metadata"]["name"] for m in await running_machines(cluster, 2)]
    for name in names:
        await annotate(api, name, HOLD)
    await create_check(cluster)
    await counted(api, currentHealthy=2)
    for name in names:
        await cluster.set_ready(node(cluster, name), ready=False)

    async def split() -> list[str]:
        found = {name: (await conditions(api, name)).get(OWNER, {}) for name in names}
        by_reason = {c.get("reason", ""): name for name, c in found.items()}
        return [by_reason["MachineDeleting"], by_reason["RemediationDeferred"]]

    first, second = await until(split, what="one to go and one to wait", tolerate=KeyError)
    told = (await conditions(api, second))[OWNER]["message"]
    assert told.endswith("(spec.remediation.maxInFlight is 1)")
    assert not (await api.get(Machine, second))["metadata"].get("deletionTimestamp")
    await api.condition(MachineDeployment, "g", "Remediating", status="True")
    # It recovers while it waits.
    await cluster.set_ready(node(cluster, second), ready=True)
    await api.condition(Machine, second, HEALTH, status="True")

    async def forgotten() -> bool:
        return OWNER not in await conditions(api, second)

    await until(forgotten, what="OwnerRemediated to go")
    await annotate(api, first, HOLD, None)
    await replaced(cluster, 2, first)


async def test_skipped_machines_are_no_targets(cluster: Workload, api: Api) -> None:
    names = await workers(cluster, 2)
    await annotate(api, names[0], SKIP)
    await create_check(cluster)
    await counted(api, expectedMachines=1, targets=[names[1]])
    await cluster.set_ready(node(cluster, names[0]), ready=False)
    await api.condition(Machine, names[0], "NodeHealthy", status="False")
    await asyncio.sleep(0.5)
    assert HEALTH not in await conditions(api, names[0])
    await annotate(api, names[0], SKIP, None)
    await replaced(cluster, 2, names[0])


async def test_a_pause_stops_judging(cluster: Workload, api: Api) -> None:
    [name] = await workers(cluster, 1)
    await create_check(cluster)
    await counted(api, currentHealthy=1)
    await api.patch(Cluster, cluster.name, {"spec": {"paused": True}})
    await api.condition(
        MachineHealthCheck, "mhc", "Paused", status="True", reason="Paused", message="spec.paused"
    )
    await cluster.set_ready(node(cluster, name), ready=False)
    await asyncio.sleep(0.5)
    assert (await conditions(api, name))[HEALTH]["status"] == "True"
    await api.patch(Cluster, cluster.name, {"spec": {"paused": False}})
    await replaced(cluster, 1, name)


REQUEST = foreign.resource("Repair")
TEMPLATE = foreign.resource("RepairTemplate")


async def test_somebody_else_remediates(cluster: Workload, api: Api) -> None:
    [name] = await workers(cluster, 1)
    await foreign.install(api, REQUEST, "")
    await foreign.install(api, TEMPLATE, "")
    ref = {"apiVersion": TEMPLATE.api_version, "kind": "RepairTemplate", "name": "repair"}
    await create_check(cluster, remediation={"templateRef": ref})
    await counted(api, currentHealthy=1)
    await cluster.set_ready(node(cluster, name), ready=False)
    await api.condition(
        Machine, name, "ExternallyRemediated", status="False", reason="RemediationTemplateNotFound",
        message=f"RepairTemplate {api.namespace}/repair",
    )
    inner = {"template": {"spec": {"strategy": "Reboot"}}}
    await foreign.create(api, TEMPLATE, "repair", spec=inner)
    await api.condition(
        Machine, name, "ExternallyRemediated", status="False", reason="WaitingForRemediation"
    )
    request = await api.get(REQUEST, name)
    assert request["spec"] == {"strategy": "Reboot"}
    [owner] = request["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Machine", name)
    assert request["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == cluster.name
    assert OWNER not in await conditions(api, name)
    await cluster.set_ready(node(cluster, name), ready=True)
    await api.gone(REQUEST, name)
    await api.condition(Machine, name, HEALTH, status="True")
    assert not (await api.get(Machine, name))["metadata"].get("deletionTimestamp")
