"""Objects from templates, and their names."""

import pytest

from capi_core.api.cluster import Cluster
from capi_core.api.meta import JsonObject, ObjectMeta
from capi_core.contract.templates import clone_template, generate_name, render_name


def template(**inner: object) -> JsonObject:
    """A template of some provider's."""
    return {
        "apiVersion": "x.example/v1", "kind": "ThingTemplate",
        "metadata": {"name": "t", "namespace": "ns"}, "spec": {"template": inner},
    }


def test_a_clone_is_labelled_annotated_and_owned() -> None:
    owner = Cluster(metadata=ObjectMeta(name="c", uid="u"))
    source = template(metadata={"labels": {"l": "1", "m": "1"}, "annotations": {"a": "1"}},
                      spec={"unknown": {"deep": 1}})
    clone = clone_template(source, name="n", cluster="c", owner=owner, controller=True,
                           labels={"m": "2"}, annotations={"b": "2"})
    assert (clone["kind"], clone["apiVersion"]) == ("Thing", "x.example/v1")
    assert clone["spec"] == {"unknown": {"deep": 1}}
    meta = clone["metadata"]
    assert meta["labels"] == {"l": "1", "m": "2", "cluster.x-k8s.io/cluster-name": "c"}
    assert meta["annotations"] == {
        "a": "1", "b": "2", "cluster.x-k8s.io/cloned-from-name": "t",
        "cluster.x-k8s.io/cloned-from-groupkind": "ThingTemplate.x.example",
    }
    assert (meta["ownerReferences"][0]["uid"], meta["ownerReferences"][0]["controller"]) == (
        "u", True
    )


@pytest.mark.parametrize(
    ("inner", "spec"), [({}, None), ({"spec": {}}, {}), ({"metadata": {}}, None)]
)
def test_a_template_without_a_spec_makes_an_object_without_one(
    inner: JsonObject, spec: JsonObject | None
) -> None:
    assert clone_template(template(**inner), name="n", cluster="c", owner=None).get("spec") == spec


def test_names_fit_and_differ() -> None:
    assert len(generate_name("x" * 80)) == 63
    assert generate_name("x-") != generate_name("x-")
    name = render_name("{{ .machineSet.name }}-w-{{.random}}", {"machineSet.name": "set"})
    assert name.startswith("set-w-")
    assert len(name) == len("set-w-") + 5
    assert len(render_name("{{ .a }}-{{ .random }}", {"a": "y" * 70})) == 63
