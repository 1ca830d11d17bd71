"""The Docker engine behind the `Runtime` protocol; the only module that imports the SDK."""

import asyncio
import contextlib
import io
import tarfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeVar

import docker
import docker.errors
import requests
import structlog
from docker.types import IPAMConfig, IPAMPool, Ulimit
from docker.utils import kwargs_from_env

from capd_py.container.address import (
    Network,
    choose_address,
    choose_port,
    contains,
    dynamic_range,
)
from capd_py.container.exec import exchange
from capd_py.container.inspection import machine_binds, machine_options, read_container
from capd_py.container.runtime import (
    Container,
    ContainerEvent,
    ContainerSpec,
    EngineUnavailable,
    Executed,
    ImageMissing,
    RuntimeFailure,
)

log = structlog.get_logger()
T = TypeVar("T")
_FIXED = "io.capd-py.fixed-subnet"
_THREADS = 64
_TRIES = 4
_RECONNECT_SECONDS = 0.5
_IN_USE = ("already allocated", "address already in use", "already in use")


class DockerRuntime:
    """The engine that DOCKER_HOST names, by default the local socket."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="docker")
        self._lock = threading.Lock()
        self._api_client: docker.APIClient | None = None
        self._closed = threading.Event()

    # Everything below runs in threads, since the SDK blocks.

    def _api(self) -> docker.APIClient:
        with self._lock:
            if self._api_client is None:
                keywords = kwargs_from_env()
                self._api_client = docker.APIClient(
                    version="auto", timeout=60, max_pool_size=_THREADS, **keywords
                )
            return self._api_client

    async def _call(self, function: Callable[..., T], *args: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(_translated, function, *args))

    async def ensure_network(self, name: str) -> None:
        """Make the network, with a subnet of its own choice written down so addresses can stay."""
        await self._call(self._ensure_network, name)

    def _ensure_network(self, name: str) -> None:
        api = self._api()
        for network in api.networks(names=[f"^{name}$"]):
            info = api.inspect_network(network["Id"])
            if _FIXED in info["Labels"] or api.containers(all=True, filters={"network": name}):
                return
            # Nothing lives there yet, and in it addresses would change with every restart.
            api.remove_network(network["Id"])
        # The engine knows which subnets are free: it chooses one, which is then made the network's.
        probe = api.create_network(f"{name}-probe", driver="bridge")["Id"]
        try:
            config = api.inspect_network(probe)["IPAM"]["Config"]
        finally:
            api.remove_network(probe)
        pool = next(item for item in config if ":" not in item["Subnet"])
        subnet = Network(pool["Subnet"])
        pools = [
            IPAMPool(
                subnet=str(subnet), iprange=str(dynamic_range(subnet)), gateway=pool.get("Gateway")
            )
        ]
        api.create_network(
            name,
            driver="bridge",
            ipam=IPAMConfig(pool_configs=pools),
            options={"com.docker.network.bridge.enable_ip_masquerade": "true"},
            labels={_FIXED: "true"},
            check_duplicate=True,
        )

    async def find(self, labels: Mapping[str, str]) -> list[Container]:
        """Containers by labels."""
        return await self._call(self._find, labels)

    def _find(self, labels: Mapping[str, str]) -> list[Container]:
        filters = {"label": [f"{key}={value}" for key, value in labels.items()]}
        found = self._api().containers(all=True, filters=filters)
        containers = [self._inspect(item["Id"]) for item in found]
        return sorted((c for c in containers if c is not None), key=lambda c: c.name)

    async def get(self, name: str) -> Container | None:
        """A container by name."""
        return await self._call(self._inspect, name)

    def _inspect(self, name: str) -> Container | None:
        try:
            return read_container(self._api().inspect_container(name))
        except docker.errors.NotFound:
            return None

    async def run(self, spec: ContainerSpec) -> Container:
        """Make and start a container."""
        await self.ensure_image(spec.image)
        await self.ensure_network(spec.network)
        # Once begun it is finished, so that whoever cancels can remove what came of it.
        begun = asyncio.ensure_future(self._call(self._run, spec))
        try:
            return await asyncio.shield(begun)
        except asyncio.CancelledError:
            await asyncio.wait({begun})
            raise

    def _run(self, spec: ContainerSpec) -> Container:
        avoid: list[str] = []
        open_files = spec.open_files
        for attempt in range(_TRIES):
            address = self._free_address(spec, avoid)
            created = self._create(spec, address, open_files)
            try:
                for path, content in spec.files.items():
                    self._write_file(created, path, content)
                self._api().start(created)
            except docker.errors.APIError as error:
                self._remove(created)
                text = str(error.explanation or error)
                taken = any(part in text.lower() for part in _IN_USE)
                limited = "rlimit" in text and open_files is not None
                if attempt + 1 == _TRIES or not (taken or limited):
                    raise
                open_files = None if limited else open_files
                avoid.append(address or "")
                continue
            except BaseException:
                self._remove(created)
                raise
            container = self._inspect(created)
            if container is None:
                break
            return container
        raise RuntimeFailure(f"container {spec.name} vanished after its start")

    def _free_address(self, spec: ContainerSpec, avoid: Sequence[str]) -> str | None:
        api, network = self._api(), spec.network
        info = api.inspect_network(network)
        pools = [p for p in info["IPAM"]["Config"] or [] if p.get("IPRange")]
        if not pools:
            # The engine takes fixed addresses only where the subnet was given.
            return None
        used = {item["IPv4Address"].split("/")[0] for item in info["Containers"].values()}
        for item in api.containers(all=True, filters={"network": network}):
            settings = item["NetworkSettings"]["Networks"].get(network) or {}
            used.add((settings.get("IPAMConfig") or {}).get("IPv4Address"))
        known = {address for address in (*used, *avoid) if address}
        subnet = Network(pools[0]["Subnet"])
        if spec.address and spec.address not in known and contains(subnet, spec.address):
            return spec.address
        return choose_address(subnet, known)

    def _create(self, spec: ContainerSpec, address: str | None, open_files: int | None) -> str:
        api = self._api()
        binds = [f"{m.source}:{m.target}:{'ro' if m.read_only else 'rw'}" for m in spec.mounts]
        host: dict[str, Any] = {
            "binds": binds,
            "port_bindings": {p: ("127.0.0.1", choose_port()) for p in spec.publish},
            # Comes back with the engine, but not after somebody stopped or killed it.
            "restart_policy": {"Name": "unless-stopped"},
        }
        if open_files is not None:
            host["ulimits"] = [Ulimit(name="nofile", soft=open_files, hard=open_files)]
        if spec.machine:
            host |= machine_options(api.info())
            host["binds"] = [*binds, *machine_binds(api.info())]
        endpoint = api.create_endpoint_config(ipv4_address=address)
        created = api.create_container(
            spec.image,
            command=list(spec.command) or None,
            entrypoint=list(spec.entrypoint) or None,
            name=spec.name,
            hostname=spec.name,
            labels=dict(spec.labels),
            environment=dict(spec.environment),
            tty=spec.machine,
            detach=True,
            ports=list(spec.publish),
            volumes=["/var"] if spec.machine else None,
            host_config=api.create_host_config(**host),
            networking_config=api.create_networking_config({spec.network: endpoint}),
        )
        return created["Id"]

    async def start(self, container: Container) -> Container:
        """Start a stopped container."""
        return await self._call(self._start, container)

    def _start(self, container: Container) -> Container:
        self._api().start(container.id)
        started = self._inspect(container.id)
        if started is None:
            raise RuntimeFailure(f"container {container.name} vanished after its start")
        return started

    async def remove(self, container: Container) -> None:
        """Kill and remove a container with its volumes."""
        await self._call(self._remove, container.id)

    def _remove(self, name: str) -> None:
        deadline = time.monotonic() + 30
        while True:
            try:
                self._api().remove_container(name, v=True, force=True)
                return
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                # 409: somebody else is removing it; success is when it is gone.
                if error.status_code != 409 or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    async def execute(
        self,
        container: Container,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float = 60.0,
    ) -> Executed:
        """Run a command in a container."""
        chunks = [stdin] if stdin else []
        return await self._call(self._execute, container, list(command), chunks, timeout)

    def _execute(
        self, container: Container, command: list[str], stdin: Any, timeout: float
    ) -> Executed:
        api = self._api()
        created = api.exec_create(
            container.id, command, stdin=stdin != [], stdout=True, stderr=True, privileged=True
        )["Id"]
        stream = api.exec_start(created, socket=True)
        try:
            output, errors = exchange(stream, stdin, timeout)
        except TimeoutError as error:
            raise RuntimeFailure(
                f"{command[0]} in {container.name} did not end within {timeout:g} s"
            ) from error
        finally:
            stream.close()
        code = api.exec_inspect(created)["ExitCode"]
        if code is None:
            raise RuntimeFailure(f"{command[0]} in {container.name} was cut off")
        return Executed(code, output, errors)

    async def write_file(self, container: Container, path: str, content: bytes) -> None:
        """Write a file."""
        await self._call(self._write_file, container.id, path, content)

    def _write_file(self, container: str, path: str, content: bytes) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            entry = tarfile.TarInfo(PurePosixPath(path).name)
            entry.size, entry.mode, entry.mtime = len(content), 0o644, int(time.time())
            archive.addfile(entry, io.BytesIO(content))
        self._api().put_archive(container, str(PurePosixPath(path).parent), buffer.getvalue())

    async def read_file(self, container: Container, path: str) -> bytes | None:
        """Read a file."""
        return await self._call(self._read_file, container.id, path)

    def _read_file(self, container: str, path: str) -> bytes | None:
        try:
            chunks, _ = self._api().get_archive(container, path)
        except docker.errors.NotFound:
            return None
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            member = archive.extractfile(PurePosixPath(path).name)
            return member.read() if member else None

    async def signal(self, container: Container, name: str) -> None:
        """Send a signal to its first process."""
        await self._call(lambda: self._api().kill(container.id, signal=name))

    async def logs(self, container: Container, *, since: float = 0.0, tail: int = 200) -> str:
        """What the container printed."""
        return await self._call(self._logs, container.id, since, tail)

    def _logs(self, container: str, since: float, tail: int) -> str:
        raw: Any = self._api().logs(container, since=since or None, tail=tail)
        return raw.decode(errors="replace")

    async def ensure_image(self, image: str) -> None:
        """Pull an image that is not here."""
        await self._call(self._ensure_image, image)

    def _ensure_image(self, image: str) -> None:
        api = self._api()
        try:
            api.inspect_image(image)
        except docker.errors.ImageNotFound:
            name, _, tag = image.partition(":") if "@" not in image else (image, "", "")
            try:
                api.pull(name, tag=tag or None)
                api.inspect_image(image)
            except docker.errors.APIError as error:
                raise ImageMissing(
                    f"image {image} is not on the engine and cannot be pulled: "
                    f"{error.explanation}; `capd image build` makes node images"
                ) from error

    async def copy_image(self, image: str, container: Container, command: Sequence[str]) -> None:
        """Feed an image to a command in a container."""
        await self._call(self._copy_image, image, container, list(command))

    def _copy_image(self, image: str, container: Container, command: list[str]) -> None:
        try:
            chunks = self._api().get_image(image)
        except docker.errors.NotFound as error:
            raise ImageMissing(f"image {image} is not on the engine") from error
        result = self._execute(container, command, chunks, 300.0)
        if not result.ok:
            raise RuntimeFailure(f"importing {image}: {result.errors.strip()[-500:]}")

    async def events(self, labels: Mapping[str, str]) -> AsyncIterator[ContainerEvent]:
        """Changes of containers, for ever."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[ContainerEvent] = asyncio.Queue()

        def pump() -> None:
            while not self._closed.is_set():
                with contextlib.suppress(Exception):
                    self._pump(labels, lambda e: loop.call_soon_threadsafe(queue.put_nowait, e))
                self._closed.wait(_RECONNECT_SECONDS)

        threading.Thread(target=pump, name="docker-events", daemon=True).start()
        while True:
            yield await queue.get()

    def _pump(self, labels: Mapping[str, str], put: Callable[[ContainerEvent], object]) -> None:
        filters = {
            "type": "container",
            "event": ["start", "die", "destroy"],
            "label": [f"{key}={value}" for key, value in labels.items()],
        }
        stream = self._api().events(decode=True, filters=filters)
        put(ContainerEvent("connected"))
        for event in stream:
            attributes = event["Actor"]["Attributes"]
            put(ContainerEvent(event["Action"], attributes.get("name", ""), attributes))

    async def close(self) -> None:
        """Let go of the engine; threads end with their calls."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _translated(function: Callable[..., T], *args: Any) -> T:
    """Call, with the SDK's exceptions told in ours."""
    try:
        return function(*args)
    except docker.errors.APIError as error:
        raise RuntimeFailure(str(error.explanation or error)) from error
    except (requests.RequestException, docker.errors.DockerException, OSError) as error:
        raise EngineUnavailable(f"the container engine does not answer: {error}") from error
