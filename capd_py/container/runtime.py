"""What the provider needs of a container engine; implemented by `docker` and, for tests, `fake`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from capi_core.runtime.errors import CapiError


class RuntimeFailure(CapiError):
    """The engine refused or failed an operation; the message is its own."""


class EngineUnavailable(RuntimeFailure):
    """The engine does not answer: it is restarting, or gone."""


class ImageMissing(RuntimeFailure):
    """An image is neither here nor in a registry that answers."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A host path seen in the container."""

    source: str
    target: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """A container to be made.

    Attributes:
        network: name of the network; the container gets an address there that stays its own.
        address: the one to take if it is free; empty for any.
        files: written before the container starts; path to content.
        publish: container port to host port on the loopback address; 0 takes a free one, which
            stays the same when the container starts again.
        open_files: limit of open files; None leaves the engine's.
        machine: whether an init runs in it, with all privileges and volumes of its own.
    """

    name: str
    image: str
    network: str
    labels: Mapping[str, str]
    address: str = ""
    command: Sequence[str] = ()
    entrypoint: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[Mount] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    publish: Sequence[int] = ()
    open_files: int | None = None
    machine: bool = False


@dataclass(frozen=True, slots=True)
class Container:
    """A container as observed.

    Attributes:
        addresses: in its network, IPv4 first; empty while it does not run.
        ports: container port to the published host port.
        started_at: RFC 3339; tells one start from another.
    """

    id: str
    name: str
    image: str
    labels: Mapping[str, str]
    running: bool
    addresses: tuple[str, ...] = ()
    ports: Mapping[int, int] = field(default_factory=dict)
    open_files: int | None = None
    exit_code: int = 0
    started_at: str = ""

    @property
    def address(self) -> str:
        """The first address, empty while it does not run."""
        return self.addresses[0] if self.addresses else ""


@dataclass(frozen=True, slots=True)
class Executed:
    """How a command in a container ended."""

    code: int
    output: str
    errors: str

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0


Action = Literal["start", "die", "destroy", "connected"]


@dataclass(frozen=True, slots=True)
class ContainerEvent:
    """A container changed; ``connected`` means that events before may have been missed."""

    action: Action
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


class Runtime(Protocol):
    """A container engine. All methods raise RuntimeFailure, with a time limit of their own."""

    async def ensure_network(self, name: str) -> None:
        """Make the network when it is absent."""
        ...

    async def find(self, labels: Mapping[str, str]) -> list[Container]:
        """All containers, running or not, that carry all of ``labels``, by name."""
        ...

    async def get(self, name: str) -> Container | None:
        """The container of that name."""
        ...

    async def run(self, spec: ContainerSpec) -> Container:
        """Make and start a container; what cannot start is removed again.

        Raises:
            ImageMissing: the image cannot be had.
        """
        ...

    async def start(self, container: Container) -> Container:
        """Start a stopped container; its address and ports stay."""
        ...

    async def remove(self, container: Container) -> None:
        """Kill and remove it with its volumes; one that is gone is a success."""
        ...

    async def execute(
        self,
        container: Container,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float = 60.0,
    ) -> Executed:
        """Run a command in it to its end; ``timeout`` seconds without an end are a failure."""
        ...

    async def write_file(self, container: Container, path: str, content: bytes) -> None:
        """Write a file on its root file system or a volume, not on a tmpfs."""
        ...

    async def read_file(self, container: Container, path: str) -> bytes | None:
        """A file's content, None when it does not exist."""
        ...

    async def signal(self, container: Container, name: str) -> None:
        """Send a signal to its first process."""
        ...

    async def logs(self, container: Container, *, since: float = 0.0, tail: int = 200) -> str:
        """What it printed since a Unix time."""
        ...

    async def ensure_image(self, image: str) -> None:
        """Pull the image when it is not here.

        Raises:
            ImageMissing: it cannot be pulled.
        """
        ...

    async def copy_image(self, image: str, container: Container, command: Sequence[str]) -> None:
        """Feed the image, as ``docker save`` writes it, to a command in the container."""
        ...

    def events(self, labels: Mapping[str, str]) -> AsyncIterator[ContainerEvent]:
        """Changes of containers with these labels, for ever; starts with ``connected``."""
        ...

    async def close(self) -> None:
        """Let go of the engine."""
        ...
