"""Generates the CustomResourceDefinitions in crds/ from the models, and loads them.

``python -m capi_core.api.crd`` writes the folder; with ``--verify`` it fails with a diff where
the folder differs from the models.
"""

import difflib
import sys
import types
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import yaml

from capi_core.api import KINDS
from capi_core.api.meta import JsonObject, KubeObject, Model
from capi_core.api.schema import Column, IntOrString, Schema

CONTRACT_LABELS = {"cluster.x-k8s.io/v1beta2": "v1beta2"}
PROVIDER_LABEL = "cluster.x-k8s.io/provider"
PREFIX = "x-kubernetes-"
SCALARS: dict[Any, JsonObject] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "format": "int32"},
}
FOLDER = Path(__file__).resolve().parents[3] / "crds"


def first_line(model: type) -> str:
    """The summary of a class's own docstring."""
    return (model.__doc__ or "").strip().split("\n")[0].replace("``", "")


def unwrap(annotation: Any, schema: Schema) -> tuple[Any, Schema]:
    """The bare type behind Annotated and ``| None``, and all its bounds, outer before inner."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *metadata = get_args(annotation)
            for item in reversed(metadata):
                schema = schema.over(item) if isinstance(item, Schema) else schema
        elif get_origin(annotation) in (Union, types.UnionType):
            members = [arg for arg in get_args(annotation) if arg is not type(None)]
            if len(members) > 1:
                return IntOrString, schema  # the only union in the API
            annotation = members[0]
        else:
            return annotation, schema


def value_schema(annotation: Any, schema: Schema) -> JsonObject:
    """The OpenAPI schema of one value."""
    bare, schema = unwrap(annotation, schema)
    each = schema.each or Schema()
    out: JsonObject
    if bare is Any:
        out = {}
    elif bare == IntOrString:
        out = {"anyOf": [{"type": "integer"}, {"type": "string"}], f"{PREFIX}int-or-string": True}
    elif get_origin(bare) is Literal:
        out = {"type": "string", "enum": list(get_args(bare))}
    elif get_origin(bare) is list:
        out = {"type": "array", "items": value_schema(get_args(bare)[0], each)}
    elif get_origin(bare) is dict:
        out = {"type": "object", "additionalProperties": value_schema(get_args(bare)[1], each)}
    elif isinstance(bare, type) and issubclass(bare, Model):
        schema = schema.over(bare.bounds)
        out = struct_schema(bare)
    else:
        out = dict(SCALARS[bare])
    return {**out, **keywords(schema, is_list=out.get("type") == "array")}


def keywords(schema: Schema, *, is_list: bool) -> JsonObject:
    """The OpenAPI keywords of the bounds."""
    found: dict[str, Any] = {
        "description": schema.doc,
        "format": schema.format,
        "enum": list(schema.enum),
        "pattern": schema.pattern,
        f"{PREFIX}preserve-unknown-fields": schema.preserve_unknown,
        f"{PREFIX}validations": [{"rule": r.rule, "message": r.message} for r in schema.rules],
    }
    if schema.atomic:
        found[f"{PREFIX}list-type" if is_list else f"{PREFIX}map-type"] = "atomic"
    if schema.keys:
        found |= {f"{PREFIX}list-type": "map", f"{PREFIX}list-map-keys": list(schema.keys)}
    found = {key: value for key, value in found.items() if value}
    pairs = {
        ("minimum", "maximum"): schema.between,
        ("minLength", "maxLength"): schema.length,
        ("minItems", "maxItems"): schema.items,
        ("minProperties", "maxProperties"): schema.properties,
    }
    for names, bounds in pairs.items():
        found |= {
            name: bound for name, bound in zip(names, bounds, strict=True) if bound is not None
        }
    if schema.default is not None:
        found["default"] = schema.default
    return found


def struct_schema(model: type[Model]) -> JsonObject:
    """The OpenAPI schema of a struct, its own bounds excluded."""
    properties: JsonObject = {}
    required: list[str] = []
    for name, info in model.model_fields.items():
        schema = Schema()
        for item in info.metadata:
            schema = item.over(schema) if isinstance(item, Schema) else schema
        _, merged = unwrap(info.annotation, schema)
        wire = info.alias or name
        if merged.required or info.is_required():
            required.append(wire)
        properties[wire] = value_schema(info.annotation, schema)
    out: JsonObject = {"type": "object", "description": first_line(model), "properties": properties}
    return out | ({"required": sorted(required)} if required else {})


def column(col: Column) -> JsonObject:
    """A printer column."""
    out: JsonObject = {"name": col.name, "type": col.type, "jsonPath": col.path}
    return out | ({"priority": col.priority} if col.priority else {})


def root_schema(kind: type[KubeObject]) -> JsonObject:
    """The schema of the kind; the API server knows the type and object metadata itself."""
    out = struct_schema(kind)
    out["properties"]["metadata"] = {"type": "object"}
    return out


def definition(kind: type[KubeObject]) -> JsonObject:
    """The CustomResourceDefinition of a kind."""
    resource, extra = kind.resource, kind.definition
    subresources: JsonObject = {"status": {}} if "status" in kind.model_fields else {}
    if extra.scale:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
        } | ({"labelSelectorPath": ".status.selector"} if extra.scale_selector else {})
    names: JsonObject = {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": resource.kind.lower(),
        "categories": ["cluster-api"],
    } | ({"shortNames": list(extra.short_names)} if extra.short_names else {})
    version: JsonObject = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [column(col) for col in extra.columns],
        "schema": {"openAPIV3Schema": root_schema(kind)},
    } | ({"subresources": subresources} if subresources else {})
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{resource.plural}.{resource.group}",
            "labels": {PROVIDER_LABEL: extra.provider, **CONTRACT_LABELS},
        },
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [version],
        },
    }


class _Dumper(yaml.SafeDumper):
    """YAML without anchors, so that each schema reads on its own."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def generate() -> dict[str, str]:
    """File name to content of everything that belongs in crds/."""
    out: dict[str, str] = {}
    for kind in KINDS:
        name = f"{kind.resource.group}_{kind.resource.plural}.yaml"
        out[name] = yaml.dump(definition(kind), Dumper=_Dumper, sort_keys=False, width=100)
    return out


