"""What this process knows of one kind: raw objects by key, with indices.

The store may lag behind the server; ``Client`` reads are live. It never goes back: an older
version of an object does not replace a newer one, and a deleted incarnation does not return.
A reconciler puts what its writes returned, so it always reads its own writes.
"""

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.meta import JsonObject, Resource

IndexFunction = Callable[[JsonObject], Iterable[str]]
_DELETED_REMEMBERED = 2000


class Key(NamedTuple):
    """Namespace and name; the namespace is empty for cluster-scoped kinds."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


ChangeHandler = Callable[[JsonObject | None, JsonObject | None], None]


def key_of(obj: JsonObject) -> Key:
    """The key of a raw object."""
    meta = obj["metadata"]
    return Key(meta.get("namespace") or "", meta["name"])


def _version(obj: JsonObject) -> int:
    version = obj["metadata"].get("resourceVersion") or "0"
    return int(version) if version.isdigit() else 0


class Store:
    """All known objects of one resource.

    Handlers get (old, new): old is None on creation, new is None on deletion.
    """

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.synced = False
        self._objects: dict[Key, JsonObject] = {}
        self._deleted: OrderedDict[str, None] = OrderedDict()
        self._indexers: dict[str, IndexFunction] = {}
        self._indices: dict[str, dict[str, set[Key]]] = {}
        self._handlers: list[ChangeHandler] = []
        self.add_index("owner", _owner_uids)
        self.add_index("cluster", _cluster_names)

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index all objects, present and to come, under the values that ``function`` yields."""
        if name in self._indexers:
            return
        self._indexers[name] = function
        self._indices[name] = defaultdict(set)
        for key, obj in self._objects.items():
            for value in function(obj):
                self._indices[name][value].add(key)

    def on_change(self, handler: ChangeHandler) -> None:
        """Call ``handler`` after every change."""
        self._handlers.append(handler)

    def get(self, key: Key) -> JsonObject | None:
        """The object as last seen; treat it as frozen."""
        return self._objects.get(key)

    def all(self, namespace: str | None = None) -> list[JsonObject]:
        """All objects, or those of one namespace."""
        if namespace is None:
            return list(self._objects.values())
        return [obj for key, obj in self._objects.items() if key.namespace == namespace]

    def by_index(self, name: str, value: str) -> list[JsonObject]:
        """The objects that index ``name`` files under ``value``."""
        return [self._objects[key] for key in sorted(self._indices[name].get(value, ()))]

    def owned_by(self, uid: str) -> list[JsonObject]:
        """The objects with an owner reference to ``uid``."""
        return self.by_index("owner", uid)

    def put(self, obj: JsonObject) -> bool:
        """Take in a version of an object; returns False when it is nothing new."""
        uid = obj["metadata"].get("uid", "")
        if uid and uid in self._deleted:
            return False
        key = key_of(obj)
        old = self._objects.get(key)
        if old is not None:
            # Versions of one collection grow with every write, whatever incarnation it is of.
            if _version(obj) <= _version(old):
                return False
            if (gone := old["metadata"].get("uid", "")) != uid:
                self._remember_deleted(gone)
        meta = obj["metadata"]
        if "managedFields" in meta:
            obj = {**obj, "metadata": {k: v for k, v in meta.items() if k != "managedFields"}}
        self._unindex(key, old)
        self._objects[key] = obj
        for name, function in self._indexers.items():
            for value in function(obj):
                self._indices[name][value].add(key)
        self._notify(old, obj)
        return True

    def discard(self, obj: JsonObject) -> bool:
        """Take in a deletion; returns False when the object was not known."""
        key, uid = key_of(obj), obj["metadata"].get("uid", "")
        self._remember_deleted(uid)
        old = self._objects.get(key)
        if old is None or (uid and old["metadata"].get("uid") != uid):
            return False
        self._unindex(key, old)
        del self._objects[key]
        self._notify(old, None)
        return True

    def _remember_deleted(self, uid: str) -> None:
        if uid:
            self._deleted[uid] = None
            while len(self._deleted) > _DELETED_REMEMBERED:
                self._deleted.popitem(last=False)

    def replace(self, objects: Iterable[JsonObject], version: str) -> int:
        """Make the store hold exactly ``objects``; returns how many entries had to change.

        Args:
            version: the list's; what was written after it cannot be in it, and stays.
        """
        fresh = {key_of(obj): obj for obj in objects}
        listed = int(version) if version.isdigit() else sys.maxsize
        changes = sum(self.put(obj) for obj in fresh.values())
        for key, obj in list(self._objects.items()):
            if key not in fresh and _version(obj) <= listed:
                changes += self.discard(obj)
        self.synced = True
        return changes

    def _unindex(self, key: Key, old: JsonObject | None) -> None:
        if old is None:
            return
        for name, function in self._indexers.items():
            index = self._indices[name]
            for value in function(old):
                index[value].discard(key)
                if not index[value]:
                    del index[value]

    def _notify(self, old: JsonObject | None, new: JsonObject | None) -> None:
        for handler in self._handlers:
            handler(old, new)


def _owner_uids(obj: JsonObject) -> Iterable[str]:
    return [owner["uid"] for owner in obj["metadata"].get("ownerReferences") or []]


def _cluster_names(obj: JsonObject) -> Iterable[str]:
    meta = obj["metadata"]
    name = (meta.get("labels") or {}).get(CLUSTER_NAME_LABEL) or (
        obj.get("spec") or {}
    ).get("clusterName")
    return [f"{meta.get('namespace')}/{name}"] if name else []
