"""The management cluster of the e2e tier and workload clusters in it, to ask and wait for."""

import asyncio
import json
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from capd_py.dev.kubectl import Kubectl
from capd_py.dev.network import apply_network
from capd_py.dev.progress import STEPS, View, watching
from capd_py.engine.process import CommandError
from capi_core.api.meta import JsonObject

T = TypeVar("T")
NAME = "capd-e2e"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "quick-start.yaml"
KINDS = "clusters,kubeadmcontrolplanes,machinedeployments,machinesets,machines,kubeadmconfigs," + (
    "dockerclusters,dockermachines"
)
MANAGERS = {
    "capi-system": "capi",
    "capi-kubeadm-bootstrap-system": "capi-kubeadm-bootstrap",
    "capi-kubeadm-control-plane-system": "capi-kubeadm-control-plane",
    "capd-system": "capd",
}


@dataclass
class Management:
    """A management cluster with the managers in it."""

    kubeconfig: Path
    kubectl: Kubectl = field(init=False)

    def __post_init__(self) -> None:
        self.kubectl = Kubectl(self.kubeconfig)

    @property
    def uid(self) -> str:
        """What its containers are labelled with."""
        return self.kubectl.cluster_uid()

    def containers(self, cluster: str, namespace: str = "") -> list[str]:
        """Names of a workload cluster's containers, running or not."""
        filters = [f"label=io.x-k8s.kind.cluster={cluster}"]
        filters.append(f"label=io.capd-py.management-cluster={self.uid}")
        if namespace:
            filters.append(f"label=io.capd-py.namespace={namespace}")
        arguments = [part for item in filters for part in ("--filter", item)]
        return docker("ps", "-a", "--format", "{{.Names}}", *arguments).split()

    def kill_managers(self) -> None:
        """End every manager without a chance to say goodbye."""
        for namespace in MANAGERS:
            self.kubectl(
                "delete", "pod", "--all", "-n", namespace, "--grace-period=0", "--force",
                "--wait=false",
            )

    def names(self, kind: str, namespace: str) -> list[str]:
        """Names of the objects of a kind."""
        found = self.kubectl.get(kind, "-n", namespace)["items"]
        return [item["metadata"]["name"] for item in found]

    def story(self, cluster: str, namespace: str) -> str:
        """Everything that helps to see why a test waited in vain."""
        parts = [
            self._try("get", KINDS, "-n", namespace),
            self._try("get", "cluster", cluster, "-n", namespace, "-o", "yaml"),
            self._try("get", "dockermachines,machines", "-n", namespace, "-o", "yaml")[-8000:],
            self._try("get", "events", "-n", namespace, "--sort-by=.lastTimestamp")[-6000:],
        ]
        for manager_namespace, name in MANAGERS.items():
            deployment = f"deployment/{name}-controller-manager"
            parts.append(self._try("logs", deployment, "-n", manager_namespace, "--tail=25"))
        for name in self.containers(cluster, namespace):
            if not name.endswith("-lb"):
                journal = ("journalctl", "-u", "kubelet", "-u", "containerd", "-n", "25")
                parts.append(docker("exec", name, *journal, check=False))
        return "\n\n".join(parts)

    def _try(self, *args: str) -> str:
        try:
            return self.kubectl(*args)
        except CommandError as error:
            return str(error)


def docker(*args: str, check: bool = True) -> str:
    """Run the engine's client."""
    done = subprocess.run(
        ["docker", *args], capture_output=True, text=True, timeout=120, check=False
    )
    if check and done.returncode:
        raise AssertionError(f"docker {' '.join(args)}: {done.stderr}")
    return done.stdout


def manifest(
    name: str, *, workers: int = 2, change: Callable[[JsonObject], None] | None = None
) -> str:
    """The quick start's objects under another name.

    Args:
        change: called with each object.
    """
    text = EXAMPLE.read_text().replace("quick-start", name)
    objects: list[JsonObject] = list(yaml.safe_load_all(text))
    for obj in objects:
        if obj["kind"] == "MachineDeployment":
            obj["spec"]["replicas"] = workers
        if change is not None:
            change(obj)
    return yaml.safe_dump_all(objects)


