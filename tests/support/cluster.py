"""The managers of the integration tier: real controllers on the real API server."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import yaml

from capd_py.container.fake import FakeRuntime
from capi_core.api.meta import JsonObject, KubeObject, Resource
from capi_core.manager.main import build
from capi_core.runtime.access import parse_kubeconfig
from capi_core.runtime.client import Client
from capi_core.runtime.errors import NotFound
from capi_core.runtime.manager import Manager, Options
from tests.support.apiserver import ApiServer

T = TypeVar("T")
CORE = "capi_core.provider"
BOOTSTRAP = "capi_bootstrap.provider"
CONTROL_PLANE = "capi_controlplane.provider"
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
EVENTS = Resource("", "v1", "Event", "events")
_numbers = itertools.count(1)


class Api:
    """A namespace of its own on the API server, with a client that fails a test with a story."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    async def create(self, obj: JsonObject, resource: Resource) -> JsonObject:
        """Create an object in the namespace."""
        obj["metadata"]["namespace"] = self.namespace
        return await self.client.create(obj, resource)

    async def get(self, kind: type[KubeObject] | Resource, name: str) -> JsonObject:
        """The object as it is now."""
        resource = kind if isinstance(kind, Resource) else kind.resource
        return await self.client.get(resource, self.namespace, name)

    async def list(self, kind: type[KubeObject] | Resource) -> list[JsonObject]:
        """All of a kind in the namespace."""
        resource = kind if isinstance(kind, Resource) else kind.resource
        answer = await self.client.request("GET", resource.path(self.namespace))
        return answer["items"]

    async def delete(self, kind: type[KubeObject] | Resource, name: str) -> None:
        """Ask for deletion."""
        resource = kind if isinstance(kind, Resource) else kind.resource
        await self.client.delete(resource, self.namespace, name)

    async def patch(
        self, kind: type[KubeObject] | Resource, name: str, patch: JsonObject, *, sub: str = ""
    ) -> JsonObject:
        """Merge a patch."""
        resource = kind if isinstance(kind, Resource) else kind.resource
        return await self.client.patch(resource, self.namespace, name, patch, sub=sub)

    async def condition(
        self,
        kind: type[KubeObject] | Resource,
        name: str,
        condition: str,
        *,
        status: str = "",
        reason: str = "",
        message: str = "",
        timeout: float = 15.0,
    ) -> JsonObject:
        """Wait until a condition has the given status, reason and part of its message."""

        async def look() -> JsonObject | None:
            obj = await self.get(kind, name)
            for found in (obj.get("status") or {}).get("conditions") or []:
                if (
                    found["type"] == condition
                    and (not status or found["status"] == status)
                    and (not reason or found["reason"] == reason)
                    and message in found["message"]
                ):
                    return found
            return None

        async def story() -> str:
            obj = await self.get(kind, name)
            return yaml.safe_dump(obj.get("status") or {})

        what = f"{name}: {condition} {status} {reason} {message}"
        return await until(look, what=what, story=story, timeout=timeout)

    async def gone(
        self, kind: type[KubeObject] | Resource, name: str, *, timeout: float = 15.0
    ) -> None:
        """Wait until an object does not exist any more."""

        async def look() -> bool:
            try:
                await self.get(kind, name)
            except NotFound:
                return True
            return False

        async def story() -> str:
            return yaml.safe_dump(await self.get(kind, name))

        await until(look, what=f"{name} to be gone", story=story, timeout=timeout)


async def until(
    look: Callable[[], Awaitable[T | None]],
    *,
    what: str,
    story: Callable[[], Awaitable[str]] | None = None,
    timeout: float = 15.0,
    tolerate: type[Exception] = NotFound,
) -> T:
    """The first true thing that ``look`` returns; after ``timeout`` seconds, a failure."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        with contextlib.suppress(tolerate):
            if found := await look():
                return found
        await asyncio.sleep(0.05)
    told = ""
    if story is not None:
        with contextlib.suppress(NotFound):
            told = await story()
    raise AssertionError(f"waited {timeout} s in vain for {what}\n{told}")


@contextlib.asynccontextmanager
async def new_api(server: ApiServer) -> AsyncIterator[Api]:
    """A client with a fresh namespace."""
    client = Client(parse_kubeconfig(server.kubeconfig), user_agent="tests")
    name = f"test-{next(_numbers)}"
    namespace: JsonObject = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name},
    }
    await client.create(namespace, NAMESPACES)
    try:
        yield Api(client, name)
    finally:
        await client.close()


@contextlib.asynccontextmanager
async def running(
    server: ApiServer,
    api: Api,
    providers: Sequence[str],
    *,
    runtime: FakeRuntime | None = None,
    settings: dict[str, str] | None = None,
    **options: Any,
) -> AsyncIterator[Manager]:
    """A manager with these providers, that sees the namespace only.

    Args:
        runtime: run the Docker provider on it as well.
    """
    wanted = Options(
        namespace=api.namespace,
        own_namespace=api.namespace,
        health_address="0",
        metrics_address="0",
        webhook_port=0,
        identity=f"tests_{next(_numbers)}",
        settings=settings or {},
    )
    for name, value in options.items():
        object.__setattr__(wanted, name, value)
    client = Client(parse_kubeconfig(server.kubeconfig), user_agent="tests")
    manager = build(list(providers), client, wanted)
    if runtime is not None:
        from capd_py.provider import register_with

        register_with(manager, runtime)
    stop = asyncio.Event()
    task = asyncio.create_task(manager.run(stop))
    try:
        await asyncio.wait({task, asyncio.ensure_future(manager.started.wait())},
                           return_when=asyncio.FIRST_COMPLETED, timeout=30)
        if task.done():
            task.result()
        assert manager.started.is_set(), "the manager did not start within 30 s"
        yield manager
    finally:
        stop.set()
        await asyncio.wait({task}, timeout=15)
        if not task.done():
            task.cancel()
