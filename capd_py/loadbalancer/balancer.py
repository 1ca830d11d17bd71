"""Keeps a cluster's load balancer container there, and its configuration right."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from capd_py.container.address import is_address
from capd_py.container.identity import (
    LOAD_BALANCER,
    OWNER,
    ROLE,
    Identity,
    load_balancer_name,
)
from capd_py.container.runtime import Container, ContainerSpec, Runtime, RuntimeFailure
from capd_py.loadbalancer.config import API_PORT, OPEN_FILES, Backend, render

CONFIG_PATH = "/usr/local/etc/haproxy/haproxy.cfg"
# What HAProxy was seen to load: differs when a manager ended between writing and reloading.
LOADED_PATH = f"{CONFIG_PATH}.loaded"
_COMMAND = ("haproxy", "-W", "-db", "-f", CONFIG_PATH)
_RELOAD_SECONDS, _LOOK_SECONDS = 5.0, 0.05
_LOADED = ("Loading success", "New worker")
_FAILED = ("Loading failure", "Fatal errors", "FD limit", "Failed to load worker")


class ReloadFailed(RuntimeFailure):
    """HAProxy did not take the configuration; the message ends with what it said."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a cluster's load balancer is made.

    Attributes:
        image: of HAProxy.
        network: where nodes live.
        port: of the API server, as the control plane endpoint has it.
        known_address: the control plane endpoint's host, which is the address of a container that
            was made before unless the user set it; empty when there is none yet.
    """

    image: str
    network: str
    port: int = API_PORT
    known_address: str = ""


@dataclass
class LoadBalancers:
    """The load balancers of one engine; changes of one are made one at a time."""

    runtime: Runtime
    _locks: dict[Identity, asyncio.Lock] = field(default_factory=dict)
    _applied: dict[str, tuple[str, str]] = field(default_factory=dict)

    async def find(self, identity: Identity, known_address: str = "") -> Container | None:
        """The container of the cluster's load balancer.

        Args:
            known_address: finds one that another management cluster made before it moved here.
        """
        for container in await self.runtime.find(identity.role_labels(LOAD_BALANCER)):
            return container
        if not known_address:
            return None
        moved = await self.runtime.get(load_balancer_name(identity.cluster))
        if moved and moved.address == known_address and moved.labels.get(ROLE) == LOAD_BALANCER:
            return moved
        return None

    async def ensure(
        self,
        identity: Identity,
        settings: Settings,
        made: Callable[[Container], object] = lambda container: None,
    ) -> Container:
        """The running load balancer; made when absent, started again when it was stopped.

        Args:
            made: told the container when there was none before.
        """
        async with self._lock(identity):
            container = await self.find(identity, settings.known_address)
            if container is None:
                container = await self._run(identity, settings)
                made(container)
                return container
            if container.running:
                return container
            try:
                return await self.runtime.start(container)
            except RuntimeFailure:
                await self.runtime.remove(container)
                return await self._run(identity, settings)

    async def _run(self, identity: Identity, settings: Settings) -> Container:
        name = load_balancer_name(identity.cluster)
        if await self.runtime.get(name) is not None:
            # Another namespace or management cluster has a cluster of this name.
            name = identity.unique_name(name)
        config = render((), port=settings.port, open_files=OPEN_FILES)
        labels = identity.role_labels(LOAD_BALANCER) | {OWNER: f"DockerCluster/{identity.cluster}"}
        return await self.runtime.run(
            ContainerSpec(
                name=name,
                image=settings.image,
                network=settings.network,
                address=settings.known_address if is_address(settings.known_address) else "",
                labels=labels,
                entrypoint=_COMMAND,
                files={CONFIG_PATH: config.encode(), LOADED_PATH: config.encode()},
                publish=(settings.port,),
                open_files=OPEN_FILES,
            )
        )

    async def apply(self, identity: Identity, container: Container, config: str) -> bool:
        """Make HAProxy serve ``config``; returns whether it had to be changed.

        Raises:
            ReloadFailed: it refused; the old configuration goes on serving.
        """
        async with self._lock(identity):
            start = (container.started_at, config)
            if self._applied.get(container.id) == start:
                return False
            present = await self.runtime.read_file(container, CONFIG_PATH)
            loaded = await self.runtime.read_file(container, LOADED_PATH)
            changed = not present == loaded == config.encode()
            if changed:
                await self.runtime.write_file(container, CONFIG_PATH, config.encode())
                try:
                    await self._reload(container)
                except ReloadFailed:
                    # What is on disk is what a restart would load: it has to be what works.
                    if (working := loaded or present) is not None:
                        await self.runtime.write_file(container, CONFIG_PATH, working)
                    raise
                await self.runtime.write_file(container, LOADED_PATH, config.encode())
            self._applied[container.id] = start
            return changed

    async def _reload(self, container: Container) -> None:
        before = await self.runtime.logs(container, tail=2000)
        await self.runtime.signal(container, "SIGHUP")
        deadline = time.monotonic() + _RELOAD_SECONDS
        said = ""
        while time.monotonic() < deadline:
            said = (await self.runtime.logs(container, tail=2000))[len(before) :]
            if any(mark in said for mark in _FAILED):
                break
            if any(mark in said for mark in _LOADED):
                return
            await asyncio.sleep(_LOOK_SECONDS)
        tail = "\n".join(said.strip().splitlines()[-5:]) or "no answer to SIGHUP"
        raise ReloadFailed(f"HAProxy in {container.name} did not take the configuration: {tail}")

    def forget(self, identity: Identity) -> None:
        """The cluster is gone."""
        self._locks.pop(identity, None)

    def _lock(self, identity: Identity) -> asyncio.Lock:
        return self._locks.setdefault(identity, asyncio.Lock())


def backends_of(containers: Sequence[Container], leaving: Sequence[str] = ()) -> list[Backend]:
    """The API servers behind the load balancer.

    Args:
        containers: those of control plane machines.
        leaving: names of those whose Machines are being deleted; they take no new connections,
            unless there is no other.
    """
    running = [c for c in containers if c.running and c.address]
    staying = [c for c in running if c.name not in leaving]
    return [
        Backend(c.name, c.address, 0 if staying and c.name in leaving else 100) for c in running
    ]
