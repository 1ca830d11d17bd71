"""A workload cluster without machines: the test's own API server plays its API server.

The server's CA becomes ``<cluster>-ca`` and its address the control plane endpoint, so kubeconfigs
that controllers write are real and the Nodes are real objects. A bootstrap in the fake engine
registers the Node of its container, as kubelet would.
"""

import asyncio
import base64
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Sequence

from capd_py.container.fake import FakeRuntime
from capd_py.container.identity import provider_id
from capd_py.container.runtime import Container, Executed
from capi_core.api import KINDS
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import NODES
from capi_core.contract.secrets import CA, SECRET_TYPE, SECRETS, secret_name
from capi_core.runtime.errors import AlreadyExists
from tests.support.apiserver import ApiServer
from tests.support.cluster import Api

VERSION = "v1.34.4"
CLOUD_CONFIG = "#cloud-config\nruncmd:\n- kubeadm join --config /run/kubeadm/join.yaml\n"
CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
RESOURCES = {kind.resource.kind: kind.resource for kind in KINDS}
OnBootstrap = Callable[[Container, bytes], Executed | None]
_numbers = itertools.count(1)


def is_bootstrap(command: Sequence[str]) -> bool:
    """Whether a command in a container is its bootstrap."""
    return "capd-bootstrap" in command


def failed(code: int, step: int, output: str = "", errors: str = "") -> Executed:
    """How a bootstrap ends whose step number ``step`` fails."""
    return Executed(0, f"{code}\n{step:04}\n{output}", errors)


