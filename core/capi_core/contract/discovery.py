"""Where an API server serves the kinds that somebody else's manifests name."""

from capi_core.api.meta import JsonObject, Resource
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError, NotFound


class KindNotServed(CapiError):
    """The API server does not serve a kind, or not yet."""


class Discovery:
    """Looks kinds up in one API server and remembers what it found."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[tuple[str, str], Resource] = {}

    async def resource(self, api_version: str, kind: str) -> Resource:
        """The resource of a kind.

        Raises:
            KindNotServed: there is none.
        """
        if (api_version, kind) not in self._known:
            await self._read(api_version)
        found = self._known.get((api_version, kind))
        if found is None:
            raise KindNotServed(f"the cluster does not serve {kind} of {api_version}")
        return found

    async def _read(self, api_version: str) -> None:
        group, _, version = api_version.rpartition("/")
        path = f"/apis/{api_version}" if group else f"/api/{version}"
        try:
            answer: JsonObject = await self._client.request("GET", path)
        except NotFound:
            return
        for item in answer.get("resources") or []:
            if "/" not in item["name"]:
                resource = Resource(group, version, item["kind"], item["name"], item["namespaced"])
                self._known[api_version, item["kind"]] = resource
