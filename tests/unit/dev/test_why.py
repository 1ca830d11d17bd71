"""The decision tree: each state of a cluster leads to its own first no."""

from typing import Any

import pytest

from capd_py.dev.why import walk
from capi_core.api.meta import JsonObject

_LABELS = {"cluster.x-k8s.io/control-plane": ""}


def thing(kind: str, labels: dict[str, str] | None = None, **conditions: str) -> JsonObject:
    """An object with conditions; a value other than True is the message of a False one."""
    found: list[dict[str, Any]] = [
        {
            "type": name,
            "status": "True" if text == "True" else "False",
            "reason": "R",
            "message": "" if text == "True" else text,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for name, text in conditions.items()
    ]
    return {
        "kind": kind,
        "metadata": {"name": "a", "labels": labels or {}},
        "spec": {"infrastructureRef": {"name": "a"}},
        "status": {"conditions": found},
    }


CLUSTER = {"InfrastructureReady": "True", "ControlPlaneInitialized": "True", "Available": "True"}
MACHINE = {"BootstrapConfigReady": "True", "NodeReady": "True"}
CONTAINER = {"ContainerProvisioned": "True", "BootstrapCompleted": "True"}


@pytest.mark.parametrize(
    ("cluster", "objects", "question", "evidence"),
    [
        (
            {"InfrastructureReady": "x"},
            [thing("DockerCluster", Ready="no engine")],
            "Is the infrastructure ready?",
            "no engine",
        ),
        (
            {**CLUSTER, "ControlPlaneInitialized": "x"},
            [thing("KubeadmControlPlane", Available="template missing")],
            "Are there control plane Machines?",
            "template missing",
        ),
        (
            {**CLUSTER, "ControlPlaneInitialized": "x"},
            [thing("Machine", _LABELS, BootstrapConfigReady="no Secret")],
            "Is there bootstrap data?",
            "no Secret",
        ),
        (
            {**CLUSTER, "ControlPlaneInitialized": "x"},
            [
                thing("Machine", _LABELS, **MACHINE),
                thing("DockerMachine", ContainerProvisioned="no image"),
            ],
            "Do the node containers run?",
            "no image",
        ),
        (
            CLUSTER,
            [
                thing("Machine", **MACHINE),
                thing("DockerMachine", **{**CONTAINER, "BootstrapCompleted": "exit 3"}),
            ],
            "Is the bootstrap complete in them?",
            "exit 3",
        ),
        (
            CLUSTER,
            [
                thing("Machine", **{**MACHINE, "NodeReady": "no network"}),
                thing("DockerMachine", **CONTAINER),
            ],
            "Are all nodes Ready?",
            "no network",
        ),
    ],
    ids=["infrastructure", "machines", "data", "container", "bootstrap", "nodes"],
)
def test_the_first_no_says_why(
    cluster: dict[str, str], objects: list[JsonObject], question: str, evidence: str
) -> None:
    *before, last = walk(thing("Cluster", **cluster), objects)
    assert all(answer.yes for answer in before)
    assert (last.question, last.yes) == (question, False)
    assert any(evidence in line for line in last.evidence)


def test_a_ready_cluster_is_all_yes() -> None:
    objects = [thing("Machine", _LABELS, **MACHINE), thing("DockerMachine", **CONTAINER)]
    answers = walk(thing("Cluster", **CLUSTER), objects)
    assert all(answer.yes for answer in answers)
    assert answers[-1].question == "Is the cluster Available?"
