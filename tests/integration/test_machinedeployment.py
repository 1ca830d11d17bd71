"""MachineDeployments on the real API server: rollouts within their limits, and their end."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, running, until
from tests.support.workers import (
    create_data,
    create_templates,
    group,
    machines,
    running_machines,
)
from tests.support.workload import Workload, workload

MD = "MachineDeployment"
NEXT = {"spec": {"template": {"spec": {"version": "v1.35.0"}}}}


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A workload cluster that runs, with core and the Docker provider at work on it."""
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


def rolling(surge: int | str, unavailable: int | str) -> JsonObject:
    """spec.rollout of a rolling update."""
    limits = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": limits}}


async def sets(api: Api) -> list[JsonObject]:
    """The MachineSets, oldest first."""
    found = await api.list(MachineSet)
    return sorted(found, key=lambda s: (s["metadata"]["creationTimestamp"], s["metadata"]["name"]))


async def one_set(api: Api) -> JsonObject:
    """The one MachineSet that is left."""

    async def look() -> JsonObject | None:
        found = await sets(api)
        return found[0] if len(found) == 1 else None

    return await until(look, what="one MachineSet")


async def test_a_deployment_makes_a_set_and_tells_how_it_fares(
    cluster: Workload, api: Api
) -> None:
    await cluster.create(group(cluster, MD, "md", 2))
    await running_machines(cluster, 2)
    for kind, status, reason in (
        ("Available", "True", "Available"), ("MachinesReady", "True", "Ready"),
        ("MachinesUpToDate", "True", "UpToDate"), ("RollingOut", "False", "NotRollingOut"),
        ("ScalingUp", "False", "NotScalingUp"), ("ScalingDown", "False", "NotScalingDown"),
        ("Deleting", "False", "NotDeleting"),
    ):
        await api.condition(MachineDeployment, "md", kind, status=status, reason=reason)
    [made] = await sets(api)
    assert made["metadata"]["labels"]["cluster.x-k8s.io/deployment-name"] == "md"
    template_hash = made["metadata"]["labels"]["machine-template-hash"]
    assert made["spec"]["selector"]["matchLabels"]["machine-template-hash"] == template_hash
    found = await api.get(MachineDeployment, "md")
    assert found["status"]["phase"] == "Running"
    assert found["status"]["upToDateReplicas"] == 2
    revision = "machinedeployment.clusters.x-k8s.io/revision"
    assert found["metadata"]["annotations"][revision] == "1"
    [owner] = found["metadata"]["ownerReferences"]
    assert owner["kind"] == "Cluster"


@pytest.mark.parametrize(("surge", "unavailable"), [(1, 0), (0, 1), ("50%", "50%")])
async def test_a_new_version_rolls_out_within_its_limits(
    cluster: Workload, api: Api, surge: int | str, unavailable: int | str
) -> None:
    spec = group(cluster, MD, "md", 2, rollout=rolling(surge, unavailable))
    await cluster.create(spec)
    await running_machines(cluster, 2)
    await api.condition(MachineDeployment, "md", "Available", status="True")
    most, least = 2 + (0 if surge == 0 else 1), 2 - (0 if unavailable == 0 else 1)
    seen: list[tuple[int, int]] = []

    async def rolled() -> bool:
        found = await machines(cluster)
        staying = [m for m in found if "deletionTimestamp" not in m["metadata"]]
        available = [
            m for m in found for c in m.get("status", {}).get("conditions") or []
            if c["type"] == "Available" and c["status"] == "True"
        ]
        seen.append((len(staying), len(available)))
        return len(found) == len(available) == 2 and all(
            m["spec"]["version"] == "v1.35.0" for m in found
        )

    await api.patch(MachineDeployment, "md", NEXT)
    await until(rolled, what="the rollout", timeout=20)
    assert max(total for total, _ in seen) <= most
    assert min(available for _, available in seen) >= least
    left = await one_set(api)
    assert left["spec"]["template"]["spec"]["version"] == "v1.35.0"
    await api.condition(MachineDeployment, "md", "RollingOut", status="False")
    images = {s.image for n, s in cluster.runtime.specs.items() if n in cluster.runtime.names}
    assert "kindest/node:v1.35.0" in images


