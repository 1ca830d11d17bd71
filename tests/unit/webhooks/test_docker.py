"""Admission of DockerClusters, DockerMachines and their templates."""

import pytest

from capd_py.webhooks import WEBHOOKS
from capi_core.api.meta import JsonObject
from tests.unit.webhooks.cases import Case, default, run

CLUSTER, CLUSTER_TEMPLATE, MACHINE, MACHINE_TEMPLATE = WEBHOOKS
GOOD: JsonObject = {"metadata": {"name": "d"}, "spec": {}}
TEMPLATE: JsonObject = {"metadata": {"name": "d"}, "spec": {"template": {"spec": {}}}}
SORTED = [{"name": "fd1"}, {"name": "fd2"}]
UNSORTED = list(reversed(SORTED))
_LABELS = {"spec.template.metadata": {"labels": {"a b": "c"}}}


def of(*cases: Case) -> pytest.MarkDecorator:
    """Parametrize by name."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@of(
    Case("good", {}),
    Case("sorted", {"spec.failureDomains": SORTED}),
    Case("unsorted", {"spec.failureDomains": UNSORTED}, ("spec.failureDomains",)),
)
def test_cluster(case: Case) -> None:
    assert run(CLUSTER, GOOD, case) == case.refused


@of(
    Case("good", {}),
    Case(
        "unsorted",
        {"spec.template.spec.failureDomains": UNSORTED},
        ("spec.template.spec.failureDomains",),
    ),
    Case("label", _LABELS, ("spec.template.metadata.labels",)),
    Case(
        "changed",
        {"spec.template.spec.failureDomains": SORTED},
        ("spec.template.spec",),
        old={},
    ),
)
def test_cluster_template(case: Case) -> None:
    assert run(CLUSTER_TEMPLATE, TEMPLATE, case) == case.refused


@of(
    Case("good", {}),
    Case("another image", {"spec.customImage": "b"}, ("spec.customImage",), old={}),
    Case("more mounts", {"spec.extraMounts": [{"hostPath": "/a"}]}, old={}),
    Case("timeout", {"spec.bootstrapTimeout": "5m30s"}),
    Case("no duration", {"spec.bootstrapTimeout": "soon"}, ("spec.bootstrapTimeout",)),
)
def test_machine(case: Case) -> None:
    assert run(MACHINE, GOOD, case) == case.refused


@of(
    Case("good", {}),
    Case("label", _LABELS, ("spec.template.metadata.labels",)),
    Case(
        "changed", {"spec.template.spec.customImage": "b"}, ("spec.template.spec",), old={}
    ),
    Case(
        "no duration",
        {"spec.template.spec.bootstrapTimeout": "5 minutes"},
        ("spec.template.spec.bootstrapTimeout",),
    ),
)
def test_machine_template(case: Case) -> None:
    assert run(MACHINE_TEMPLATE, TEMPLATE, case) == case.refused


def test_cluster_defaults() -> None:
    obj = {"metadata": {"name": "d"}, "spec": {"failureDomains": SORTED}}
    spec = default(CLUSTER, obj)["spec"]
    assert spec["controlPlaneEndpoint"] == {"port": 6443}
    assert [domain["controlPlane"] for domain in spec["failureDomains"]] == [False, False]
