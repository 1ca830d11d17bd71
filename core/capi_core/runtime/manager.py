"""One process: the watches, stores, controllers, Leases and endpoints that providers add to it.

A provider's ``register(manager)`` asks for stores, adds controllers and webhooks; ``run`` starts
everything in order: endpoints, stores filled, watches, Leases, then workers.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from capi_core.api.meta import KubeObject, Resource
from capi_core.runtime.auditor import Auditor
from capi_core.runtime.client import Client
from capi_core.runtime.controller import Controller
from capi_core.runtime.election import Lease
from capi_core.runtime.errors import CapiError
from capi_core.runtime.events import Recorder
from capi_core.runtime.server import Endpoints
from capi_core.runtime.store import Key, Store, key_of
from capi_core.runtime.webhook.server import WebhookServer

log = structlog.get_logger()
# The Leases are free by then; the watches may be cut off.
_INTAKE_SECONDS = 1.0


class Intake(Protocol):
    """Feeds the stores from the API server until ``stop`` is set."""

    def __call__(self, stores: list[Store], *, stop: asyncio.Event) -> Coroutine[Any, Any, None]:
        """Run the watches."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """What a manager is started with; the flags of ``capi-manager``.

    Attributes:
        namespace: watch this namespace only; None for all.
        watch_filter: reconcile only objects whose ``cluster.x-k8s.io/watch-filter`` label says so.
        own_namespace: where the Leases and the webhooks' certificate Secret live.
        concurrency: workers of each controller; None for each controller's own default.
        sync_period: seconds between audits of the stores.
    """

    namespace: str | None = None
    watch_filter: str = ""
    own_namespace: str = "default"
    identity: str = "manager"
    leader_elect: bool = True
    health_address: str = "0.0.0.0:9440"
    metrics_address: str = "0.0.0.0:8080"
    webhook_port: int = 9443
    webhook_host: str = ""
    concurrency: int | None = None
    sync_period: float = 300.0
    settings: dict[str, str] = field(default_factory=dict)


class Manager:
    """What providers register with."""

    def __init__(self, client: Client, intake: Intake, options: Options) -> None:
        self.client = client
        self.options = options
        self.recorder = Recorder(client, options.identity.split("_")[0])
        self.webhooks = WebhookServer(client, options)
        self.endpoints = Endpoints(options.health_address, options.metrics_address)
        self.shared: dict[type, Any] = {}
        self._intake = intake
        self._stores: dict[Resource, Store] = {}
        self._controllers: list[tuple[Controller, Store]] = []
        self._leases: list[str] = []
        self._tasks: list[Callable[[], Awaitable[None]]] = []
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self.started = asyncio.Event()

    def store(self, kind: type[KubeObject] | Resource) -> Store:
        """The store of ``kind``, watched from the start on."""
        resource = kind if isinstance(kind, Resource) else kind.resource
        if resource not in self._stores:
            self._stores[resource] = Store(resource)
        return self._stores[resource]

    def add_controller(self, controller: Controller, kind: type[KubeObject]) -> None:
        """Run ``controller`` for all objects of ``kind``."""
        store = self.store(kind)

        def changed(old: Any, new: Any) -> None:
            obj = new or old
            if self._mine(obj):
                controller.enqueue(key_of(obj))

        store.on_change(changed)
        self._controllers.append((controller, store))

    def enqueue_owner(
        self, controller: Controller, child: type[KubeObject] | Resource, owner: type[KubeObject]
    ) -> None:
        """Enqueue the ``owner`` of every ``child`` that changes."""
        kind, group = owner.resource.kind, owner.resource.group

        def changed(old: Any, new: Any) -> None:
            for obj in (old, new):
                for ref in (obj or {"metadata": {}})["metadata"].get("ownerReferences") or []:
                    if ref["kind"] == kind and ref["apiVersion"].split("/")[0] == group:
                        namespace = obj["metadata"].get("namespace") or ""
                        controller.enqueue(Key(namespace, ref["name"]))

        self.store(child).on_change(changed)

    def add_lease(self, name: str) -> None:
        """Work only while holding the Lease ``name``."""
        self._leases.append(name)

    def add_task(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run ``task`` beside the controllers."""
        self._tasks.append(task)

    def on_close(self, close: Callable[[], Awaitable[None]]) -> None:
        """Await ``close()`` when the controllers have stopped."""
        self._closers.append(close)

    def _mine(self, obj: dict[str, Any]) -> bool:
        wanted = self.options.watch_filter
        labels = obj["metadata"].get("labels") or {}
        return not wanted or labels.get("cluster.x-k8s.io/watch-filter") == wanted

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set or a Lease is lost."""
        await self.endpoints.start()
        await self.webhooks.start()
        stores = list(self._stores.values())
        auditor = Auditor(
            self.client,
            stores,
            namespace=self.options.namespace,
            interval=self.options.sync_period,
        )
        self.endpoints.alive = lambda: (
            f"no events arrive for {', '.join(sorted(auditor.drift))}" if auditor.drift else ""
        )
        intake = asyncio.create_task(self._intake(stores, stop=stop))
        work = asyncio.create_task(self._work(auditor))
        stopped = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait(
                {intake, work, stopped}, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
        finally:
            stop.set()
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await work
            for close in self._closers:
                await close()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await asyncio.wait_for(intake, _INTAKE_SECONDS)
            await self.webhooks.stop()
            await self.endpoints.stop()
            await self.client.close()

    async def _work(self, auditor: Auditor) -> None:
        await self._fill(auditor)
        self.endpoints.ready = True
        leases = [
            Lease(
                self.client,
                namespace=self.options.own_namespace,
                name=name,
                identity=self.options.identity,
            )
            for name in (self._leases if self.options.leader_elect else [])
        ]
        try:
            for lease in leases:
                await lease.acquire()
            async with asyncio.TaskGroup() as group:
                for lease in leases:
                    group.create_task(lease.hold())
                group.create_task(auditor.run())
                group.create_task(self.recorder.run())
                group.create_task(self.webhooks.keep_certificates())
                for task in self._tasks:
                    group.create_task(_as_coroutine(task))
                for controller, store in self._controllers:
                    for obj in store.all():
                        if self._mine(obj):
                            controller.enqueue(key_of(obj))
                    group.create_task(controller.run())
                self.started.set()
                log.info("started", controllers=[c.name for c, _ in self._controllers])
        finally:
            for lease in leases:
                await lease.release()

    async def _fill(self, auditor: Auditor) -> None:
        delay = 0.2
        while True:
            try:
                await auditor.fill()
                return
            except CapiError as error:
                log.warning("waiting for the API server and the CRDs", error=str(error))
                await asyncio.sleep(delay)
                delay = min(delay * 2, 5.0)


async def _as_coroutine(task: Callable[[], Awaitable[None]]) -> None:
    await task()
