"""The objects in a ConfigMap or Secret, in an order in which they can be created. Pure."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from capi_core.api.meta import JsonObject
from capi_core.runtime.errors import CapiError

# What others refer to comes first; what is not here comes last.
_ORDER = (
    "Namespace", "ResourceQuota", "LimitRange", "ServiceAccount", "Secret", "ConfigMap",
    "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition",
    "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "DaemonSet", "Pod",
    "ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "Job", "CronJob",
    "Ingress", "APIService",
)


class InvalidManifest(CapiError):
    """The data is not a manifest; the message names the object and the key."""


def texts_of(source: JsonObject) -> dict[str, str]:
    """The data of a ConfigMap or Secret, by sorted key.

    Raises:
        InvalidManifest: a value is not text.
    """
    data: Mapping[str, str] = source.get("data") or {}
    binary: Mapping[str, str] = source.get("binaryData") or {}
    if source["kind"] == "Secret":
        data, binary = {}, data
    decoded: dict[str, str] = dict(data)
    for key, value in binary.items():
        try:
            decoded[key] = base64.b64decode(value).decode()
        except ValueError as error:
            raise InvalidManifest(f"{_name(source)}, key {key}: is not text") from error
    return dict(sorted(decoded.items()))


def hash_of(texts: Mapping[str, str]) -> str:
    """What tells one content from another, in the form that bindings keep."""
    digest = hashlib.sha256()
    for text in texts.values():
        digest.update(text.encode())
    return f"sha256:{digest.hexdigest()}"


def objects_of(source: JsonObject) -> list[JsonObject]:
    """All objects of a ConfigMap or Secret.

    Raises:
        InvalidManifest: a document is malformed, or is no object.
    """
    found: list[JsonObject] = []
    for key, text in texts_of(source).items():
        try:
            documents = list(yaml.safe_load_all(text))
        except yaml.YAMLError as error:
            raise InvalidManifest(f"{_name(source)}, key {key}: is not YAML") from error
        for document in documents:
            found += _flatten(document, f"{_name(source)}, key {key}")
    ranks = {kind: rank for rank, kind in enumerate(_ORDER)}
    return sorted(found, key=lambda obj: ranks.get(obj["kind"], len(ranks)))


def _flatten(document: Any, where: str) -> Iterator[JsonObject]:
    if document is None:
        return
    if isinstance(document, list):
        for item in document:
            yield from _flatten(item, where)
        return
    if not isinstance(document, dict) or not {"apiVersion", "kind"} <= document.keys():
        raise InvalidManifest(f"{where}: a document has no apiVersion and kind")
    if document["kind"] == "List" or ("items" in document and document["kind"].endswith("List")):
        for item in document.get("items") or []:
            yield from _flatten(item, where)
        return
    if not (document.get("metadata") or {}).get("name"):
        raise InvalidManifest(f"{where}: a {document['kind']} has no metadata.name")
    yield document


def _name(source: JsonObject) -> str:
    return f"{source['kind']} {source['metadata']['name']}"