def load_crds() -> list[JsonObject]:
    """The committed CRDs: the clone's crds/ folder, or the copy inside the installed package."""
    folder = FOLDER if FOLDER.is_dir() else files("capi_core") / "_crds"
    found = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".yaml")),
        key=lambda entry: entry.name,
    )
    # libyaml's parser is ten times faster, and part of PyYAML's wheels.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    texts = (entry.read_text(encoding="utf-8") for entry in found)
    return [cast(JsonObject, yaml.load(text, Loader=loader)) for text in texts]


def differences(folder: Path) -> str:
    """A unified diff from the folder's content to what the models generate; empty when equal."""
    wanted = generate()
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.yaml")}
    lines: list[str] = []
    for name in sorted(wanted.keys() | present.keys()):
        before = present.get(name, "").splitlines(keepends=True)
        after = wanted.get(name, "").splitlines(keepends=True)
        lines += difflib.unified_diff(before, after, f"crds/{name}", f"models/{name}")
    return "".join(lines)


def write(folder: Path) -> None:
    """Make the folder hold exactly what the models generate."""
    wanted = generate()
    for path in folder.glob("*.yaml"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    if arguments == ["--verify"]:
        if diff := differences(FOLDER):
            sys.stderr.write(f"{diff}crds/ is stale: run python -m capi_core.api.crd\n")
            return 1
        return 0
    if arguments:
        sys.stderr.write("usage: python -m capi_core.api.crd [--verify]\n")
        return 2
    write(FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
