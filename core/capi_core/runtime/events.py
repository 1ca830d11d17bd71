"""Records events on objects, so that ``kubectl describe`` tells the story.

Events are a courtesy: they are sent in the background, repeats are counted on one event, and a
failure to send one never fails a reconcile.
"""

import asyncio
import hashlib
from collections import OrderedDict

import structlog

from capi_core.api.meta import JsonObject, KubeObject, Resource
from capi_core.conditions import now
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError, NotFound

EVENTS = Resource("", "v1", "Event", "events")
log = structlog.get_logger()
_REMEMBERED = 500
_MAX_MESSAGE = 1024


class Recorder:
    """Posts events as ``component``."""

    def __init__(self, client: Client, component: str) -> None:
        self._client = client
        self._component = component
        self._sent: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self._queue: asyncio.Queue[tuple[str, JsonObject]] = asyncio.Queue(maxsize=200)

    def normal(self, obj: KubeObject, reason: str, message: str) -> None:
        """Something went as it should."""
        self._record(obj, "Normal", reason, message)

    def warning(self, obj: KubeObject, reason: str, message: str) -> None:
        """Something went wrong."""
        self._record(obj, "Warning", reason, message)

    def _record(self, obj: KubeObject, kind: str, reason: str, message: str) -> None:
        stamp = now()
        message = message[:_MAX_MESSAGE]
        digest = hashlib.sha256(f"{obj.metadata.uid}{reason}{message}".encode()).hexdigest()[:16]
        event: JsonObject = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{obj.name}.{digest}", "namespace": obj.namespace or "default"},
            "involvedObject": {
                "apiVersion": obj.resource.api_version,
                "kind": obj.resource.kind,
                "namespace": obj.namespace,
                "name": obj.name,
                "uid": obj.metadata.uid,
            },
            "type": kind,
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
        if self._queue.full():
            return
        self._queue.put_nowait((digest, event))

    async def run(self) -> None:
        """Send events until cancelled."""
        while True:
            digest, event = await self._queue.get()
            try:
                await self._send(digest, event)
            except CapiError as error:
                log.debug("event not recorded", error=str(error))

    async def _send(self, digest: str, event: JsonObject) -> None:
        meta = event["metadata"]
        name, count = self._sent.get(digest, (meta["name"], 0))
        if count:
            patch = {"count": count + 1, "lastTimestamp": event["lastTimestamp"]}
            try:
                await self._client.patch(EVENTS, meta["namespace"], name, patch)
            except NotFound:
                count = 0
        if not count:
            await self._client.apply(event, EVENTS, manager=self._component)
        self._sent[digest] = (name, count + 1)
        self._sent.move_to_end(digest)
        while len(self._sent) > _REMEMBERED:
            self._sent.popitem(last=False)
