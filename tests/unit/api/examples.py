"""Objects with every field of a kind set, made from the CRD's schema."""

import re
from typing import Any

TIME = "2026-01-02T03:04:05Z"
CANDIDATES = ("name", "Name", "example.com/v1", "[1-2]", "10Mi")
# Fields whose CEL rule or place excludes what the schema alone would allow.
FIXED: dict[str, Any] = {".partitionType": "LinuxSwap", ".partitions[].layout": None}


def example(node: dict[str, Any], path: str = "", *, unknown: bool = False) -> Any:
    """A value that the schema accepts, with every field set.

    Args:
        unknown: put a field into every struct that no schema knows.
    """
    for suffix, value in FIXED.items():
        if path.endswith(suffix):
            return value
    if "enum" in node:
        return node["enum"][0]
    if node.get("x-kubernetes-preserve-unknown-fields"):
        return {"any": ["value", 1, None]}
    if node.get("x-kubernetes-int-or-string"):
        return text(node) if "pattern" in node else 1
    match node["type"]:
        case "object" if "additionalProperties" in node:
            return {"key": example(node["additionalProperties"], f"{path}{{}}", unknown=unknown)}
        case "object":
            return struct(node, path, unknown=unknown)
        case "array":
            return [example(node["items"], f"{path}[]", unknown=unknown)]
        case "integer":
            return max(node.get("minimum", 0), 1)
        case "boolean":
            return True
        case _:
            return text(node)


def struct(node: dict[str, Any], path: str, *, unknown: bool) -> dict[str, Any]:
    """Every field of a struct that has an example."""
    fields = {
        name: example(child, f"{path}.{name}", unknown=unknown)
        for name, child in node.get("properties", {}).items()
    }
    found = {name: value for name, value in fields.items() if value is not None}
    return found | ({"unknownField": {"nested": [1, ""]}} if unknown else {})


def text(node: dict[str, Any]) -> str:
    """A string of the node's format and pattern."""
    formats = {"date-time": TIME, "byte": "QUJD"}
    if node.get("format"):
        return formats[node["format"]]
    pattern = node.get("pattern", "")
    return next(text for text in CANDIDATES if re.search(pattern, text))


def full_object(crd: dict[str, Any], *, unknown: bool = False) -> dict[str, Any]:
    """An object of the CRD's kind with everything set."""
    spec = crd["spec"]
    (version,) = spec["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    body = example(schema, unknown=unknown)
    metadata: dict[str, Any] = {
        "name": "full",
        "namespace": "default",
        "labels": {"a": "b", "empty": ""},
        "annotations": {"c": "d"},
        "finalizers": ["example.com/hold"],
        "ownerReferences": [
            {"apiVersion": "example.com/v1", "kind": "Owner", "name": "owner", "uid": "1"}
        ],
    }
    if unknown:
        metadata["managedFields"] = [{"manager": "kubectl"}]
    return body | {
        "apiVersion": f"{spec['group']}/{version['name']}",
        "kind": spec["names"]["kind"],
        "metadata": metadata,
    }