@dataclass
class Workload:
    """A workload cluster on its way."""

    management: Management
    namespace: str
    name: str
    view: View
    started: float

    @property
    def seconds(self) -> float:
        """Since its objects were applied."""
        return time.monotonic() - self.started

    async def step(self, number: int, *, timeout: float = 120.0) -> float:
        """Wait until step ``number`` of the six is done; returns the seconds since the apply."""
        await self.until(lambda v: v.steps_done()[number - 1], STEPS[number - 1], timeout)
        return self.seconds

    async def until(
        self, look: Callable[[View], Any], what: str, timeout: float = 120.0
    ) -> None:
        """Wait for something in the view; on failure, the story."""
        try:
            async with asyncio.timeout(timeout):
                while not look(self.view):
                    self.view.changed.clear()
                    await self.view.changed.wait()
        except TimeoutError:
            story = self.management.story(self.name, self.namespace)
            raise AssertionError(f"waited {timeout} s in vain for {what}\n{story}") from None

    async def ready(self, *, timeout: float = 120.0) -> Kubectl:
        """Wait for all six steps, applying the pod network; returns access to the cluster."""
        await self.step(5, timeout=timeout)
        path = await apply_network(self.management.kubeconfig, self.namespace, self.name)
        await self.step(6, timeout=timeout)
        return Kubectl(path)

    async def delete(self, *, timeout: float = 60.0) -> float:
        """Delete the Cluster and wait until nothing of it is left; returns the seconds."""
        start = time.monotonic()
        arguments = ("delete", "cluster", self.name, "-n", self.namespace, "--wait=false")
        await asyncio.to_thread(self.management.kubectl, *arguments)
        await self.until(lambda v: v.cluster() is None, "the Cluster to go", timeout)
        seconds = time.monotonic() - start
        left = self.management.containers(self.name, self.namespace)
        assert left == [], f"orphans on the engine: {left}"
        kinds = f"{KINDS},dockermachinetemplates,kubeadmconfigtemplates,secrets"
        look = ("get", kinds, "-n", self.namespace, "-o", "name")
        await eventually(
            lambda: self.management.kubectl(*look).split(),
            lambda names: names == [],
            "nothing left in the API",
            timeout=20.0,
        )
        return seconds


async def eventually(
    look: Callable[[], T], good: Callable[[T], bool], what: str, *, timeout: float = 60.0
) -> T:
    """The first good answer of ``look``, which may block; a failure tells the last one."""
    deadline = time.monotonic() + timeout
    last: object = None
    while time.monotonic() < deadline:
        try:
            last = await asyncio.to_thread(look)
            if good(last):  # pyright: ignore[reportArgumentType]
                return last  # pyright: ignore[reportReturnType]
        except CommandError as error:
            last = error
        await asyncio.sleep(0.2)
    raise AssertionError(f"waited {timeout} s in vain for {what}; last seen: {last}")


async def with_workload(
    management: Management,
    name: str,
    test: Callable[[Workload], Awaitable[T]],
    *,
    namespace: str = "",
    workers: int = 2,
    change: Callable[[JsonObject], None] | None = None,
) -> T:
    """Apply a cluster in a namespace of its own, run ``test``, and leave nothing behind."""
    kubectl, namespace = management.kubectl, namespace or name
    text = json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    kubectl("apply", "-f", "-", stdin=text)
    async with watching(management.kubeconfig, namespace, name) as view:
        workload = Workload(management, namespace, name, view, time.monotonic())
        try:
            await asyncio.to_thread(
                kubectl, "apply", "-n", namespace, "-f", "-",
                stdin=manifest(name, workers=workers, change=change),
            )
            return await test(workload)
        finally:
            arguments = ("delete", "cluster", name, "-n", namespace, "--ignore-not-found")
            await asyncio.to_thread(kubectl, *arguments, "--timeout=90s", timeout=100)
            await asyncio.to_thread(
                kubectl, "delete", "namespace", namespace, "--wait=false", "--ignore-not-found"
            )
