"""Objects of other providers, reached through a reference and read by the contract.

A reference names group, kind and name. The CRD's label ``cluster.x-k8s.io/<contract>`` lists the
versions that implement a contract; the newest contract known here wins. So a provider of either
generation works, and none has to be known in advance.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Literal

from capi_core.api.meta import JsonObject, KubeObject, Resource
from capi_core.runtime.controller import Controller
from capi_core.runtime.errors import CapiError, NotFound
from capi_core.runtime.manager import Manager
from capi_core.runtime.reflector import Reflector
from capi_core.runtime.store import Key, Store, key_of

CRDS = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False
)
Contract = Literal["v1beta2", "v1beta1"]
_CONTRACTS: tuple[Contract, ...] = ("v1beta2", "v1beta1")
_CACHE_SECONDS = 60.0
_SYNC_SECONDS = 10.0


class UnknownKind(CapiError):
    """A reference names a kind that no CRD serves, or that follows no known contract."""


@dataclass(frozen=True, slots=True)
class ExternalKind:
    """A kind at the version that implements ``contract``."""

    resource: Resource
    contract: Contract


@dataclass(frozen=True, slots=True)
class External:
    """An object of another provider with the contract to read it by."""

    obj: JsonObject
    contract: Contract

    def field(self, path: str) -> Any:
        """The value at a dotted path, None where any part is missing."""
        value: Any = self.obj
        for part in path.split("."):
            if not isinstance(value, dict):
                return None
            value = value.get(part)
        return value

    @property
    def deleting(self) -> bool:
        """Whether its deletion has been asked for."""
        return bool(self.obj["metadata"].get("deletionTimestamp"))

    @property
    def provisioned(self) -> bool:
        """InfraCluster and InfraMachine: the infrastructure is there."""
        return self._flag("provisioned", "ready")

    @property
    def data_secret_created(self) -> bool:
        """BootstrapConfig: the bootstrap data can be read."""
        return self._flag("dataSecretCreated", "ready")

    @property
    def control_plane_initialized(self) -> bool:
        """ControlPlane: the API server answers."""
        return self._flag("controlPlaneInitialized", "initialized")

    def _flag(self, v1beta2: str, v1beta1: str) -> bool:
        if self.contract == "v1beta2":
            return self.field(f"status.initialization.{v1beta2}") is True
        return self.field(f"status.{v1beta1}") is True


def plural_of(kind: str) -> str:
    """The plural of a kind as the contract computes it."""
    name = kind.lower()
    if name.endswith(("s", "x", "z", "ch", "sh")):
        return name + "es"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"


def _version_rank(version: str) -> tuple[int, int, int]:
    # Kubernetes' order: v2 > v1 > v1beta2 > v1beta1 > v1alpha1.
    for rank, stage in ((1, "beta"), (0, "alpha")):
        head, found, tail = version.removeprefix("v").partition(stage)
        if found:
            return (rank, int(head or 0), int(tail or 0))
    digits = version.removeprefix("v")
    return (2, int(digits) if digits.isdigit() else 0, 0)


def pick_version(labels: dict[str, str]) -> tuple[str, Contract] | None:
    """The version and contract to use, from a CRD's labels."""
    for contract in _CONTRACTS:
        if versions := labels.get(f"cluster.x-k8s.io/{contract}"):
            return max(versions.split("_"), key=_version_rank), contract
    return None


