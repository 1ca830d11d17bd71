"""Keeps a store in step with one API server's collection by LIST and WATCH.

Used where kopf cannot watch: in workload clusters, and for kinds that are only known at run time.
A new LIST replaces the store's content, so deletions missed while disconnected are noticed.
"""

import asyncio

import structlog

from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError, Gone
from capi_core.runtime.store import Store

log = structlog.get_logger()
_RECONNECT_SECONDS = 0.5
_MAX_RECONNECT_SECONDS = 10.0


class Reflector:
    """Feeds ``store`` from ``client`` until cancelled.

    Args:
        namespace, labels, fields: what part of the collection to watch.
    """

    def __init__(
        self,
        client: Client,
        store: Store,
        *,
        namespace: str | None = None,
        labels: str = "",
        fields: str = "",
    ) -> None:
        self._client = client
        self._store = store
        self._namespace = namespace
        self._labels = labels
        self._fields = fields
        self.synced = asyncio.Event()

    async def run(self) -> None:
        """List, then watch; reconnect for ever."""
        delay = _RECONNECT_SECONDS
        version = ""
        while True:
            try:
                if not version:
                    version = await self._list()
                version = await self._watch(version)
                delay = _RECONNECT_SECONDS
            except Gone:
                version = ""
            except CapiError as error:
                log.debug("watch broke", kind=self._store.resource.kind, error=str(error))
                version = ""
                await asyncio.sleep(delay)
                delay = min(delay * 2, _MAX_RECONNECT_SECONDS)

    async def _list(self) -> str:
        items, version = await self._client.list(
            self._store.resource, self._namespace, labels=self._labels, fields=self._fields
        )
        self._store.replace(items, version)
        self.synced.set()
        return version

    async def _watch(self, version: str) -> str:
        events = self._client.watch(
            self._store.resource,
            self._namespace,
            version=version,
            labels=self._labels,
            fields=self._fields,
        )
        async for kind, obj in events:
            version = obj["metadata"].get("resourceVersion", version)
            if kind == "DELETED":
                self._store.discard(obj)
            elif kind in ("ADDED", "MODIFIED"):
                self._store.put(obj)
        return version
