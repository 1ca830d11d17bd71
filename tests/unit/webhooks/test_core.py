"""Admission of Clusters, Machines, MachineSets and MachineDeployments."""

import pytest

from capi_core.api.meta import JsonObject
from capi_core.webhooks import cluster, machine, machinedeployment, machineset
from capi_core.webhooks.rules import MAX_SIZE, MIN_SIZE, SKIP_PREFLIGHT
from tests.unit.webhooks.cases import Case, changed, default, run

INFRASTRUCTURE = {
    "apiGroup": "infrastructure.cluster.x-k8s.io",
    "kind": "DockerCluster",
    "name": "a",
}
CLUSTER: JsonObject = {"metadata": {"name": "a"}, "spec": {"infrastructureRef": INFRASTRUCTURE}}
MACHINE_SPEC: JsonObject = {
    "clusterName": "a",
    "version": "v1.34.4",
    "bootstrap": {"dataSecretName": "data"},
    "infrastructureRef": {**INFRASTRUCTURE, "kind": "DockerMachine"},
}
MACHINE: JsonObject = {"metadata": {"name": "m"}, "spec": MACHINE_SPEC}
LABELS = {"set": "one"}
MACHINE_SET: JsonObject = {
    "metadata": {"name": "ms"},
    "spec": {
        "clusterName": "a",
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": MACHINE_SPEC},
    },
}
DEPLOYMENT: JsonObject = changed(MACHINE_SET, {"metadata.name": "md"})


def cases(*items: Case) -> pytest.MarkDecorator:
    """Parametrize by name."""
    return pytest.mark.parametrize("case", items, ids=lambda case: case.name)


@cases(
    Case("good", {}),
    Case("name", {"metadata.name": "a" * 64}, ("metadata.name",)),
    Case("no reference", {"spec.infrastructureRef": None}, ("spec",)),
    Case("control plane alone", {"spec": {"controlPlaneRef": INFRASTRUCTURE}}),
    Case("topology", {"spec.topology": {"version": "v1.34.4"}}, ("spec.topology",)),
    Case(
        "pods' block",
        {"spec.clusterNetwork.pods.cidrBlocks": ["10.0.0.0/16", "10.0.0.0/99"]},
        ("spec.clusterNetwork.pods.cidrBlocks[1]",),
    ),
    Case(
        "services' block",
        {"spec.clusterNetwork.services.cidrBlocks": ["10.0.0.1"]},
        ("spec.clusterNetwork.services.cidrBlocks[0]",),
    ),
    Case("IPv6 block", {"spec.clusterNetwork.pods.cidrBlocks": ["fd00::/64"]}),
    Case(
        "infrastructure removed",
        {"spec": {"controlPlaneRef": INFRASTRUCTURE}},
        ("spec.infrastructureRef",),
        old={},
    ),
    Case(
        "control plane removed",
        {},
        ("spec.controlPlaneRef",),
        old={"spec.controlPlaneRef": INFRASTRUCTURE},
    ),
    Case("infrastructure changed", {"spec.infrastructureRef.name": "b"}, old={}),
)
def test_cluster(case: Case) -> None:
    assert run(cluster.WEBHOOK, CLUSTER, case) == case.refused


