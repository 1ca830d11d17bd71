"""MachineSets on the real API server: as many Machines as wanted, and what stands in the way."""

from collections.abc import AsyncIterator

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerMachine, DockerMachineTemplate
from capi_core.api.kubeadm.config import KubeadmConfig
from capi_core.api.machine import Machine
from capi_core.api.machineset import MachineSet
from tests.support import foreign
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, EVENTS, Api, running, until
from tests.support.workers import (
    create_data,
    create_templates,
    group,
    machines,
    running_machines,
    template,
)
from tests.support.workload import Workload, workload


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
        await api.condition(Machine, "cp", "Available", status="True")
        yield made


async def counters(api: Api, name: str, **wanted: int) -> None:
    """Wait for numbers in the status."""

    async def look() -> bool:
        status = (await api.get(MachineSet, name)).get("status") or {}
        return all(status.get(key) == value for key, value in wanted.items())

    await until(look, what=f"{name} to have {wanted}")


async def test_machines_are_made_counted_and_taken_away(cluster: Workload, api: Api) -> None:
    await create_templates(cluster)
    await cluster.create(group(cluster, "MachineSet", "ms", 2))
    made = await running_machines(cluster, 2)
    await counters(api, "ms", replicas=2, readyReplicas=2, availableReplicas=2)
    for kind, status, reason in (
        ("ScalingUp", "False", "NotScalingUp"), ("ScalingDown", "False", "NotScalingDown"),
        ("MachinesReady", "True", "Ready"), ("Remediating", "False", "NotRemediating"),
        ("Deleting", "False", "NotDeleting"),
    ):
        await api.condition(MachineSet, "ms", kind, status=status, reason=reason)
    status = (await api.get(MachineSet, "ms"))["status"]
    assert status["selector"] == "group=g"
    assert status["versions"] == [{"version": "v1.34.4", "replicas": 2}]
    machine = made[0]
    name = machine["metadata"]["name"]
    [owner] = machine["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("MachineSet", "ms", True)
    assert machine["metadata"]["labels"]["cluster.x-k8s.io/set-name"] == "ms"
    assert name.startswith("ms-")
    infrastructure = await api.get(DockerMachine, name)
    assert infrastructure["metadata"]["labels"]["from-template"] == "yes"
    assert infrastructure["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-name"] == "t"
    [owner] = infrastructure["metadata"]["ownerReferences"]
    assert owner["kind"] == "Machine"
    [owner] = (await api.get(DockerMachineTemplate, "t"))["metadata"]["ownerReferences"]
    assert owner["kind"] == "Cluster"

    marked = {"metadata": {"annotations": {"cluster.x-k8s.io/delete-machine": ""}}}
    await api.patch(Machine, made[1]["metadata"]["name"], marked)
    await api.patch(MachineSet, "ms", {"spec": {"replicas": 1}}, sub="scale")
    [left] = await running_machines(cluster, 1)
    assert left["metadata"]["name"] == name

    await api.delete(MachineSet, "ms")
    await api.gone(MachineSet, "ms")
    assert await machines(cluster) == []
    assert cluster.runtime.names == [f"{cluster.name}-cp", f"{cluster.name}-lb"]


async def test_a_machine_that_is_deleted_is_replaced(cluster: Workload, api: Api) -> None:
    await create_templates(cluster)
    await cluster.create(group(cluster, "MachineSet", "ms", 1))
    [first] = await running_machines(cluster, 1)
    name = first["metadata"]["name"]
    await api.delete(Machine, name)
    await api.gone(Machine, name)
    [second] = await running_machines(cluster, 1)
    assert second["metadata"]["name"] != name


async def test_missing_templates_are_told_and_awaited(cluster: Workload, api: Api) -> None:
    config = cluster.reference("KubeadmConfigTemplate", "b")
    both = template(cluster, bootstrap={"configRef": config})
    await cluster.create(group(cluster, "MachineSet", "ms", 1, template=both))
    await api.condition(MachineSet, "ms", "ScalingUp", status="True", reason="ScalingUp",
                        message="Scaling up from 0 to 1 replicas is blocked because:\n"
                        "* DockerMachineTemplate t does not exist")
    await create_templates(cluster)
    await api.condition(MachineSet, "ms", "ScalingUp", status="True",
                        message="* KubeadmConfigTemplate b does not exist", timeout=3)
    assert await machines(cluster) == []
    bare = {"template": {"metadata": {"labels": {"bare": "yes"}}}}
    await cluster.create(cluster.object("KubeadmConfigTemplate", "b", bare))

    async def made() -> bool:
        return len(await machines(cluster)) == 1

    await until(made, what="a Machine", timeout=3)
    [config_made] = await api.list(KubeadmConfig)
    assert config_made["metadata"]["labels"]["bare"] == "yes"
    assert "spec" not in config_made


async def test_an_unknown_kind_of_template_is_told(cluster: Workload, api: Api) -> None:
    unknown = foreign.reference(foreign.resource("NoSuchTemplate"), "x")
    bad = template(cluster, infrastructureRef=unknown)
    await cluster.create(group(cluster, "MachineSet", "ms", 1, template=bad))
    await api.condition(MachineSet, "ms", "ScalingUp", status="True", message="nosuchtemplates")


async def test_what_was_made_for_a_machine_that_is_refused_goes(
    cluster: Workload, api: Api
) -> None:
    # Of the second kind there are templates only: its clone cannot be made.
    await create_templates(cluster)
    config = {"template": {"spec": {"format": "cloud-config"}}}
    await cluster.create(cluster.object("KubeadmConfigTemplate", "b", config))
    kind = foreign.resource("PickyMachineTemplate")
    await foreign.install(api, kind, "v1beta2")
    await foreign.create(api, kind, "p", spec={"template": {"spec": {}}})
    both = template(
        cluster, infrastructureRef=foreign.reference(kind, "p"),
        bootstrap={"configRef": cluster.reference("KubeadmConfigTemplate", "b")},
    )
    await cluster.create(group(cluster, "MachineSet", "ms", 1, template=both))

    async def told() -> bool:
        failures = [e for e in await api.list(EVENTS) if e["reason"] == "FailedCreate"]
        return any(e["count"] >= 3 for e in failures)

    await until(told, what="three failures to be told")

    async def clean() -> bool:
        return len(await api.list(KubeadmConfig)) <= 1 and not await machines(cluster)

    await until(clean, what="what was made half-way to go")


async def test_orphans_are_adopted_and_strangers_are_not(cluster: Workload, api: Api) -> None:
    await create_templates(cluster)
    for name, label in (("orphan", "g"), ("stranger", "h")):
        await cluster.create(cluster.object("DockerMachine", name, {}))
        machine = cluster.machine(name, bootstrap={"dataSecretName": "data"})
        machine["metadata"]["labels"]["group"] = label
        await cluster.create(machine)
    await cluster.create(group(cluster, "MachineSet", "ms", 1))
    await counters(api, "ms", replicas=1)

    async def adopted() -> bool:
        owners = (await api.get(Machine, "orphan"))["metadata"].get("ownerReferences") or []
        return any(o["kind"] == "MachineSet" and o.get("controller") for o in owners)

    await until(adopted, what="the orphan to be adopted")
    owners = (await api.get(Machine, "stranger"))["metadata"].get("ownerReferences") or []
    assert not any(o.get("controller") for o in owners)
    assert len(await machines(cluster)) == 2


async def test_changes_that_need_no_rollout_reach_the_machines(
    cluster: Workload, api: Api
) -> None:
    await create_templates(cluster)
    await cluster.create(group(cluster, "MachineSet", "ms", 1))
    [machine] = await running_machines(cluster, 1)
    change = {"metadata": {"labels": {"new": "label"}, "annotations": {"new": "note"}},
              "spec": {"deletion": {"nodeDrainTimeoutSeconds": 7}}}
    await api.patch(MachineSet, "ms", {"spec": {"template": change}})

    async def reached() -> bool:
        found = await api.get(Machine, machine["metadata"]["name"])
        return (
            found["metadata"]["labels"].get("new") == "label"
            and found["metadata"]["annotations"].get("new") == "note"
            and found["spec"].get("deletion", {}).get("nodeDrainTimeoutSeconds") == 7
        )

    await until(reached, what="the change to reach the Machine")


async def test_a_machine_that_a_health_check_gave_up_is_replaced(
    cluster: Workload, api: Api
) -> None:
    await create_templates(cluster)
    await cluster.create(group(cluster, "MachineSet", "ms", 1))
    [machine] = await running_machines(cluster, 1)
    name, stamp = machine["metadata"]["name"], "2026-01-01T00:00:00Z"
    given_up = [
        {"type": kind, "status": "False", "reason": "Test", "message": "",
         "lastTransitionTime": stamp}
        for kind in ("HealthCheckSucceeded", "OwnerRemediated")
    ]
    conditions = [*machine["status"]["conditions"], *given_up]
    await api.patch(Machine, name, {"status": {"conditions": conditions}}, sub="status")
    await api.gone(Machine, name)
    await running_machines(cluster, 1)


async def test_a_paused_cluster_makes_no_machines(cluster: Workload, api: Api) -> None:
    await create_templates(cluster)
    await api.patch(Cluster, cluster.name, {"spec": {"paused": True}})
    await api.condition(Cluster, cluster.name, "Paused", status="True")
    await cluster.create(group(cluster, "MachineSet", "ms", 1))
    await api.condition(MachineSet, "ms", "Paused", status="True", reason="Paused")
    assert await machines(cluster) == []
    await api.patch(Cluster, cluster.name, {"spec": {"paused": False}})
    await running_machines(cluster, 1)
