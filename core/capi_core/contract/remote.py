"""Access to workload clusters: one client and one set of watches for each, from its kubeconfig.

A cluster is connected to as soon as its API server answers, probed every ten seconds, connected
to anew when its credentials change, and dropped when the Cluster goes. Its Nodes are watched, so a
Node that registers is acted on at once.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import aiohttp
import structlog

from capi_core.api.cluster import Cluster
from capi_core.api.meta import JsonObject, Resource
from capi_core.contract.secrets import KUBECONFIG, SECRETS, secret_data, secret_name
from capi_core.runtime.access import parse_kubeconfig
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError, Unauthorized
from capi_core.runtime.manager import Manager
from capi_core.runtime.metrics import REMOTE_UP
from capi_core.runtime.reflector import Reflector
from capi_core.runtime.store import Key, Store, key_of

log = structlog.get_logger()
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
PODS = Resource("", "v1", "Pod", "pods")
CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps")
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
_PROBE_SECONDS, _PROBE_TIMEOUT = 10.0, 5.0
_FAILURES_TO_DISCONNECT = 5
# A cluster that is coming up is tried often for five minutes, then now and then.
_EAGER_SECONDS, _EAGER_TRIES, _PATIENT_SECONDS = 0.4, 750, 10.0

NodeHandler = Callable[[Key, JsonObject | None, JsonObject | None], None]


@dataclass(frozen=True, slots=True)
class Watch:
    """A part of every workload cluster that a provider wants in a store."""

    resource: Resource
    namespace: str | None = None
    labels: str = ""
    fields: str = ""


@dataclass(slots=True)
class Health:
    """How the connection to a cluster fares; times are None before the first success."""

    last_success: datetime | None = None
    failures: int = 0

    @property
    def seconds_since_success(self) -> float:
        """Seconds since the last successful probe; infinite before the first."""
        if self.last_success is None:
            return float("inf")
        return (datetime.now(UTC) - self.last_success).total_seconds()


@dataclass
class RemoteCluster:
    """A connected workload cluster: a live client, and stores that may lag."""

    key: Key
    client: Client
    stores: dict[Watch, Store] = field(default_factory=dict)

    @property
    def nodes(self) -> Store:
        """All Nodes, indexed by ``providerID``."""
        return self.stores[_NODE_WATCH]


_NODE_WATCH = Watch(NODES)


class ClusterCache:
    """The workload clusters of one manager."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._watches: list[Watch] = [_NODE_WATCH]
        self._clusters = manager.store(Cluster)
        self._connected: dict[Key, RemoteCluster] = {}
        self._health: dict[Key, Health] = {}
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._wake: dict[Key, asyncio.Event] = {}
        self._handlers: list[Callable[[Key], None]] = []
        self._object_handlers: list[NodeHandler] = []
        self._clusters.on_change(self._cluster_changed)
        manager.add_task(self._supervise)
        manager.on_close(self.close)

    @classmethod
    def of(cls, manager: Manager, *watches: Watch) -> "ClusterCache":
        """The one cache that the providers of ``manager``'s process share.

        Args:
            watches: what to watch in each cluster besides its Nodes.
        """
        cache: ClusterCache = manager.shared.setdefault(cls, None) or cls(manager)
        manager.shared[cls] = cache
        cache._watches += [watch for watch in watches if watch not in cache._watches]
        return cache

    def on_connection(self, handler: Callable[[Key], None]) -> None:
        """Call ``handler`` with the Cluster's key on connect, disconnect and failed probes."""
        self._handlers.append(handler)

    def on_object(self, handler: NodeHandler) -> None:
        """Call ``handler(cluster key, old, new)`` for each change of a watched remote object."""
        self._object_handlers.append(handler)

    def get(self, key: Key) -> RemoteCluster | None:
        """The cluster, if it is connected now."""
        return self._connected.get(key)

    def health(self, key: Key) -> Health:
        """How its connection fares."""
        return self._health.setdefault(key, Health())

    def hurry(self, key: Key) -> None:
        """Try to connect now, because something suggests that the API server answers."""
        if event := self._wake.get(key):
            event.set()

    async def close(self) -> None:
        """Drop all connections."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _cluster_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None:
            assert old is not None
            key = key_of(old)
            if task := self._tasks.pop(key, None):
                task.cancel()
            self._wake.pop(key, None)
            self._health.pop(key, None)
            return
        initialization = (new.get("status") or {}).get("initialization") or {}
        key = key_of(new)
        if initialization.get("infrastructureProvisioned") and self._manager.started.is_set():
            self._start(key)

    def _start(self, key: Key) -> None:
        if key in self._tasks:
            self.hurry(key)
            return
        self._wake[key] = asyncio.Event()
        self._tasks[key] = asyncio.create_task(self._keep(key), name=f"cluster {key}")

    async def _supervise(self) -> None:
        await self._manager.started.wait()
        for obj in self._clusters.all():
            self._cluster_changed(None, obj)

    async def _keep(self, key: Key) -> None:
        tries = 0
        while True:
            client = None
            try:
                client = await self._connect(key)
                if client is not None:
                    tries = 0
                    await self._stay(key, client)
            except CapiError as error:
                log.debug("workload cluster not reachable", cluster=str(key), error=str(error))
            finally:
                self._connected.pop(key, None)
                REMOTE_UP.labels(key.name, key.namespace).set(0)
                if client:
                    await client.close()
            if client is None:
                self.health(key).failures += 1
            self._notify(key)
            tries += 1
            await self._pause(key, _EAGER_SECONDS if tries < _EAGER_TRIES else _PATIENT_SECONDS)

    async def _pause(self, key: Key, seconds: float) -> None:
        wake = self._wake.setdefault(key, asyncio.Event())
        with contextlib.suppress(TimeoutError):
            # Not wait_for: in Python 3.11 it swallows a cancellation that comes with the wake-up.
            async with asyncio.timeout(seconds):
                await wake.wait()
        if wake.is_set():
            wake.clear()
            # A burst of events does not become a burst of connections.
            await asyncio.sleep(0.05)

    async def _connect(self, key: Key) -> Client | None:
        name = secret_name(key.name, KUBECONFIG)
        secret = await self._manager.client.find(SECRETS, key.namespace, name)
        value = secret_data(secret).get("value") if secret else None
        if not value:
            return None
        client = Client(
            parse_kubeconfig(value.decode()),
            user_agent=self._manager.options.identity.split("_")[0],
            timeout=10.0,
        )
        try:
            await self._probe(client)
        except CapiError:
            await client.close()
            return None
        except BaseException:
            await client.close()
            raise
        return client

    async def _probe(self, client: Client) -> None:
        await client.request(
            "GET", "/", timeout=aiohttp.ClientTimeout(total=_PROBE_TIMEOUT, connect=2)
        )

    async def _stay(self, key: Key, client: Client) -> None:
        remote = RemoteCluster(key, client)
        reflectors: list[Reflector] = []
        for watch in self._watches:
            store = Store(watch.resource)
            if watch.resource == NODES:
                store.add_index("providerID", _provider_ids)
            remote.stores[watch] = store
            reflectors.append(
                Reflector(
                    client,
                    store,
                    namespace=watch.namespace,
                    labels=watch.labels,
                    fields=watch.fields,
                )
            )
        tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
        try:
            async with asyncio.timeout(_PROBE_TIMEOUT):
                await asyncio.gather(*(reflector.synced.wait() for reflector in reflectors))
            for store in remote.stores.values():
                store.on_change(lambda old, new: self._object_changed(key, old, new))
            self._succeeded(key)
            self._connected[key] = remote
            REMOTE_UP.labels(key.name, key.namespace).set(1)
            log.info("connected to the workload cluster", cluster=str(key))
            self._notify(key)
            await self._probe_until_lost(key, client)
        except TimeoutError:
            log.debug("watches did not sync in time", cluster=str(key))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _probe_until_lost(self, key: Key, client: Client) -> None:
        while True:
            await asyncio.sleep(_PROBE_SECONDS)
            started = time.monotonic()
            try:
                await self._probe(client)
                recovered = self.health(key).failures > 0
                self._succeeded(key)
                if recovered:
                    self._notify(key)
            except Unauthorized:
                log.info("credentials refused, connecting anew", cluster=str(key))
                return
            except CapiError as error:
                health = self.health(key)
                health.failures += 1
                log.info(
                    "probe failed",
                    cluster=str(key),
                    failures=health.failures,
                    seconds=round(time.monotonic() - started, 1),
                    error=str(error),
                )
                self._notify(key)
                if health.failures >= _FAILURES_TO_DISCONNECT:
                    return

    def _succeeded(self, key: Key) -> None:
        health = self.health(key)
        health.last_success, health.failures = datetime.now(UTC), 0

    def _notify(self, key: Key) -> None:
        for handler in self._handlers:
            handler(key)

    def _object_changed(self, key: Key, old: JsonObject | None, new: JsonObject | None) -> None:
        for handler in self._object_handlers:
            handler(key, old, new)


def _provider_ids(node: JsonObject) -> list[str]:
    provider_id = (node.get("spec") or {}).get("providerID")
    return [provider_id] if provider_id else []
