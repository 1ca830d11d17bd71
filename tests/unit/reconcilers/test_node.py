"""What a Machine and its container say about their Node; what others say stays."""

import pytest

from capd_py.container.runtime import Container
from capd_py.reconcilers.dockermachine.node import ForeignNode
from capd_py.reconcilers.dockermachine.node import desired_node as announced
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.reconcilers.machine.node import desired_node, desired_taints, synced_label
from capi_core.reconcilers.machine.scope import MachineScope

TRACKED = "cluster.x-k8s.io/taints-from-machine"
CONTAINER = Container("1", "quick-w", "node", {}, running=True, addresses=("10.0.0.2", "fd00::2"))


def node(taints: list[JsonObject] | None = None, **annotations: str) -> JsonObject:
    """A Node."""
    meta: JsonObject = {"name": "quick-w", "labels": {"theirs": "1"}}
    if annotations:
        meta["annotations"] = {k.replace("__", TRACKED): v for k, v in annotations.items()}
    return {"metadata": meta, "spec": {"taints": taints} if taints else {}}


def machine(*taints: tuple[str, str], **labels: str) -> Machine:
    """A Machine with taints of a propagation."""
    spec = {"clusterName": "quick", "taints": [
        {"key": key, "effect": "NoSchedule", "propagation": propagation}
        for key, propagation in taints
    ]}
    meta = {"name": "w", "namespace": "ns", "labels": labels}
    return Machine.parse({"metadata": meta, "spec": spec})


def taint(key: str) -> JsonObject:
    """A taint as a Node has it."""
    return {"key": key, "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("node-role.kubernetes.io/x", True), ("node.cluster.x-k8s.io/x", True),
        ("a.node.cluster.x-k8s.io/x", True), ("x.node-restriction.kubernetes.io/y", True),
        ("plain", False), ("example.com/x", False), ("anode.cluster.x-k8s.io/x", False),
        ("a.node-role.kubernetes.io/x", False),
    ],
)
def test_which_labels_go_to_the_node(key: str, expected: bool) -> None:
    assert synced_label(key) is expected


def test_taints_are_set_at_first_and_some_only_then() -> None:
    wanted = machine(("always", "Always"), ("once", "OnInitialization"))
    start = taint("node.cluster.x-k8s.io/uninitialized")
    assert desired_taints(node([taint("theirs"), start]), wanted) == (
        [taint("theirs"), taint("always"), taint("once")], "always:NoSchedule"
    )
    later = node([taint("theirs"), start], __="always:NoSchedule")
    assert desired_taints(later, wanted) == (
        [taint("theirs"), start, taint("always")], "always:NoSchedule"
    )


def test_taints_that_the_machine_gave_up_go_and_only_they() -> None:
    before = node([taint("theirs"), taint("always"), taint("once")], __="always:NoSchedule")
    assert desired_taints(before, machine()) == ([taint("theirs"), taint("once")], "")


def test_labels_that_were_synced_go_with_their_cause() -> None:
    role = {"node-role.kubernetes.io/x": ""}
    first = desired_node(node(), MachineScope(machine(**role), None, {}))
    assert first["metadata"]["labels"] == {"theirs": "1", **role}
    assert desired_node(first, MachineScope(machine(**role), None, {})) == first
    second = desired_node(first, MachineScope(machine(), None, {}))
    assert second["metadata"]["labels"] == {"theirs": "1"}


def test_the_container_tells_provider_id_and_addresses() -> None:
    taints = [taint("node.cloudprovider.kubernetes.io/uninitialized"), taint("theirs")]
    found = announced(node(taints), CONTAINER)
    assert found["spec"] == {"providerID": "docker:////quick-w", "taints": [taint("theirs")]}
    assert found["status"]["addresses"] == [
        {"type": "InternalIP", "address": "10.0.0.2"}, {"type": "InternalIP", "address": "fd00::2"}
    ]
    assert announced(found, CONTAINER) == found


def test_a_node_of_something_else_is_left_alone() -> None:
    other = node()
    other["spec"]["providerID"] = "aws:///i-1"
    with pytest.raises(ForeignNode, match="aws:///i-1"):
        announced(other, CONTAINER)
