"""A thin async client of one API server: raw JSON objects in, raw JSON objects out.

Reads here are always live; the ``store`` is what may lag. Every call has a timeout. Nothing is
retried: a reconciler that fails is called again by its queue.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from capi_core.api.meta import JsonObject, Resource
from capi_core.runtime.access import Access
from capi_core.runtime.errors import NotFound, Unreachable, api_error
from capi_core.runtime.metrics import REST_REQUESTS

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
_METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class Client:
    """Talks to one API server under one user agent.

    Args:
        access: server and credentials.
        user_agent: the name that the server's audit log and managed fields show.
        timeout: seconds that one call may take.
    """

    def __init__(self, access: Access, *, user_agent: str, timeout: float = 15.0) -> None:
        self.access = access
        self.host = urlsplit(access.server).netloc
        self._user_agent = user_agent
        self._timeout = aiohttp.ClientTimeout(total=timeout, connect=min(timeout, 5.0))
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close all connections."""
        if self._session:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            connector = aiohttp.TCPConnector(
                ssl=self.access.ssl_context() if self.access.server.startswith("https") else False,
                limit=64,
            )
            self._session = aiohttp.ClientSession(
                connector=connector, headers={"User-Agent": self._user_agent}
            )
        return self._session

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> Any:
        """One call; returns the decoded JSON body, or the text where it is not JSON.

        Raises:
            ApiError: the server answered with an error status.
            Unreachable: no answer in time.
        """
        try:
            async with self._open().request(
                method,
                self.access.server.rstrip("/") + path,
                data=None if body is None else orjson.dumps(body),
                params=params,
                headers=self._headers(body, headers),
                timeout=timeout or self._timeout,
                server_hostname=self.access.tls_server_name or None,
            ) as response:
                payload = await response.read()
                REST_REQUESTS.labels(str(response.status), method, self.host).inc()
                if response.status >= 400:
                    raise self._error(response.status, payload, f"{method} {path}")
                if response.content_type.endswith("json"):
                    return orjson.loads(payload)
                return payload.decode(errors="replace")
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            REST_REQUESTS.labels("<error>", method, self.host).inc()
            detail = str(error) or type(error).__name__
            raise Unreachable(f"{method} {self.host}{path}: {detail}") from error

    def _headers(self, body: Any, headers: Mapping[str, str] | None) -> dict[str, str]:
        result = {"Accept": "application/json"}
        if body is not None:
            result["Content-Type"] = "application/json"
        if bearer := self.access.bearer():
            result["Authorization"] = f"Bearer {bearer}"
        return {**result, **(headers or {})}

    @staticmethod
    def _error(code: int, payload: bytes, what: str) -> Exception:
        try:
            status = orjson.loads(payload)
            return api_error(code, status.get("reason", ""), status.get("message", what))
        except (orjson.JSONDecodeError, AttributeError):
            return api_error(code, "", f"{what}: {payload[:200].decode(errors='replace')}")

    async def get(self, resource: Resource, namespace: str | None, name: str) -> JsonObject:
        """The live object."""
        return await self.request("GET", resource.path(namespace, name))

    async def find(self, resource: Resource, namespace: str | None, name: str) -> JsonObject | None:
        """The live object, or None when it does not exist."""
        try:
            return await self.get(resource, namespace, name)
        except NotFound:
            return None

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
    ) -> tuple[list[JsonObject], str]:
        """All objects, read in pages, and the resourceVersion to watch from."""
        params = {"limit": "500"}
        params |= {"labelSelector": labels} if labels else {}
        params |= {"fieldSelector": fields} if fields else {}
        headers = {"Accept": _METADATA_LIST} if metadata_only else None
        items: list[JsonObject] = []
        while True:
            page = await self.request(
                "GET", resource.path(namespace), params=params, headers=headers
            )
            for item in page.get("items") or []:
                item.setdefault("apiVersion", resource.api_version)
                item.setdefault("kind", resource.kind)
                items.append(item)
            if not (token := page["metadata"].get("continue")):
                return items, page["metadata"].get("resourceVersion", "")
            params["continue"] = token

    async def watch(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        version: str,
        labels: str = "",
        fields: str = "",
        seconds: int = 300,
    ) -> AsyncIterator[tuple[str, JsonObject]]:
        """Yield (type, object) after ``version`` until the server ends the watch.

        Raises:
            Gone: ``version`` is too old; list again.
            Unreachable: the connection broke.
        """
        params = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        params |= {"labelSelector": labels} if labels else {}
        params |= {"fieldSelector": fields} if fields else {}
        path = resource.path(namespace)
        # A silent peer is noticed by the bookmarks that stop coming, about one a minute.
        timeout = aiohttp.ClientTimeout(total=None, connect=5, sock_read=90)
        try:
            async with self._open().get(
                self.access.server.rstrip("/") + path,
                params=params,
                headers=self._headers(None, None),
                timeout=timeout,
                server_hostname=self.access.tls_server_name or None,
            ) as response:
                if response.status >= 400:
                    raise self._error(response.status, await response.read(), f"WATCH {path}")
                async for line in _lines(response.content):
                    event = orjson.loads(line)
                    if event["type"] == "ERROR":
                        status = event["object"]
                        raise api_error(
                            status.get("code", 500),
                            status.get("reason", ""),
                            status.get("message", ""),
                        )
                    yield event["type"], event["object"]
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise Unreachable(f"WATCH {self.host}{path}: {error}") from error

    async def create(self, obj: JsonObject, resource: Resource) -> JsonObject:
        """POST the object; returns what was stored."""
        return await self.request("POST", resource.path(obj["metadata"].get("namespace")), body=obj)

    async def patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        patch: JsonObject,
        *,
        sub: str = "",
        content_type: str = MERGE_PATCH,
    ) -> JsonObject:
        """Merge (or strategic merge) ``patch`` into the object or its subresource ``sub``."""
        return await self.request(
            "PATCH",
            resource.path(namespace, name, sub),
            body=patch,
            headers={"Content-Type": content_type},
        )

    async def apply(
        self, obj: JsonObject, resource: Resource, *, manager: str, sub: str = ""
    ) -> JsonObject:
        """Server-side apply ``obj`` as ``manager``, taking over fields that others own."""
        meta = obj["metadata"]
        return await self.request(
            "PATCH",
            resource.path(meta.get("namespace"), meta["name"], sub),
            body=obj,
            params={"fieldManager": manager, "force": "true"},
            headers={"Content-Type": APPLY_PATCH},
        )

    async def delete(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        uid: str = "",
        propagation: str = "Background",
    ) -> JsonObject | None:
        """Ask for deletion; an object that is already gone is a success.

        Args:
            uid: delete only this incarnation of the name.

        Returns:
            The object while finalizers still hold it; None when it is gone.
        """
        body: JsonObject = {"propagationPolicy": propagation}
        if uid:
            body["preconditions"] = {"uid": uid}
        try:
            answer = await self.request("DELETE", resource.path(namespace, name), body=body)
        except NotFound:
            return None
        # Of an object that went at once the server tells only that it did, or its last state.
        held = (answer.get("metadata") or {}).get("finalizers")
        return answer if held and answer.get("kind") != "Status" else None


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    # aiohttp's own line reader refuses lines over its buffer's limit; objects may be larger.
    buffer = bytearray()
    async for chunk in stream.iter_any():
        buffer += chunk
        while (end := buffer.find(b"\n")) >= 0:
            line = bytes(buffer[:end])
            del buffer[: end + 1]
            if line:
                yield line
