"""Health checks of workers, and what they say, for the integration tier."""

from datetime import datetime
from typing import Any

from capi_core.api.machine import Machine
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import NODES
from tests.support.cluster import Api, until
from tests.support.workers import SELECTOR, group, running_machines
from tests.support.workload import Workload

SKIP = "cluster.x-k8s.io/skip-remediation"
PAUSED = "cluster.x-k8s.io/paused"
# Keeps a Machine that is being deleted, so that its conditions can be looked at.
HOLD = "pre-drain.delete.hook.machine.cluster.x-k8s.io/tests"
REMEDIATE = "cluster.x-k8s.io/remediate-machine"
HEALTH, OWNER = "HealthCheckSucceeded", "OwnerRemediated"
NOT_READY = {"type": "Ready", "status": "False", "timeoutSeconds": 0}


async def create_check(cluster: Workload, name: str = "mhc", **spec: Any) -> None:
    """A health check of the workers, which minds Nodes that are not ready."""
    wanted: dict[str, Any] = {
        "clusterName": cluster.name,
        "selector": SELECTOR,
        "checks": {"unhealthyNodeConditions": [NOT_READY]},
        **spec,
    }
    await cluster.create(cluster.object("MachineHealthCheck", name, wanted))


async def workers(cluster: Workload, count: int, kind: str = "MachineSet") -> list[str]:
    """Names of running workers."""
    await cluster.create(group(cluster, kind, "g", count))
    return [m["metadata"]["name"] for m in await running_machines(cluster, count)]


def node(cluster: Workload, machine: str) -> str:
    """The name of a Machine's Node: its container's."""
    return f"{cluster.name}-{machine}"


async def counted(api: Api, name: str = "mhc", **wanted: Any) -> None:
    """Wait for values in the health check's status."""

    async def look() -> bool:
        status = (await api.get(MachineHealthCheck, name)).get("status") or {}
        return all(status.get(key) == value for key, value in wanted.items())

    async def story() -> str:
        return str(await api.get(MachineHealthCheck, name))

    await until(look, what=f"{name} to have {wanted}", story=story)


async def annotate(api: Api, name: str, note: str, value: str | None = "") -> None:
    """Put an annotation on a Machine; None takes it away."""
    await api.patch(Machine, name, {"metadata": {"annotations": {note: value}}})


async def conditions(api: Api, name: str) -> dict[str, JsonObject]:
    """The conditions of a Machine by type."""
    found = (await api.get(Machine, name))["status"]["conditions"]
    return {condition["type"]: condition for condition in found}


async def press(cluster: Workload, machine: str, since: datetime) -> None:
    """The Node reports disk pressure that began at a time."""
    told = {
        "type": "DiskPressure", "status": "True", "reason": "Test", "message": "told by the test",
        "lastTransitionTime": since.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    client, name = cluster.api.client, node(cluster, machine)
    have = (await client.get(NODES, None, name))["status"]["conditions"]
    body = {"status": {"conditions": [*(c for c in have if c["type"] != told["type"]), told]}}
    await client.patch(NODES, None, name, body, sub="status")


async def replaced(cluster: Workload, count: int, gone: str) -> None:
    """Wait until a Machine is gone and as many as before run."""
    await cluster.api.gone(Machine, gone)
    assert gone not in [m["metadata"]["name"] for m in await running_machines(cluster, count)]
