"""Third-party providers: kinds that core has never heard of, known by the contract alone."""

from typing import Any

from capi_core.api.meta import JsonObject, Resource
from capi_core.contract.external import CRDS, plural_of
from capi_core.runtime.errors import ApiError
from tests.support.cluster import Api, until

GROUP = "infrastructure.example.com"


def resource(kind: str, *, group: str = GROUP, version: str = "v1alpha1") -> Resource:
    """Where a foreign kind is served."""
    return Resource(group, version, kind, plural_of(kind))


async def install(api: Api, found: Resource, contract: str) -> None:
    """Serve a kind that takes any fields and follows ``contract``."""
    schema: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    crd: JsonObject = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{found.plural}.{found.group}",
            "labels": {f"cluster.x-k8s.io/{contract}": found.version} if contract else {},
        },
        "spec": {
            "group": found.group,
            "scope": "Namespaced",
            "names": {"kind": found.kind, "plural": found.plural},
            "versions": [
                {
                    "name": found.version, "served": True, "storage": True,
                    "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
                }
            ],
        },
    }
    await api.client.apply(crd, CRDS, manager="tests")

    async def served() -> bool:
        await api.list(found)
        return True

    await until(served, what=f"{found.kind} to be served", tolerate=ApiError)


async def create(api: Api, found: Resource, name: str, **fields: Any) -> JsonObject:
    """An object of a foreign kind; its status is written as its provider would."""
    status = fields.pop("status", None)
    obj: JsonObject = {
        "apiVersion": found.api_version, "kind": found.kind, "metadata": {"name": name}, **fields
    }
    stored = await api.create(obj, found)
    if status is not None:
        stored = await api.patch(found, name, {"status": status}, sub="status")
    return stored


def reference(found: Resource, name: str) -> JsonObject:
    """A reference to an object of a foreign kind."""
    return {"apiGroup": found.group, "kind": found.kind, "name": name}