class ExternalObjects:
    """Reads and watches referenced objects for the controllers of one manager."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._kinds: dict[tuple[str, str], tuple[float, ExternalKind]] = {}
        self._stores: dict[Resource, tuple[Store, Reflector | None]] = {}
        self._subscribers: list[tuple[Controller, Resource]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        manager.on_close(self.close)

    @classmethod
    def of(cls, manager: Manager) -> "ExternalObjects":
        """The one reader that the providers of ``manager``'s process share."""
        if cls not in manager.shared:
            manager.shared[cls] = cls(manager)
        return manager.shared[cls]

    def subscribe(self, controller: Controller, owner: type[KubeObject]) -> None:
        """Enqueue the ``owner`` of each external object that changes."""
        self._subscribers.append((controller, owner.resource))
        self._manager.store(owner).add_index("references", _references)

    async def close(self) -> None:
        """End the watches."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def resolve(self, group: str, kind: str) -> ExternalKind:
        """Where and by which contract ``kind`` is served.

        Raises:
            UnknownKind: no such CRD, or no contract label that is known here.
        """
        cached = self._kinds.get((group, kind))
        if cached and time.monotonic() - cached[0] < _CACHE_SECONDS:
            return cached[1]
        plural = plural_of(kind)
        try:
            crd = await self._manager.client.get(CRDS, None, f"{plural}.{group}")
        except NotFound as error:
            raise UnknownKind(
                f"no CustomResourceDefinition {plural}.{group}; is the provider installed?"
            ) from error
        picked = pick_version(crd["metadata"].get("labels") or {})
        if picked is None:
            raise UnknownKind(
                f"CustomResourceDefinition {plural}.{group} has no label cluster.x-k8s.io/v1beta2 "
                "or cluster.x-k8s.io/v1beta1"
            )
        found = ExternalKind(Resource(group, picked[0], kind, plural), picked[1])
        self._kinds[group, kind] = (time.monotonic(), found)
        return found

    async def get(self, group: str, kind: str, namespace: str, name: str) -> External | None:
        """The object as last seen, watched from now on; None when it does not exist."""
        external = await self.resolve(group, kind)
        store = await self._track(external.resource)
        obj = store.get(Key(namespace, name))
        return External(obj, external.contract) if obj else None

    async def live(self, group: str, kind: str, namespace: str, name: str) -> External | None:
        """The object as it is now, past the watch."""
        external = await self.resolve(group, kind)
        obj = await self._manager.client.find(external.resource, namespace, name)
        if obj is not None:
            (await self._track(external.resource)).put(obj)
        return External(obj, external.contract) if obj else None

    async def patch(self, external: External, patch: JsonObject) -> External:
        """Merge ``patch`` into the object."""
        group = external.obj["apiVersion"].rpartition("/")[0]
        kind = await self.resolve(group, external.obj["kind"])
        meta = external.obj["metadata"]
        obj = await self._manager.client.patch(
            kind.resource, meta["namespace"], meta["name"], patch
        )
        (await self._track(kind.resource)).put(obj)
        return External(obj, external.contract)

    async def create(self, obj: JsonObject) -> JsonObject:
        """Create an object of a resolvable kind and remember it."""
        group = obj["apiVersion"].rpartition("/")[0]
        kind = await self.resolve(group, obj["kind"])
        stored = await self._manager.client.create(obj, kind.resource)
        (await self._track(kind.resource)).put(stored)
        return stored

    async def delete(self, external: External) -> None:
        """Ask for its deletion."""
        group = external.obj["apiVersion"].rpartition("/")[0]
        kind = await self.resolve(group, external.obj["kind"])
        meta = external.obj["metadata"]
        left = await self._manager.client.delete(
            kind.resource, meta["namespace"], meta["name"], uid=meta["uid"]
        )
        if left is not None:
            (await self._track(kind.resource)).put(left)

    async def store_of(self, group: str, kind: str) -> Store:
        """The watched store of a kind."""
        return await self._track((await self.resolve(group, kind)).resource)

    async def _track(self, resource: Resource) -> Store:
        if resource not in self._stores:
            store = Store(resource)
            store.on_change(self._changed)
            reflector = Reflector(
                self._manager.client, store, namespace=self._manager.options.namespace
            )
            self._stores[resource] = (store, reflector)
            task = asyncio.create_task(reflector.run(), name=f"watch {resource.plural}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        store, reflector = self._stores[resource]
        if reflector is not None and not store.synced:
            async with asyncio.timeout(_SYNC_SECONDS):
                await reflector.synced.wait()
        return store

    def _changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if old is None and new is not None:
            self._appeared(new)
        for obj in (old, new):
            if obj is None:
                continue
            namespace = obj["metadata"].get("namespace") or ""
            for ref in obj["metadata"].get("ownerReferences") or []:
                for controller, owner in self._subscribers:
                    if ref["kind"] == owner.kind and ref["apiVersion"].split("/")[0] == owner.group:
                        controller.enqueue(Key(namespace, ref["name"]))

    def _appeared(self, obj: JsonObject) -> None:
        """Wake whoever names an object that is new and belongs to nobody yet."""
        group, meta = obj["apiVersion"].rpartition("/")[0], obj["metadata"]
        reference = _reference(meta.get("namespace") or "", group, obj["kind"], meta["name"])
        for controller, owner in self._subscribers:
            for waiting in self._manager.store(owner).by_index("references", reference):
                controller.enqueue(key_of(waiting))


def _reference(namespace: str, group: str, kind: str, name: str) -> str:
    return f"{namespace}/{kind}.{group}/{name}"


def _references(obj: JsonObject) -> list[str]:
    """What the spec of a Cluster, a Machine, or a group of Machines refers to."""
    namespace, spec = obj["metadata"].get("namespace") or "", obj.get("spec") or {}
    inner = (spec.get("template") or {}).get("spec") or spec
    refs: list[Any] = [spec.get("controlPlaneRef"), inner.get("infrastructureRef")]
    refs.append((inner.get("bootstrap") or {}).get("configRef"))
    return [
        _reference(namespace, ref.get("apiGroup", ""), ref["kind"], ref["name"])
        for ref in refs
        if ref and ref.get("kind") and ref.get("name")
    ]
