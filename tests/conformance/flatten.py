"""A CRD as rows of the fact tables: one for the kind and one for each path of its schema."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, str]
TABLES = Path(__file__).parent / "tables"
COLUMNS = [
    "type",
    "format",
    "required",
    "default",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "listType",
    "listMapKeys",
    "flags",
    "xvalidations",
]
NUMBERS = COLUMNS[COLUMNS.index("minimum") : COLUMNS.index("listType")]
PRINTER_COLUMNS = "printerColumns(name|type|jsonPath|priority)"
COMPONENTS = {
    "cluster-api": "core",
    "bootstrap-kubeadm": "bootstrap/kubeadm",
    "control-plane-kubeadm": "controlplane/kubeadm",
    "infrastructure-docker": "test/infrastructure/docker",
}


def read_table(name: str) -> list[Row]:
    """The rows of a table, its comment line left out."""
    with (TABLES / name).open(encoding="utf-8") as lines:
        kept = (line for line in lines if not line.startswith("#"))
        return list(csv.DictReader(kept, delimiter="\t", quoting=csv.QUOTE_NONE))


def field_row(node: dict[str, Any], required: bool) -> Row:
    """The columns of one schema node."""
    flags = {
        "preserveUnknown": node.get("x-kubernetes-preserve-unknown-fields", False),
        f"mapType={node.get('x-kubernetes-map-type')}": "x-kubernetes-map-type" in node,
        "nullable": node.get("nullable", False),
        "embeddedResource": node.get("x-kubernetes-embedded-resource", False),
    }
    int_or_string = node.get("x-kubernetes-int-or-string")
    rules = node.get("x-kubernetes-validations", [])
    return {
        "type": "int-or-string" if int_or_string else node.get("type", ""),
        "format": node.get("format", ""),
        "required": "yes" if required else "no",
        "default": json.dumps(node["default"]) if "default" in node else "",
        "enum": "|".join(node.get("enum", [])),
        "pattern": node.get("pattern", ""),
        **{name: str(node.get(name, "")) for name in NUMBERS},
        "listType": node.get("x-kubernetes-list-type", ""),
        "listMapKeys": ",".join(node.get("x-kubernetes-list-map-keys", [])),
        "flags": ",".join(name for name, is_set in flags.items() if is_set),
        "xvalidations": str(len(rules)) if rules else "",
    }


def nodes(node: dict[str, Any], path: str = "", required: bool = False) -> Iterator[Any]:
    """Every (path, node, required) from here on; ``[]`` is an item, ``{}`` a map's value."""
    yield path or ".", node, required
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}", name in node.get("required", []))
    if "items" in node:
        yield from nodes(node["items"], f"{path}[]")
    if "additionalProperties" in node:
        yield from nodes(node["additionalProperties"], f"{path}{{}}")


def schema(crd: dict[str, Any]) -> dict[str, Any]:
    """The schema of the CRD's only version."""
    (version,) = crd["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]


def field_rows(crd: dict[str, Any]) -> dict[str, Row]:
    """Path to columns for the whole schema."""
    return {path: field_row(node, required) for path, node, required in nodes(schema(crd))}


def kind_row(crd: dict[str, Any]) -> Row:
    """The columns of kinds.tsv."""
    spec = crd["spec"]
    names, (version,) = spec["names"], spec["versions"]
    marks = {"served": version["served"], "storage": version["storage"]}
    marks["deprecated"] = version.get("deprecated", False)
    printed = (
        f"{column['name']}|{column['type']}|{column['jsonPath']}|{column.get('priority', 0)}"
        for column in version.get("additionalPrinterColumns", [])
    )
    return {
        "component": COMPONENTS[crd["metadata"]["labels"]["cluster.x-k8s.io/provider"]],
        "group": spec["group"],
        "kind": names["kind"],
        "plural": names["plural"],
        "singular": names["singular"],
        "listKind": names["listKind"],
        "shortNames": ",".join(names.get("shortNames", [])),
        "categories": ",".join(names.get("categories", [])),
        "scope": spec["scope"],
        "versions": f"{version['name']}[{','.join(name for name in marks if marks[name])}]",
        "subresources": ";".join(subresources(version.get("subresources", {}))),
        "selectableFields": ",".join(
            field["jsonPath"] for field in version.get("selectableFields", [])
        ),
        PRINTER_COLUMNS: " ; ".join(printed),
        "schemaNodes": str(len(list(nodes(schema(crd))))),
    }


def subresources(declared: dict[str, Any]) -> Iterator[str]:
    """The subresources in the table's notation."""
    if "status" in declared:
        yield "status"
    if scale := declared.get("scale"):
        yield (
            f"scale(spec={scale['specReplicasPath']},status={scale['statusReplicasPath']},"
            f"selector={scale.get('labelSelectorPath', '')})"
        )
