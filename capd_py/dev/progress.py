"""What the management cluster says of a workload cluster on its way, by the six steps."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerMachine
from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.conditions import get_condition, is_true
from capi_core.runtime.access import load_access
from capi_core.runtime.client import Client
from capi_core.runtime.reflector import Reflector
from capi_core.runtime.store import Key, Store

_AWAITED = (
    "InfrastructureReady",
    "ControlPlaneMachinesReady",
    "WorkerMachinesReady",
    "Available",
)
STEPS = (
    "infrastructure: the load balancer runs and its address is the endpoint",
    "control plane machine: the Machine, its KubeadmConfig and DockerMachine exist",
    "bootstrap Secret: cloud-init with kubeadm's configuration",
    "node container: it runs and containerd answers",
    "kubeadm init: the API server answers",
    "nodes Ready: workers have joined, the pod network is up",
)


@dataclass
class View:
    """What the management cluster says of one workload cluster, by watches."""

    namespace: str
    name: str
    clusters: Store = field(default_factory=lambda: Store(Cluster.resource))
    machines: Store = field(default_factory=lambda: Store(Machine.resource))
    docker_machines: Store = field(default_factory=lambda: Store(DockerMachine.resource))
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        for store in self.stores():
            store.on_change(lambda *_: self.changed.set())

    def stores(self) -> tuple[Store, ...]:
        """All three."""
        return (self.clusters, self.machines, self.docker_machines)

    def cluster(self) -> Cluster | None:
        """The Cluster."""
        raw = self.clusters.get(Key(self.namespace, self.name))
        return Cluster.parse(raw) if raw else None

    def _machines(self) -> list[Machine]:
        found = self.machines.by_index("cluster", f"{self.namespace}/{self.name}")
        return [Machine.parse(obj) for obj in found]

    def steps_done(self) -> list[bool]:
        """Which of the six steps are done."""
        cluster, machines = self.cluster(), self._machines()
        if cluster is None:
            return [False] * len(STEPS)
        first = next((m for m in machines if CONTROL_PLANE_LABEL in m.metadata.labels), None)
        container = self._docker_machine(first)
        wanted = (cluster.status.control_plane.desired_replicas or 0) + (
            cluster.status.workers.desired_replicas or 0
        )
        ready = [m for m in machines if is_true(m.status.conditions, "NodeReady")]
        return [
            bool(cluster.status.initialization.infrastructure_provisioned),
            first is not None and container is not None,
            first is not None and first.spec.bootstrap.data_secret_name is not None,
            bool(container and container.status.initialization.provisioned),
            is_true(cluster.status.conditions, "ControlPlaneInitialized"),
            len(machines) == wanted > 0 and len(ready) == wanted,
        ]

    def _docker_machine(self, machine: Machine | None) -> DockerMachine | None:
        ref = machine.spec.infrastructure_ref if machine else None
        raw = self.docker_machines.get(Key(self.namespace, ref.name)) if ref else None
        return DockerMachine.parse(raw) if raw else None

    def waiting_for(self) -> str:
        """What the Cluster's own conditions say is awaited, the earliest first."""
        cluster = self.cluster()
        if cluster is None:
            return "the Cluster"
        for kind in _AWAITED:
            condition = get_condition(cluster.status.conditions, kind)
            if condition is not None and condition.status != "True" and condition.message:
                return " ".join(condition.message.split())
        return "the Cluster"


@asynccontextmanager
async def watching(kubeconfig: Path, namespace: str, name: str) -> AsyncGenerator[View]:
    """A view that follows the management cluster of ``kubeconfig``."""
    view, client = View(namespace, name), Client(load_access(str(kubeconfig)), user_agent="capd")
    reflectors = [Reflector(client, store, namespace=namespace) for store in view.stores()]
    tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
    try:
        yield view
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.close()