async def test_a_rollout_that_cannot_go_on_is_told(cluster: Workload, api: Api) -> None:
    await cluster.create(group(cluster, MD, "md", 1))
    await running_machines(cluster, 1)
    cluster.runtime.images = {"kindest/haproxy:v20230606-42a2262b", "kindest/node:v1.34.4"}
    await api.patch(MachineDeployment, "md", NEXT)
    await api.condition(MachineDeployment, "md", "RollingOut", status="True", reason="RollingOut",
                        message="Rolling out 1 not up-to-date replicas\n"
                        "* Version v1.34.4, v1.35.0 required")
    await api.condition(MachineDeployment, "md", "MachinesReady", status="False",
                        message="image kindest/node:v1.35.0 is not on the engine")
    await api.condition(MachineDeployment, "md", "Available", status="True")
    old = [m for m in await machines(cluster) if m["spec"]["version"] == "v1.34.4"]
    assert len(old) == 1
    # Back to what was: the MachineSet that is still there is taken again.
    before = {s["metadata"]["name"] for s in await sets(api)}
    back = {"spec": {"template": {"spec": {"version": "v1.34.4"}}}}
    await api.patch(MachineDeployment, "md", back)
    [left] = await running_machines(cluster, 1, version="v1.34.4")
    assert left["metadata"]["name"] == old[0]["metadata"]["name"]
    assert (await one_set(api))["metadata"]["name"] in before


async def test_missing_templates_are_awaited(cluster: Workload, api: Api) -> None:
    spec = group(cluster, MD, "md", 1)
    reference = cluster.reference("DockerMachineTemplate", "late")
    spec["spec"]["template"]["spec"]["infrastructureRef"] = reference
    await cluster.create(spec)
    await api.condition(MachineDeployment, "md", "ScalingUp", status="True",
                        message="Scaling up from 0 to 1 replicas is blocked because:\n"
                        "* DockerMachineTemplate late does not exist")
    assert await sets(api) == []
    await create_templates(cluster, "late")
    await running_machines(cluster, 1)


async def test_on_delete_replaces_only_what_somebody_deletes(cluster: Workload, api: Api) -> None:
    strategy = {"strategy": {"type": "OnDelete"}}
    await cluster.create(group(cluster, MD, "md", 2, rollout=strategy))
    before = await running_machines(cluster, 2)
    await api.patch(MachineDeployment, "md", NEXT)
    await api.condition(MachineDeployment, "md", "RollingOut", status="True",
                        message="Rolling out 2 not up-to-date replicas")
    await api.delete(Machine, before[0]["metadata"]["name"])

    async def one_of_each() -> bool:
        found = await running_machines(cluster, 2)
        return sorted(m["spec"]["version"] for m in found) == ["v1.34.4", "v1.35.0"]

    await until(one_of_each, what="one Machine of each version")
    await api.delete(Machine, before[1]["metadata"]["name"])
    await running_machines(cluster, 2, version="v1.35.0")
    await one_set(api)


async def test_scaling_and_changes_in_place_make_no_new_set(cluster: Workload, api: Api) -> None:
    await cluster.create(group(cluster, MD, "md", 1))
    [first] = await running_machines(cluster, 1)
    await api.patch(MachineDeployment, "md", {"spec": {"replicas": 3}}, sub="scale")
    await running_machines(cluster, 3)
    change: dict[str, Any] = {"metadata": {"labels": {"new": "label"}},
                              "spec": {"deletion": {"nodeDrainTimeoutSeconds": 9}}}
    await api.patch(MachineDeployment, "md", {"spec": {"template": change}})

    async def reached() -> bool:
        found = await api.get(Machine, first["metadata"]["name"])
        drain = found["spec"].get("deletion", {}).get("nodeDrainTimeoutSeconds")
        return found["metadata"]["labels"].get("new") == "label" and drain == 9

    await until(reached, what="the change to reach the Machines")
    assert len(await sets(api)) == 1
    await api.patch(MachineDeployment, "md", {"spec": {"replicas": 0}}, sub="scale")
    await running_machines(cluster, 0)


async def test_a_paused_deployment_does_not_roll(cluster: Workload, api: Api) -> None:
    await cluster.create(group(cluster, MD, "md", 1))
    await running_machines(cluster, 1)
    await api.patch(MachineDeployment, "md", {"spec": {**NEXT["spec"], "paused": True}})
    await api.condition(MachineDeployment, "md", "RollingOut", status="True")
    assert len(await sets(api)) == 1
    await api.patch(MachineDeployment, "md", {"spec": {"paused": False}})
    await running_machines(cluster, 1, version="v1.35.0")


async def test_deletion_takes_everything_along(cluster: Workload, api: Api) -> None:
    await cluster.create(group(cluster, MD, "md", 2))
    await running_machines(cluster, 2)
    await api.delete(MachineDeployment, "md")
    await api.gone(MachineDeployment, "md")
    assert await sets(api) == await machines(cluster) == []
    assert cluster.runtime.names == [f"{cluster.name}-cp", f"{cluster.name}-lb"]
