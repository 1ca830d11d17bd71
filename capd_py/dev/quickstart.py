"""The quick start: applies the example and tells its six steps as they happen."""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.status import Status

from capd_py.dev.kubeconfig import write_kubeconfig
from capd_py.dev.kubectl import Kubectl
from capd_py.dev.up import project_root
from capd_py.engine import EngineError
from capd_py.engine.process import CommandError
from capd_py.images import cni_manifest
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerMachine
from capi_core.api.machine import Machine
from capi_core.conditions import get_condition, is_true
from capi_core.runtime.access import load_access
from capi_core.runtime.client import Client
from capi_core.runtime.reflector import Reflector
from capi_core.runtime.store import Key, Store

NAMESPACE, CLUSTER = "default", "quick-start"
_LIMIT_SECONDS = 300.0
_CONTROL_PLANE = "cluster.x-k8s.io/control-plane"
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
    """What the management cluster says, by watches."""

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
        """The quick start's Cluster."""
        raw = self.clusters.get(Key(NAMESPACE, CLUSTER))
        return Cluster.parse(raw) if raw else None

    def _machines(self) -> list[Machine]:
        found = self.machines.by_index("cluster", f"{NAMESPACE}/{CLUSTER}")
        return [Machine.parse(obj) for obj in found]

    def steps_done(self) -> list[bool]:
        """Which of the six steps are done."""
        cluster, machines = self.cluster(), self._machines()
        if cluster is None:
            return [False] * len(STEPS)
        first = next((m for m in machines if _CONTROL_PLANE in m.metadata.labels), None)
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
        raw = self.docker_machines.get(Key(NAMESPACE, ref.name)) if ref else None
        return DockerMachine.parse(raw) if raw else None

    def waiting_for(self) -> str:
        """What the Cluster's own condition says is awaited."""
        cluster = self.cluster()
        condition = get_condition(cluster.status.conditions, "Available") if cluster else None
        return condition.message.replace("\n", " ") if condition else "the Cluster"


def run_quickstart(kubeconfig: Path, console: Console) -> Path:
    """Apply the example, tell the steps, return the workload cluster's kubeconfig.

    Raises:
        EngineError: it was refused, or not Ready within five minutes.
    """
    kubectl = Kubectl(kubeconfig)
    path = asyncio.run(_follow(kubectl, console))
    workload = Kubectl(path)
    console.print(workload("get", "nodes", "-o", "wide"), highlight=False, markup=False)
    console.print(f"export KUBECONFIG={path}", highlight=False, soft_wrap=True)
    return path


async def _follow(kubectl: Kubectl, console: Console) -> Path:
    view, client = View(), Client(load_access(str(kubectl.kubeconfig)), user_agent="capd")
    reflectors = [Reflector(client, store, namespace=NAMESPACE) for store in view.stores()]
    tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
    try:
        example = project_root() / "examples" / "quick-start.yaml"
        start = time.monotonic()
        await asyncio.to_thread(kubectl, "apply", "-n", NAMESPACE, "-f", str(example))
        with console.status("applied") as status:
            return await asyncio.wait_for(
                _tell(view, kubectl, console, status, start), _LIMIT_SECONDS
            )
    except TimeoutError as error:
        raise EngineError(
            f"not Ready within {_LIMIT_SECONDS:.0f} s; waiting for: {view.waiting_for()}",
            f"kubectl --kubeconfig {kubectl.kubeconfig} describe cluster {CLUSTER}",
        ) from error
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.close()


async def _tell(
    view: View, kubectl: Kubectl, console: Console, status: Status, start: float
) -> Path:
    told, network = 0, None
    while True:
        view.changed.clear()
        done = view.steps_done()
        while told < len(STEPS) and done[told]:
            told += 1
            seconds = time.monotonic() - start
            console.print(f"{seconds:6.1f} s  {told}. {STEPS[told - 1]}", highlight=False)
        if told >= len(STEPS) - 1 and network is None:
            network = asyncio.create_task(_apply_network(kubectl.kubeconfig))
        if told == len(STEPS) and network is not None:
            return await network
        status.update(f"waiting for: {view.waiting_for()[:200]}")
        await view.changed.wait()


async def _apply_network(management: Path) -> Path:
    """The pod network of the workload cluster, as soon as its API server answers."""
    path = await asyncio.to_thread(write_kubeconfig, management, NAMESPACE, CLUSTER)
    deadline = time.monotonic() + 30
    while True:
        try:
            await asyncio.to_thread(Kubectl(path), "apply", "-f", "-", stdin=cni_manifest())
            return path
        except CommandError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.3)
