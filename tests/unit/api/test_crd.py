"""The generator, on models of its own."""

from pathlib import Path
from typing import Annotated, Any

import pytest

from capi_core.api import crd
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import IntOrString, QualifiedName, Quantity, Rule, Schema, Time


class Inner(NonEmpty):
    """A part."""

    name: Annotated[QualifiedName, Schema("Its name.", required=True)] = ""


class Outer(Model):
    """A whole."""

    bounds = Schema(atomic=True, rules=(Rule("has(self.parts)", "needs parts"),))

    parts: Annotated[list[Inner], Schema(keys=("name",), items=(1, 3))] = []
    labels: dict[str, str] = {}
    capacity: dict[str, Quantity] = {}
    limit: IntOrString | None = None
    at: Time | None = None
    words: Annotated[list[str], Schema(atomic=True, each=Schema(length=(1, 5)))] = []
    value: Annotated[Any, Schema(preserve_unknown=True)] = None
    flag: Annotated[bool | None, Schema(default=False)] = None
    optional: Inner | None = None


PROPERTIES = crd.value_schema(Outer, Schema())["properties"]


def test_a_struct_has_its_own_bounds() -> None:
    outer = crd.value_schema(Outer, Schema())
    assert outer["x-kubernetes-map-type"] == "atomic"
    rule = {"rule": "has(self.parts)", "message": "needs parts"}
    assert outer["x-kubernetes-validations"] == [rule]
    assert PROPERTIES["optional"]["minProperties"] == 1


def test_lists() -> None:
    parts = PROPERTIES["parts"]
    assert parts["x-kubernetes-list-type"] == "map"
    assert parts["x-kubernetes-list-map-keys"] == ["name"]
    assert (parts["minItems"], parts["maxItems"]) == (1, 3)
    assert parts["items"]["required"] == ["name"]
    assert PROPERTIES["words"]["items"] == {"type": "string", "minLength": 1, "maxLength": 5}


def test_inner_bounds_join_outer_ones() -> None:
    name = PROPERTIES["optional"]["properties"]["name"]
    assert (name["description"], name["maxLength"]) == ("Its name.", 316)
    assert name["pattern"]


def test_special_types() -> None:
    either = [{"type": "integer"}, {"type": "string"}]
    assert PROPERTIES["limit"] == {"anyOf": either, "x-kubernetes-int-or-string": True}
    assert PROPERTIES["capacity"]["additionalProperties"]["anyOf"] == either
    assert PROPERTIES["at"] == {"type": "string", "format": "date-time"}
    assert PROPERTIES["value"] == {"x-kubernetes-preserve-unknown-fields": True}
    assert PROPERTIES["flag"] == {"type": "boolean", "default": False}


def test_verify_shows_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(crd, "FOLDER", tmp_path)
    assert crd.main([]) == 0
    assert crd.main(["--verify"]) == 0
    path = tmp_path / "cluster.x-k8s.io_machines.yaml"
    path.write_text(path.read_text().replace("maxLength: 63", "maxLength: 64"))
    (tmp_path / "left-over.yaml").write_text("a: b\n")
    assert crd.main(["--verify"]) == 1
    shown = capsys.readouterr().err
    assert (
        "-                        maxLength: 64\n+                        maxLength: 63\n" in shown
    )
    assert "crds/left-over.yaml" in shown
    assert crd.main([]) == 0
    assert not (tmp_path / "left-over.yaml").exists()
