"""Every path and every column of the fact tables, in both directions."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from capi_core.api import KINDS
from capi_core.api.crd import FOLDER, differences, load_crds
from tests.conformance.flatten import (
    COLUMNS,
    TABLES,
    field_rows,
    kind_row,
    nodes,
    read_table,
    schema,
)
from tests.conformance.intended_differences import INTENDED, Intended

CRDS = {crd["spec"]["names"]["kind"]: crd for crd in load_crds()}
NAMES = sorted(kind.resource.kind for kind in KINDS)
Difference = tuple[str, str, str, str]


def compare_fields(crd: dict[str, Any]) -> list[Difference]:
    """(kind, path, column, what) wherever the schema and its table disagree."""
    kind = crd["spec"]["names"]["kind"]
    wanted = {row["path"]: row for row in read_table(f"fields/{kind}.tsv")}
    found = field_rows(crd)
    out = [(kind, path, "path", "missing in the CRD") for path in wanted.keys() - found.keys()]
    out += [(kind, path, "path", "not in the table") for path in found.keys() - wanted.keys()]
    for path in wanted.keys() & found.keys():
        for column in COLUMNS:
            before, after = wanted[path][column], found[path][column]
            if before != after:
                out.append((kind, path, column, f"table {before!r}, CRD {after!r}"))
    return sorted(out)


def compare_kind(crd: dict[str, Any]) -> list[Difference]:
    """The same for the kind's row of kinds.tsv."""
    found = kind_row(crd)
    (wanted,) = (row for row in read_table("kinds.tsv") if row["kind"] == found["kind"])
    return [
        (found["kind"], "kinds.tsv", column, f"table {value!r}, CRD {found[column]!r}")
        for column, value in wanted.items()
        if value != found[column]
    ]


def covers(intended: Intended, difference: Difference) -> bool:
    """Whether the difference is one that is meant."""
    pairs = zip(intended[:3], difference[:3], strict=True)
    return all(pattern in ("*", value) for pattern, value in pairs)


def unintended(found: list[Difference]) -> list[str]:
    """The differences that nobody has justified, one line each."""
    return [
        " ".join(difference)
        for difference in found
        if not any(covers(intended, difference) for intended in INTENDED)
    ]


def test_every_kind_has_tables_and_a_crd() -> None:
    assert sorted(CRDS) == NAMES
    assert sorted(row["kind"] for row in read_table("kinds.tsv")) == NAMES
    assert sorted(path.stem for path in (TABLES / "fields").glob("*.tsv")) == NAMES


def test_the_folder_is_what_the_models_generate() -> None:
    assert differences(FOLDER) == ""


@pytest.mark.parametrize("kind", NAMES)
def test_fields(kind: str) -> None:
    assert unintended(compare_fields(CRDS[kind])) == []


@pytest.mark.parametrize("kind", NAMES)
def test_kind(kind: str) -> None:
    assert unintended(compare_kind(CRDS[kind])) == []


@pytest.mark.parametrize("kind", NAMES)
def test_labels(kind: str) -> None:
    labels = CRDS[kind]["metadata"]["labels"]
    assert labels["cluster.x-k8s.io/v1beta2"] == "v1beta2"


@pytest.mark.parametrize("kind", NAMES)
def test_rules_stand_where_the_table_says(kind: str) -> None:
    wanted = [row["path"] for row in read_table("cel_rules.tsv") if row["kind"] == kind]
    rules = {
        path: node["x-kubernetes-validations"]
        for path, node, _ in nodes(schema(CRDS[kind]))
        if "x-kubernetes-validations" in node
    }
    assert sorted(rules) == sorted(wanted)
    assert all(rule["rule"] and rule["message"] for found in rules.values() for rule in found)


def test_every_intended_difference_still_exists() -> None:
    found = [d for crd in CRDS.values() for d in compare_fields(crd) + compare_kind(crd)]
    assert [i for i in INTENDED if not any(covers(i, d) for d in found)] == []


def _spec(crd: dict[str, Any]) -> dict[str, Any]:
    return schema(crd)["properties"]["spec"]


MUTATIONS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "a field less": (
        ".spec.paused path",
        lambda crd: _spec(crd)["properties"].pop("paused"),
    ),
    "a field more": (
        ".spec.extra path",
        lambda crd: _spec(crd)["properties"].update(extra={"type": "string"}),
    ),
    "not required": (
        ".spec.clusterName required",
        lambda crd: _spec(crd)["required"].remove("clusterName"),
    ),
    "another bound": (
        ".spec.clusterName maxLength",
        lambda crd: _spec(crd)["properties"]["clusterName"].update(maxLength=64),
    ),
    "another default": (
        ".spec.replicas default",
        lambda crd: _spec(crd)["properties"]["replicas"].update(default=1),
    ),
    "another list type": (
        ".status.conditions listType",
        lambda crd: schema(crd)["properties"]["status"]["properties"]["conditions"].update(
            {"x-kubernetes-list-type": "atomic"}
        ),
    ),
    "a column less": (
        "kinds.tsv printerColumns",
        lambda crd: crd["spec"]["versions"][0]["additionalPrinterColumns"].pop(),
    ),
    "no scale": (
        "kinds.tsv subresources",
        lambda crd: crd["spec"]["versions"][0]["subresources"].pop("scale"),
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_comparison_sees(name: str) -> None:
    expected, mutate = MUTATIONS[name]
    crd = copy.deepcopy(CRDS["MachineDeployment"])
    mutate(crd)
    found = unintended(compare_fields(crd) + compare_kind(crd))
    assert any(expected in line for line in found), found
