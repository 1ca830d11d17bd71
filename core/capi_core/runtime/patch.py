"""Writes back only what changed.

The difference between an object as read and as wanted becomes a JSON merge patch (RFC 7386), one
for the object and one for its status, each with the resourceVersion read, so that a change made
by somebody else in between leads to a Conflict and a fresh look instead of a lost update.
"""

from typing import Any

from capi_core.api.meta import JsonObject, KubeObject
from capi_core.runtime.client import Client
from capi_core.runtime.errors import Conflict, NotFound
from capi_core.runtime.store import Store


def merge_diff(before: JsonObject, after: JsonObject) -> JsonObject:
    """The merge patch that turns ``before`` into ``after``; lists are replaced whole."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            if nested := merge_diff(old, value):
                patch[key] = nested
        elif key not in before or old != value:
            patch[key] = value
    return patch


def merge_patch(target: JsonObject, patch: JsonObject) -> JsonObject:
    """Apply a merge patch, as the server does; the arguments stay as they are."""
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            old = result.get(key)
            result[key] = merge_patch(old if isinstance(old, dict) else {}, value)
        else:
            result[key] = value
    return result


async def delete_known(client: Client, store: Store, obj: KubeObject) -> None:
    """Ask for the deletion of ``obj`` and let the store know, so that nobody counts on it again."""
    left = await client.delete(
        obj.resource, obj.namespace or None, obj.name, uid=obj.metadata.uid
    )
    if left is None:
        store.discard(obj.dump())
    else:
        store.put(left)


async def write_known(
    client: Client, store: Store, before: JsonObject, obj: KubeObject
) -> JsonObject | None:
    """Do as `write_changes` does, and let the store know: the next pass starts from it.

    Raises:
        Conflict: the store has been told what ``obj`` is by now.
    """
    try:
        stored = await write_changes(client, before, obj)
    except Conflict:
        fresh = await client.find(obj.resource, obj.namespace or None, obj.name)
        if fresh is not None:
            store.put(fresh)
        raise
    if stored is not None:
        store.put(stored)
    return stored


async def write_changes(client: Client, before: JsonObject, obj: KubeObject) -> JsonObject | None:
    """Send what differs between ``before`` and ``obj``.

    Args:
        before: ``obj.dump()`` as it was read.

    Returns:
        The object as last stored; None when nothing differed, or when the last finalizer went
        and the object with it.
    """
    patch = merge_diff(before, obj.dump())
    status = patch.pop("status", None)
    for server_field in ("resourceVersion", "uid", "generation"):
        patch.get("metadata", {}).pop(server_field, None)
    if not patch.get("metadata", True):
        del patch["metadata"]
    # Who acts on a status may rely on the spec that it speaks of; only a finalizer goes last.
    fewer = len(obj.metadata.finalizers) < len(before["metadata"].get("finalizers") or [])
    parts = [("", patch), ("status", {"status": status} if status else {})]
    version = obj.metadata.resource_version
    stored: JsonObject | None = None
    for sub, body in reversed(parts) if fewer else parts:
        if not body:
            continue
        body.setdefault("metadata", {})["resourceVersion"] = version
        try:
            stored = await client.patch(obj.resource, obj.namespace, obj.name, body, sub=sub)
        except NotFound:
            if sub:
                raise
            return None
        version = stored["metadata"]["resourceVersion"]
    return stored
