"""Owner references: who made an object, and who is woken when it changes."""

from collections.abc import Iterable

from capi_core.api.meta import JsonObject, KubeObject, ObjectMeta, OwnerReference, Resource


def owner_reference(owner: KubeObject, *, controller: bool | None = None) -> OwnerReference:
    """A reference to ``owner``; a controller also blocks its deletion in the foreground."""
    return OwnerReference(
        api_version=owner.resource.api_version,
        kind=owner.resource.kind,
        name=owner.name,
        uid=owner.metadata.uid,
        controller=controller,
        block_owner_deletion=controller,
    )


def set_owner(meta: ObjectMeta, owner: KubeObject, *, controller: bool | None = None) -> bool:
    """Make ``owner`` an owner; returns whether anything changed."""
    wanted = owner_reference(owner, controller=controller)
    for index, ref in enumerate(meta.owner_references):
        if ref.uid == wanted.uid:
            if controller is None or ref.controller == controller:
                same = ref.api_version == wanted.api_version
                if same:
                    return False
            meta.owner_references[index] = wanted
            return True
    meta.owner_references.append(wanted)
    return True


def controller_of(meta: ObjectMeta) -> OwnerReference | None:
    """The owner that controls the object."""
    return next((ref for ref in meta.owner_references if ref.controller), None)


def is_controlled_by(obj: JsonObject, owner: KubeObject) -> bool:
    """Whether ``owner`` controls the raw object."""
    refs: Iterable[JsonObject] = obj["metadata"].get("ownerReferences") or []
    return any(ref.get("controller") and ref["uid"] == owner.metadata.uid for ref in refs)


def owner_of_kind(meta: ObjectMeta, resource: Resource) -> OwnerReference | None:
    """The owner of the given group and kind, whatever its version."""
    for ref in meta.owner_references:
        if ref.kind == resource.kind and ref.api_version.split("/")[0] == resource.group:
            return ref
    return None
