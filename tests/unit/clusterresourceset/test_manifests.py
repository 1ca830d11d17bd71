"""What a ConfigMap or Secret holds, in the order in which it can be created."""

import base64

import pytest

from capi_core.api.meta import JsonObject
from capi_core.reconcilers.clusterresourceset.manifests import (
    InvalidManifest,
    hash_of,
    objects_of,
    texts_of,
)

DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"


def config_map(**data: str) -> JsonObject:
    """A ConfigMap with this data."""
    return {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


def test_what_others_need_comes_first() -> None:
    source = config_map(a=f"{DEPLOYMENT}---\n{NAMESPACE}", b="")
    assert [obj["kind"] for obj in objects_of(source)] == ["Namespace", "Deployment"]


def test_lists_are_taken_apart() -> None:
    listed = '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", '
    listed += '"metadata": {"name": "p"}}]}'
    assert [obj["metadata"]["name"] for obj in objects_of(config_map(a=listed))] == ["p"]


def test_a_secret_is_decoded() -> None:
    data = {"a": base64.b64encode(NAMESPACE.encode()).decode()}
    source = {"kind": "Secret", "metadata": {"name": "s"}, "data": data}
    assert texts_of(source) == {"a": NAMESPACE}


def test_the_hash_follows_the_content_in_the_order_of_keys() -> None:
    one, other = config_map(a="1", b="2"), config_map(b="2", a="1")
    assert hash_of(texts_of(one)) == hash_of(texts_of(other))
    assert hash_of(texts_of(one)) != hash_of(texts_of(config_map(a="1", b="3")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "key a: is not YAML"),
        ("just text", "no apiVersion and kind"),
        ("apiVersion: v1\nkind: Pod\n", "a Pod has no metadata.name"),
    ],
)
def test_what_is_no_manifest_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidManifest, match=message):
        objects_of(config_map(a=text))