class Workload:
    """A cluster named ``name`` in the test's namespace, and its parts.

    Attributes:
        on_bootstrap: called with the container and the packed bootstrap; what it returns is the
            outcome and nothing registers, None registers the Node.
        registers: whether bootstraps register Nodes.
        node_spec: what a kubelet would put into its Node's spec.
    """

    def __init__(self, server: ApiServer, api: Api, runtime: FakeRuntime, name: str) -> None:
        self.server, self.api, self.runtime, self.name = server, api, runtime, name
        self.on_bootstrap: OnBootstrap = lambda container, archive: None
        self.registers = True
        self.node_spec: JsonObject = {}
        self.nodes: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        runtime.on_execute = self._execute

    def _execute(self, container: Container, command: Sequence[str], stdin: bytes) -> Executed:
        if not is_bootstrap(command):
            return Executed(0, "", "")
        if (outcome := self.on_bootstrap(container, stdin)) is not None:
            return outcome
        if self.registers:
            task = asyncio.get_running_loop().create_task(self.register(container.name))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return Executed(0, "0\n", "")

    async def register(self, name: str, *, ready: bool = True) -> None:
        """A Node registers, with the provider id of the container of its name."""
        spec = {"providerID": provider_id(name), **self.node_spec}
        node: JsonObject = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "spec": {key: value for key, value in spec.items() if value is not None},
        }
        self.nodes.append(name)
        with contextlib.suppress(AlreadyExists):
            await self.api.client.create(node, NODES)
        await self.set_ready(name, ready=ready)

    async def set_ready(self, name: str, *, ready: bool) -> None:
        """The Node reports its conditions."""
        wanted = {"Ready": ready, "MemoryPressure": False, "DiskPressure": False}
        conditions = [
            {"type": kind, "status": str(value), "reason": "Test", "message": f"{kind} is {value}"}
            for kind, value in {**wanted, "PIDPressure": False}.items()
        ]
        body = {"status": {"conditions": conditions, "nodeInfo": {"kubeletVersion": VERSION}}}
        await self.api.client.patch(NODES, None, name, body, sub="status")

    async def close(self) -> None:
        """Take the Nodes away."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for name in self.nodes:
            await self.api.client.delete(NODES, None, name)

    async def create(self, obj: JsonObject) -> JsonObject:
        """Create one of our objects in the namespace."""
        return await self.api.create(obj, RESOURCES[obj["kind"]])

    def object(self, kind: str, name: str, spec: JsonObject) -> JsonObject:
        """An object of one of our kinds that belongs to the cluster."""
        return {
            "apiVersion": RESOURCES[kind].api_version,
            "kind": kind,
            "metadata": {"name": name, "labels": {"cluster.x-k8s.io/cluster-name": self.name}},
            "spec": spec,
        }

    def reference(self, kind: str, name: str) -> JsonObject:
        """A reference to an object of one of our kinds."""
        return {"apiGroup": RESOURCES[kind].group, "kind": kind, "name": name}

    @property
    def endpoint(self) -> JsonObject:
        """The control plane endpoint: the test's API server."""
        return {"host": "localhost", "port": self.server.port}

    def cluster(self, **spec: object) -> JsonObject:
        """The Cluster, with the DockerCluster of its name."""
        ref = self.reference("DockerCluster", self.name)
        return self.object("Cluster", self.name, {"infrastructureRef": ref, **spec})

    def docker_cluster(self, **spec: object) -> JsonObject:
        """The DockerCluster, whose endpoint is the test's API server."""
        return self.object(
            "DockerCluster", self.name, {"controlPlaneEndpoint": self.endpoint, **spec}
        )

    def machine(self, name: str, *, control_plane: bool = False, **spec: object) -> JsonObject:
        """A Machine with the DockerMachine and the bootstrap data Secret of its name."""
        wanted: JsonObject = {
            "clusterName": self.name,
            "version": VERSION,
            "bootstrap": {"dataSecretName": name},
            "infrastructureRef": self.reference("DockerMachine", name),
            **spec,
        }
        machine = self.object("Machine", name, {k: v for k, v in wanted.items() if v is not None})
        if control_plane:
            machine["metadata"]["labels"][CONTROL_PLANE_LABEL] = ""
        return machine

    async def create_secret(self, name: str, data: dict[str, bytes]) -> None:
        """A Secret of Cluster API's type."""
        secret: JsonObject = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": SECRET_TYPE,
            "metadata": {"name": name, "labels": {"cluster.x-k8s.io/cluster-name": self.name}},
            "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
        }
        await self.api.create(secret, SECRETS)

    async def create_ca(self) -> None:
        """The server's CA as the cluster's."""
        ca = self.server.ca
        data = {"tls.crt": ca.certificate, "tls.key": ca.key}
        await self.create_secret(secret_name(self.name, CA), data)

    async def create_cluster(self, **spec: object) -> None:
        """Cluster and DockerCluster."""
        await self.create(self.docker_cluster())
        await self.create(self.cluster(**spec))

    async def create_machine(
        self,
        name: str,
        *,
        control_plane: bool = False,
        data: str | None = CLOUD_CONFIG,
        infrastructure: JsonObject | None = None,
        **spec: object,
    ) -> None:
        """Bootstrap data Secret, DockerMachine and Machine.

        Args:
            data: None for no bootstrap data yet.
            infrastructure: the DockerMachine's spec.
        """
        if data is None:
            # Without either, the API server refuses a Machine: a config that never gets ready.
            await self.create(self.object("KubeadmConfig", name, {"format": "cloud-config"}))
            spec["bootstrap"] = {"configRef": self.reference("KubeadmConfig", name)}
        else:
            await self.create_secret(name, {"value": data.encode(), "format": b"cloud-config"})
        await self.create(self.object("DockerMachine", name, infrastructure or {}))
        await self.create(self.machine(name, control_plane=control_plane, **spec))


@contextlib.asynccontextmanager
async def workload(
    server: ApiServer, api: Api, runtime: FakeRuntime, name: str = ""
) -> AsyncIterator[Workload]:
    """A workload cluster's CA, ready for the objects; its Nodes go at the end.

    Args:
        name: of the Cluster; by default one that no other test has, since Nodes share a server.
    """
    result = Workload(server, api, runtime, name or f"w{next(_numbers)}")
    await result.create_ca()
    try:
        yield result
    finally:
        await result.close()
