"""Which Machines a MachineSet has, gives up first, and may not make yet."""

from typing import Any

import pytest

from capi_core.api.machine import Machine
from capi_core.api.machineset import MachineSet
from capi_core.api.shared import LabelSelector
from capi_core.contract.external import External
from capi_core.contract.selectors import matches
from capi_core.reconcilers.machineset.preflight import preflight_problems
from capi_core.reconcilers.machineset.selection import machines_to_delete, selector_text


def selector(*rules: tuple[str, str, list[str]], **labels: str) -> LabelSelector:
    """A label selector."""
    expressions = [{"key": k, "operator": o, "values": v} for k, o, v in rules]
    return LabelSelector.model_validate({"matchLabels": labels, "matchExpressions": expressions})


@pytest.mark.parametrize(
    ("chosen", "labels", "expected"),
    [
        (selector(), {"a": "1"}, False),
        (selector(a="1"), {"a": "1", "b": "2"}, True),
        (selector(a="1"), {"a": "2"}, False),
        (selector(("a", "In", ["1", "2"])), {"a": "2"}, True),
        (selector(("a", "In", ["1"])), {}, False),
        (selector(("a", "NotIn", ["1"])), {}, True),
        (selector(("a", "Exists", [])), {"a": ""}, True),
        (selector(("a", "DoesNotExist", []), b="1"), {"b": "1"}, True),
        (selector(("a", "Near", []), b="1"), {"b": "1"}, False),
    ],
)
def test_selectors(chosen: LabelSelector, labels: dict[str, str], expected: bool) -> None:
    assert matches(chosen, labels) is expected


def test_selectors_as_text() -> None:
    chosen = selector(("c", "NotIn", ["y", "x"]), ("d", "Exists", []), b="2", a="1")
    assert selector_text(chosen) == "a=1,b=2,c notin (x,y),d"


def machine(name: str, *, created: str = "2026-01-01T00:00:00Z", node: bool = True,
            **meta: Any) -> Machine:
    """A healthy Machine unless told otherwise."""
    status = {"nodeRef": {"name": name}} if node else {}
    return Machine.parse(
        {"metadata": {"name": name, "creationTimestamp": created, **meta}, "status": status}
    )


def test_who_goes_first() -> None:
    marked = {"cluster.x-k8s.io/delete-machine": ""}
    all_kinds = [
        machine("fine"), machine("marked", annotations=marked), machine("no-node", node=False),
        machine("going", deletionTimestamp="2026-01-02T00:00:00Z"),
    ]
    order = [m.name for m in machines_to_delete(all_kinds, 4, "Random")]
    assert order == ["going", "marked", "no-node", "fine"]
    old, new = machine("old"), machine("new", created="2026-11-30T00:00:00Z")
    assert [m.name for m in machines_to_delete([new, old], 1, "Oldest")] == ["old"]
    assert [m.name for m in machines_to_delete([old, new], 1, "Newest")] == ["new"]


def preflight(mine: str, spec: str, current: str = "", skip: str = "") -> list[str]:
    """The names of the checks that fail."""
    template = {"spec": {"version": mine, "bootstrap": {"configRef": {
        "apiGroup": "g", "kind": "KubeadmConfigTemplate", "name": "b"}}}}
    annotations = {"machineset.cluster.x-k8s.io/skip-preflight-checks": skip} if skip else {}
    machine_set = MachineSet.parse(
        {"metadata": {"annotations": annotations}, "spec": {"template": template}}
    )
    status = {"versions": [{"version": current}]} if current else {}
    control_plane = External(
        {"kind": "KubeadmControlPlane", "metadata": {"name": "cp"}, "spec": {"version": spec},
         "status": status},
        "v1beta2",
    )
    problems = preflight_problems(machine_set, control_plane)
    return [problem.split('"')[1] for problem in problems]


@pytest.mark.parametrize(
    ("arguments", "failing"),
    [
        (("v1.34.1", "v1.34.4", "v1.34.4"), []),
        (("v1.34.4", "v1.34.4"), ["ControlPlaneIsStable"]),
        (("v1.34.4", "v1.34.4", "v1.34.3"), ["ControlPlaneIsStable"]),
        (("v1.35.0", "v1.34.4", "v1.34.4"), ["KubernetesVersionSkew", "KubeadmVersionSkew"]),
        (("v1.31.0", "v1.34.4", "v1.34.4"), ["KubeadmVersionSkew"]),
        (("v1.30.0", "v1.34.4", "v1.34.4"), ["KubernetesVersionSkew", "KubeadmVersionSkew"]),
        (("v1.30.0", "v1.34.4", "v1.34.4", "KubernetesVersionSkew, KubeadmVersionSkew"), []),
        (("v1.30.0", "v1.34.4", "", "All"), []),
        (("nonsense", "v1.34.4", "v1.34.4"), []),
    ],
)
def test_preflight_checks(arguments: tuple[str, ...], failing: list[str]) -> None:
    assert preflight(*arguments) == failing


def test_without_a_control_plane_there_is_nothing_to_check() -> None:
    assert preflight_problems(MachineSet(), None) == []