@cases(
    Case("good", {}),
    Case("no bootstrap", {"spec.bootstrap": {}}, ("spec.bootstrap",)),
    Case("by reference", {"spec.bootstrap": {"configRef": INFRASTRUCTURE}}),
    Case(
        "of a pool",
        {
            "spec.bootstrap": {},
            "metadata.ownerReferences": [
                {"apiVersion": "v1", "kind": "MachinePool", "name": "p", "uid": "u"}
            ],
        },
    ),
    Case("another cluster", {"spec.clusterName": "b"}, ("spec.clusterName",), old={}),
    Case("version", {"spec.version": "1.34"}, ("spec.version",)),
    Case(
        "own taint",
        {"spec.taints": [{"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}]},
        ("spec.taints[0].key",),
    ),
    Case(
        "Kubernetes' taints",
        {
            "spec.taints": [
                {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"},
                {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
                {"key": "node.cloudprovider.kubernetes.io/x", "effect": "NoExecute"},
                {"key": "node-role.kubernetes.io/master", "effect": "NoExecute"},
                {"key": "a b", "effect": "NoExecute"},
            ]
        },
        tuple(f"spec.taints[{n}].key" for n in (1, 2, 3, 4)),
    ),
    Case(
        "control plane's taint on a worker",
        {"spec.taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]},
        ("spec.taints[0].key",),
    ),
    Case(
        "control plane's taint",
        {
            "metadata.labels": {"cluster.x-k8s.io/control-plane": ""},
            "spec.taints": [
                {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
            ],
        },
    ),
)
def test_machine(case: Case) -> None:
    assert run(machine.WEBHOOK, MACHINE, case) == case.refused


SHARED = (
    Case("good", {}),
    Case("no bootstrap", {"spec.template.spec.bootstrap": {}}, ("spec.template.spec.bootstrap",)),
    Case(
        "selector of others",
        {"spec.selector.matchLabels": {"set": "two"}},
        ("spec.template.metadata.labels",),
    ),
    Case(
        "operator",
        {"spec.selector.matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]},
        ("spec.selector.matchExpressions[0].operator",),
    ),
    Case(
        "operator without values",
        {"spec.selector.matchExpressions": [{"key": "a", "operator": "In"}]},
        ("spec.selector.matchExpressions[0].values",),
    ),
    Case(
        "expression",
        {"spec.selector": {"matchExpressions": [{"key": "set", "operator": "Exists"}]}},
    ),
    Case(
        "preflight checks",
        {f"metadata.annotations.{SKIP_PREFLIGHT.replace('.', '|')}": "All, Luck"},
        (f"metadata.annotations[{SKIP_PREFLIGHT}]",),
    ),
    Case(
        "another cluster",
        {"spec.clusterName": "b"},
        ("spec.clusterName", "spec.template.spec.clusterName"),
        old={},
    ),
    Case("version", {"spec.template.spec.version": "v1"}, ("spec.template.spec.version",)),
    Case(
        "taint",
        {"spec.template.spec.taints": [{"key": "node.kubernetes.io/x", "effect": "NoSchedule"}]},
        ("spec.template.spec.taints[0].key",),
    ),
    Case("naming", {"spec.machineNaming.template": "{{ .machineSet.name }}-{{ .random }}"}),
    Case(
        "naming without random",
        {"spec.machineNaming.template": "{{ .machineSet.name }}"},
        ("spec.machineNaming.template",),
    ),
    Case(
        "naming with an unknown value",
        {"spec.machineNaming.template": "{{ .nodeName }}-{{ .random }}"},
        ("spec.machineNaming.template",),
    ),
    Case(
        "naming of no name",
        {"spec.machineNaming.template": "A_{{ .random }}"},
        ("spec.machineNaming.template",),
    ),
    Case(
        "label of the template",
        {"spec.template.metadata.labels": {**LABELS, "a b": "c"}},
        ("spec.template.metadata.labels",),
    ),
    Case(
        "annotation of the template",
        {"spec.template.metadata.annotations": {"a b": "c"}},
        ("spec.template.metadata.annotations",),
    ),
)


@cases(*SHARED)
def test_machine_set(case: Case) -> None:
    assert run(machineset.WEBHOOK, MACHINE_SET, case) == case.refused


def rolling(**limits: object) -> dict[str, object]:
    """A rolling update with these limits."""
    return {"spec.rollout.strategy": {"type": "RollingUpdate", "rollingUpdate": limits}}


_ROLLING = "spec.rollout.strategy.rollingUpdate"


@cases(
    *SHARED,
    Case("name", {"metadata.name": "a" * 64}, ("metadata.name",)),
    Case("stuck", rolling(maxSurge=0, maxUnavailable=0), (f"{_ROLLING}.maxUnavailable",)),
    Case("percentages", rolling(maxSurge="20%", maxUnavailable="0%")),
    Case("no percentage", rolling(maxSurge="a lot"), (f"{_ROLLING}.maxSurge",)),
    Case("negative", rolling(maxUnavailable=-1), (f"{_ROLLING}.maxUnavailable",)),
    Case("on delete", {"spec.rollout.strategy": {"type": "OnDelete"}}),
    Case(
        "remediation",
        {"spec.remediation.maxInFlight": "few"},
        ("spec.remediation.maxInFlight",),
    ),
)
def test_machine_deployment(case: Case) -> None:
    assert run(machinedeployment.WEBHOOK, DEPLOYMENT, case) == case.refused


def test_machine_defaults() -> None:
    obj = default(machine.WEBHOOK, changed(MACHINE, {"spec.version": "1.34.4"}))
    assert obj["spec"]["version"] == "v1.34.4"
    assert obj["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "a"}
    assert obj["spec"]["deletion"] == {"nodeDeletionTimeoutSeconds": 10}


def test_machine_set_selects_its_own() -> None:
    bare = changed(MACHINE_SET, {"spec.selector": {}, "spec.template.metadata": None})
    obj = default(machineset.WEBHOOK, bare)
    own = {"cluster.x-k8s.io/set-name": "ms"}
    assert obj["spec"]["selector"]["matchLabels"] == own
    assert obj["spec"]["template"]["metadata"]["labels"] == own
    assert run(machineset.WEBHOOK, obj, Case("defaulted", {})) == ()


def test_machine_deployment_defaults_are_accepted() -> None:
    empty = {"spec.selector": {"matchLabels": {}}, "spec.template.metadata": None}
    bare = changed(DEPLOYMENT, empty)
    obj = default(machinedeployment.WEBHOOK, bare)
    own = {"cluster.x-k8s.io/deployment-name": "md", "cluster.x-k8s.io/cluster-name": "a"}
    assert obj["spec"]["selector"]["matchLabels"] == own
    assert obj["spec"]["template"]["metadata"]["labels"] == own
    assert obj["spec"]["replicas"] == 1
    assert obj["spec"]["rollout"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
    }
    assert run(machinedeployment.WEBHOOK, obj, Case("defaulted", {})) == ()


@pytest.mark.parametrize(
    ("old", "expected"), [(None, 2), ({}, 2), (1, 2), (3, 3), (9, 5)], ids=str
)
def test_replicas_within_the_autoscalers_limits(old: object, expected: int) -> None:
    sized = changed(DEPLOYMENT, {"metadata.annotations": {MIN_SIZE: "2", MAX_SIZE: "5"}})
    before = None
    if old is not None:
        before = changed(sized, {"spec.replicas": old if isinstance(old, int) else None})
    assert default(machinedeployment.WEBHOOK, sized, before)["spec"]["replicas"] == expected
