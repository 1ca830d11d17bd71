"""What is read and written back loses nothing and adds nothing."""

import json
from typing import Any

import pytest

from capi_core.api import KINDS, Cluster, KubeadmConfig, Machine
from capi_core.api.crd import load_crds
from capi_core.api.meta import KubeObject
from tests.unit.api.examples import full_object

CRDS = {crd["spec"]["names"]["kind"]: crd for crd in load_crds()}
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@each_kind
def test_a_full_object_comes_back_unchanged(kind: type[KubeObject]) -> None:
    full = full_object(CRDS[kind.__name__])
    assert kind.parse(full).dump() == full


@each_kind
def test_unknown_fields_survive_at_every_level(kind: type[KubeObject]) -> None:
    full = full_object(CRDS[kind.__name__], unknown=True)
    assert json.dumps(full).count("unknownField") > 1
    obj = kind.parse(full)
    obj.metadata.labels["changed"] = "yes"
    full["metadata"]["labels"]["changed"] = "yes"
    assert obj.dump() == full


@each_kind
def test_every_known_field_has_an_attribute(kind: type[KubeObject]) -> None:
    assert extras(kind.parse(full_object(CRDS[kind.__name__]))) == []


def extras(value: Any) -> list[str]:
    """Names of fields that a model only carries along."""
    if isinstance(value, list):
        return [name for item in value for name in extras(item)]
    if not hasattr(value, "model_extra"):
        return []
    own = [getattr(value, name) for name in type(value).model_fields]
    return list(value.model_extra) + extras(own)


@each_kind
def test_empties_are_omitted(kind: type[KubeObject]) -> None:
    bare = {"apiVersion": kind.resource.api_version, "kind": kind.resource.kind}
    assert kind().dump() == bare
    assert kind.parse({"metadata": {}, "spec": {}}).dump() == bare


@each_kind
def test_partial_objects_are_read(kind: type[KubeObject]) -> None:
    assert kind.parse({"metadata": {"name": "a"}}).dump()["metadata"] == {"name": "a"}


def test_what_breaks_a_bound_is_read_all_the_same() -> None:
    odd = {"spec": {"clusterNetwork": {"apiServerPort": 0, "serviceDomain": ""}}}
    assert Cluster.parse(odd).dump()["spec"] == odd["spec"]


def test_false_and_zero_are_no_empties() -> None:
    spec = {"paused": False, "controlPlaneEndpoint": {"port": 0}}
    status = {"initialization": {"controlPlaneInitialized": False}, "workers": {"replicas": 0}}
    dumped = Cluster.parse({"spec": spec, "status": status}).dump()
    assert (dumped["spec"], dumped["status"]) == (spec, status)


def test_an_argument_without_a_value_keeps_it() -> None:
    args = [{"name": "feature", "value": ""}]
    spec = {"clusterConfiguration": {"apiServer": {"extraArgs": args}}}
    assert KubeadmConfig.parse({"spec": spec}).dump()["spec"] == spec


def test_no_taints_differs_from_unset_taints() -> None:
    spec = {"initConfiguration": {"nodeRegistration": {"taints": []}}}
    assert KubeadmConfig.parse({"spec": spec}).dump()["spec"] == spec


def test_a_struct_whose_presence_has_a_meaning_stays_when_empty() -> None:
    spec: dict[str, Any] = {"joinConfiguration": {"controlPlane": {}}}
    assert KubeadmConfig.parse({"spec": spec}).dump()["spec"] == spec


def test_node_info_has_all_its_strings() -> None:
    info = Machine.parse({"status": {"nodeInfo": {"osImage": "Debian"}}}).dump()
    required = CRDS["Machine"]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    required = required["properties"]["status"]["properties"]["nodeInfo"]["required"]
    assert sorted(info["status"]["nodeInfo"]) == required
