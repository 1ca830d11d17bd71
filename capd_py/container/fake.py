"""An engine in memory, for tests: containers run at once, commands end as a test says."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace

from capd_py.container.address import Network, contains
from capd_py.container.runtime import (
    Action,
    Container,
    ContainerEvent,
    ContainerSpec,
    Executed,
    ImageMissing,
    RuntimeFailure,
)

_SUBNET = Network("10.99.0.0/16")
OnExecute = Callable[[Container, Sequence[str], bytes], Executed]


def succeed(container: Container, command: Sequence[str], stdin: bytes) -> Executed:
    """Every command succeeds, a bootstrap among them."""
    del container, command, stdin
    return Executed(0, "0\n", "")


class FakeRuntime:
    """Behaves as `docker` does towards the provider.

    Attributes:
        images: those that exist; None for all.
        on_execute: how a command ends; TimeoutError: it does not.
        failures: what the next call of a method raises.
        outages: what all calls of a method raise.
        refuse_reload: what HAProxy says when it does not take a configuration; empty: it does.
        executed: the commands run so far, with their container's name.
        specs: what containers were made from.
    """

    def __init__(self) -> None:
        self.images: set[str] | None = None
        self.on_execute: OnExecute = succeed
        self.failures: dict[str, Exception] = {}
        self.outages: dict[str, Exception] = {}
        self.refuse_reload = ""
        self.executed: list[tuple[str, list[str]]] = []
        self.specs: dict[str, ContainerSpec] = {}
        self.networks: set[str] = set()
        self._containers: dict[str, Container] = {}
        self._files: dict[tuple[str, str], bytes] = {}
        self._logs: dict[str, str] = {}
        self._watchers: list[tuple[dict[str, str], asyncio.Queue[ContainerEvent]]] = []
        self._numbers = itertools.count(2)

    @property
    def names(self) -> list[str]:
        """The names of all containers."""
        return sorted(self._containers)

    def stop(self, name: str) -> None:
        """A container ends, as by ``docker kill``."""
        container = replace(self._containers[name], running=False, addresses=(), exit_code=137)
        self._containers[name] = container
        self._emit("die", container)

    def _fail(self, method: str) -> None:
        if error := self.failures.pop(method, None) or self.outages.get(method):
            raise error

    def _known(self, container: Container) -> Container:
        known = self._containers.get(container.name)
        if known is None or known.id != container.id:
            raise RuntimeFailure(f"No such container: {container.name}")
        return known

    def _emit(self, action: Action, container: Container) -> None:
        for labels, queue in self._watchers:
            if labels.items() <= dict(container.labels).items():
                queue.put_nowait(ContainerEvent(action, container.name, container.labels))

    async def ensure_network(self, name: str) -> None:
        """Remember the network."""
        self._fail("ensure_network")
        self.networks.add(name)

    async def find(self, labels: Mapping[str, str]) -> list[Container]:
        """Containers by labels."""
        self._fail("find")
        found = [
            c for c in self._containers.values() if labels.items() <= dict(c.labels).items()
        ]
        return sorted(found, key=lambda c: c.name)

    async def get(self, name: str) -> Container | None:
        """A container by name."""
        self._fail("get")
        return self._containers.get(name)

    async def run(self, spec: ContainerSpec) -> Container:
        """Make a running container."""
        self._fail("run")
        await self.ensure_image(spec.image)
        await self.ensure_network(spec.network)
        if spec.name in self._containers:
            raise RuntimeFailure(f"the container name {spec.name} is already in use")
        number = next(self._numbers)
        container = Container(
            id=f"{number:064x}",
            name=spec.name,
            image=spec.image,
            labels=dict(spec.labels),
            running=True,
            addresses=(_address(spec, number),),
            ports=dict.fromkeys(spec.publish, 20000 + number),
            open_files=spec.open_files,
            started_at=str(number),
        )
        self._containers[spec.name], self.specs[spec.name] = container, spec
        for path, content in spec.files.items():
            self._files[container.id, path] = content
        self._emit("start", container)
        return container

    async def start(self, container: Container) -> Container:
        """Start it again, at its own address."""
        self._fail("start")
        known = self._known(container)
        started = replace(
            known,
            running=True,
            addresses=(_address(self.specs[known.name], int(known.id, 16)),),
            started_at=str(next(self._numbers)),
        )
        self._containers[known.name] = started
        self._emit("start", started)
        return started

    async def remove(self, container: Container) -> None:
        """Remove it if it is there."""
        self._fail("remove")
        known = self._containers.get(container.name)
        if known is not None and known.id == container.id:
            del self._containers[container.name]
            self._emit("destroy", known)

    async def execute(
        self,
        container: Container,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float = 60.0,
    ) -> Executed:
        """Record the command and end it as the test says."""
        self._fail("execute")
        if not self._known(container).running:
            raise RuntimeFailure(f"container {container.name} is not running")
        self.executed.append((container.name, list(command)))
        await asyncio.sleep(0)
        try:
            return self.on_execute(container, command, stdin)
        except TimeoutError as error:
            raise RuntimeFailure(
                f"{command[0]} in {container.name} did not end within {timeout:g} s"
            ) from error

    async def write_file(self, container: Container, path: str, content: bytes) -> None:
        """Keep a file."""
        self._fail("write_file")
        self._files[self._known(container).id, path] = content

    async def read_file(self, container: Container, path: str) -> bytes | None:
        """A kept file."""
        self._fail("read_file")
        return self._files.get((self._known(container).id, path))

    async def signal(self, container: Container, name: str) -> None:
        """HAProxy's answer to a reload."""
        self._fail("signal")
        known = self._known(container)
        if name == "SIGHUP":
            answer = self.refuse_reload or "New worker (9) forked\nLoading success.\n"
            self._logs[known.id] = self._logs.get(known.id, "") + answer

    async def logs(self, container: Container, *, since: float = 0.0, tail: int = 200) -> str:
        """What it printed."""
        del since, tail
        self._fail("logs")
        return self._logs.get(self._known(container).id, "")

    async def ensure_image(self, image: str) -> None:
        """Know the image or not."""
        self._fail("ensure_image")
        if self.images is not None and image not in self.images:
            raise ImageMissing(f"image {image} is not on the engine and cannot be pulled")

    async def copy_image(self, image: str, container: Container, command: Sequence[str]) -> None:
        """Record the import."""
        self._fail("copy_image")
        await self.ensure_image(image)
        self.executed.append((self._known(container).name, [*command, image]))

    async def events(self, labels: Mapping[str, str]) -> AsyncIterator[ContainerEvent]:
        """Changes from now on."""
        queue: asyncio.Queue[ContainerEvent] = asyncio.Queue()
        self._watchers.append((dict(labels), queue))
        yield ContainerEvent("connected")
        while True:
            yield await queue.get()

    async def close(self) -> None:
        """Nothing to let go of."""


def _address(spec: ContainerSpec, number: int) -> str:
    if contains(_SUBNET, spec.address):
        return spec.address
    return f"10.99.{number // 250}.{number % 250}"
