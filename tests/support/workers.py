"""Templates and groups of Machines for the integration tier."""

from typing import Any

from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from tests.support.cluster import until
from tests.support.workload import CLOUD_CONFIG, VERSION, Workload

SELECTOR = {"matchLabels": {"group": "g"}}


async def create_templates(cluster: Workload, name: str = "t", **spec: object) -> None:
    """A DockerMachineTemplate, and bootstrap data that all Machines share."""
    template: dict[str, Any] = {"spec": spec, "metadata": {"labels": {"from-template": "yes"}}}
    await cluster.create(cluster.object("DockerMachineTemplate", name, {"template": template}))


async def create_data(cluster: Workload) -> None:
    """The bootstrap data Secret that `template` names."""
    await cluster.create_secret("data", {"value": CLOUD_CONFIG.encode()})


def template(cluster: Workload, *, infrastructure: str = "t", **spec: object) -> JsonObject:
    """A Machine template that selects what `SELECTOR` does."""
    return {
        "metadata": {"labels": {"group": "g"}},
        "spec": {
            "clusterName": cluster.name,
            "version": VERSION,
            "bootstrap": {"dataSecretName": "data"},
            "infrastructureRef": cluster.reference("DockerMachineTemplate", infrastructure),
            **spec,
        },
    }


def group(cluster: Workload, kind: str, name: str, replicas: int, **spec: object) -> JsonObject:
    """A MachineSet or MachineDeployment."""
    machine_template = spec.pop("template", None) or template(cluster)
    wanted = {
        "clusterName": cluster.name, "replicas": replicas, "selector": SELECTOR,
        "template": machine_template, **spec,
    }
    return cluster.object(kind, name, wanted)


async def machines(cluster: Workload) -> list[JsonObject]:
    """The worker Machines, by name."""
    found = [m for m in await cluster.api.list(Machine) if m["metadata"]["labels"].get("group")]
    return sorted(found, key=lambda m: m["metadata"]["name"])


async def running_machines(cluster: Workload, count: int, **spec: object) -> list[JsonObject]:
    """Wait until exactly ``count`` worker Machines exist, all of them available.

    Args:
        spec: what their spec must have.
    """

    async def look() -> list[JsonObject] | bool:
        found = await machines(cluster)
        good = [m for m in found if _available(m) and spec.items() <= m["spec"].items()]
        return len(good) == len(found) == count and (found or True)

    found = await until(look, what=f"{count} Machines with {spec}", timeout=20)
    return found if isinstance(found, list) else []


def _available(machine: JsonObject) -> bool:
    conditions = machine.get("status", {}).get("conditions") or []
    return any(c["type"] == "Available" and c["status"] == "True" for c in conditions)
