"""Repairs what the event intake loses.

kopf's relist after an expired watch never reports what was deleted meanwhile. The auditor lists
the metadata of each watched collection now and then, compares identity and version with the
store, and fetches or forgets what differs. At start the same listing, in full, fills the store.
"""

import asyncio

import structlog

from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError
from capi_core.runtime.metrics import AUDIT_REPAIRS
from capi_core.runtime.store import Store, key_of

log = structlog.get_logger()


class Auditor:
    """Audits ``stores`` every ``interval`` seconds.

    Attributes:
        drift: kinds that needed repair in two audits running; the watch behind them is dead.
    """

    def __init__(
        self, client: Client, stores: list[Store], *, namespace: str | None, interval: float = 300.0
    ) -> None:
        self._client = client
        self._stores = stores
        self._namespace = namespace
        self._interval = interval
        self._repaired: set[str] = set()
        self.drift: set[str] = set()

    async def fill(self) -> None:
        """List every collection in full, so that reconcilers start from a complete picture."""
        await asyncio.gather(*(self._fill(store) for store in self._stores))

    async def _fill(self, store: Store) -> None:
        items, version = await self._client.list(store.resource, self._namespace)
        store.replace(items, version)

    async def run(self) -> None:
        """Audit until cancelled."""
        while True:
            await asyncio.sleep(self._interval)
            for store in self._stores:
                try:
                    await self._audit(store)
                except CapiError as error:
                    log.warning("audit failed", kind=store.resource.kind, error=str(error))

    async def _audit(self, store: Store) -> None:
        before = {key_of(obj): obj["metadata"] for obj in store.all()}
        items, _ = await self._client.list(store.resource, self._namespace, metadata_only=True)
        live = {key_of(item): item["metadata"] for item in items}
        repairs = 0
        for key, meta in live.items():
            known = store.get(key)
            if known is None or int(known["metadata"]["resourceVersion"]) < int(
                meta["resourceVersion"]
            ):
                fresh = await self._client.find(store.resource, key.namespace or None, key.name)
                repairs += bool(fresh and store.put(fresh))
        for key, meta in before.items():
            if key not in live:
                repairs += store.discard({"metadata": meta})
        self._note(store.resource.kind, repairs)

    def _note(self, kind: str, repairs: int) -> None:
        if repairs:
            AUDIT_REPAIRS.labels(kind).inc(repairs)
            log.warning("the watch had missed changes", kind=kind, repairs=repairs)
            if kind in self._repaired:
                self.drift.add(kind)
            self._repaired.add(kind)
        else:
            self._repaired.discard(kind)
            self.drift.discard(kind)
