"""Objects cloned from templates, and the names generated for them."""

import hashlib
import random

from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.meta import JsonObject, KubeObject
from capi_core.contract.owners import owner_reference

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX = 5
_MAX_NAME = 63
CLONED_FROM_NAME = "cluster.x-k8s.io/cloned-from-name"
CLONED_FROM_GROUP_KIND = "cluster.x-k8s.io/cloned-from-groupkind"


def random_suffix() -> str:
    """Five characters that make no words."""
    return "".join(random.choices(_ALPHABET, k=_SUFFIX))  # not for secrets


def generate_name(base: str) -> str:
    """``base`` and a random suffix, at most 63 characters."""
    return base[: _MAX_NAME - _SUFFIX] + random_suffix()


def label_value(name: str) -> str:
    """A name as a label's value; one that is too long is told by its hash."""
    if len(name) <= _MAX_NAME:
        return name
    return f"hash_{hashlib.sha256(name.encode()).hexdigest()[:16]}_z"


def render_name(template: str, values: dict[str, str]) -> str:
    """A naming template such as ``{{ .machineSet.name }}-{{ .random }}`` filled in.

    Args:
        values: dotted names without the leading dot, ``random`` excepted.
    """
    name = template
    for key, value in {**values, "random": random_suffix()}.items():
        name = name.replace("{{ ." + key + " }}", value).replace("{{." + key + "}}", value)
    return name if len(name) <= _MAX_NAME else generate_name(name[: _MAX_NAME - _SUFFIX])


def clone_template(
    template: JsonObject,
    *,
    name: str,
    cluster: str,
    owner: KubeObject | None,
    controller: bool | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> JsonObject:
    """The object that ``template`` describes, with upstream's labels and annotations."""
    inner: JsonObject = template.get("spec", {}).get("template", {})
    meta: JsonObject = inner.get("metadata") or {}
    group = template["apiVersion"].rpartition("/")[0]
    obj: JsonObject = {
        "apiVersion": template["apiVersion"],
        "kind": template["kind"].removesuffix("Template"),
        "metadata": {
            "name": name,
            "namespace": template["metadata"]["namespace"],
            "labels": {
                **(meta.get("labels") or {}),
                **(labels or {}),
                CLUSTER_NAME_LABEL: cluster,
            },
            "annotations": {
                **(meta.get("annotations") or {}),
                **(annotations or {}),
                CLONED_FROM_NAME: template["metadata"]["name"],
                CLONED_FROM_GROUP_KIND: f"{template['kind']}.{group}",
            },
        },
    }
    if "spec" in inner:
        # A kind whose spec needs a property refuses an empty one, but not its absence.
        obj["spec"] = inner["spec"]
    if owner is not None:
        ref = owner_reference(owner, controller=controller)
        obj["metadata"]["ownerReferences"] = [ref.dump()]
    return obj
