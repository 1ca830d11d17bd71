"""Why a cluster is not ready: the decision tree of docs/debugging.md, walked."""

from collections.abc import Sequence
from dataclasses import dataclass

from capd_py.dev.kubectl import Kubectl
from capd_py.engine import EngineError
from capd_py.engine.process import CommandError
from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.meta import JsonObject
from capi_core.conditions import read_conditions

_KINDS = "machines,kubeadmcontrolplanes,kubeadmconfigs,dockerclusters,dockermachines"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the tree with its answer.

    Attributes:
        evidence: conditions that say why not.
        look: the command to go on with.
    """

    question: str
    yes: bool
    evidence: Sequence[str] = ()
    look: str = ""


def ask(kubectl: Kubectl, namespace: str, cluster: str) -> list[Answer]:
    """The tree's answers for a cluster, down to the first no.

    Raises:
        EngineError: there is no such cluster.
    """
    try:
        root = kubectl.get("cluster", cluster, "-n", namespace)
    except CommandError as error:
        cure = f"kubectl --kubeconfig {kubectl.kubeconfig} get clusters -A"
        raise EngineError(f"there is no cluster {namespace}/{cluster}", cure) from error
    label = f"cluster.x-k8s.io/cluster-name={cluster}"
    return walk(root, kubectl.get(_KINDS, "-n", namespace, "-l", label)["items"])


def walk(cluster: JsonObject, objects: Sequence[JsonObject]) -> list[Answer]:
    """The answers down to the first no. Pure."""
    answers: list[Answer] = []
    for answer in _questions(cluster, objects):
        answers.append(answer)
        if not answer.yes:
            break
    return answers


def _questions(cluster: JsonObject, objects: Sequence[JsonObject]) -> list[Answer]:
    machines = _of(objects, "Machine")
    control = [m for m in machines if CONTROL_PLANE_LABEL in (m["metadata"].get("labels") or {})]
    questions = [
        _answer(
            "Is the infrastructure ready?",
            [cluster],
            "InfrastructureReady",
            _of(objects, "DockerCluster"),
            "kubectl logs -n capd-system deployment/capd-controller-manager",
        )
    ]
    if not _is(cluster, "ControlPlaneInitialized"):
        questions += [
            Answer(
                "Are there control plane Machines?",
                bool(control),
                _evidence(_of(objects, "KubeadmControlPlane")),
                "kubectl logs -n capi-kubeadm-control-plane-system "
                "deployment/capi-kubeadm-control-plane-controller-manager",
            ),
            *_machine_questions(control, objects),
            _answer("Is the control plane initialized?", [cluster], "ControlPlaneInitialized"),
        ]
    return [
        *questions,
        *_machine_questions(machines, objects),
        _answer("Are all nodes Ready?", machines, "NodeReady", look="kubectl describe nodes"),
        _answer("Is the cluster Available?", [cluster], "Available"),
    ]


def _machine_questions(
    machines: Sequence[JsonObject], objects: Sequence[JsonObject]
) -> list[Answer]:
    names = [(m["spec"].get("infrastructureRef") or {}).get("name") for m in machines]
    containers = [o for o in _of(objects, "DockerMachine") if o["metadata"]["name"] in names]
    return [
        _answer(
            "Is there bootstrap data?",
            machines,
            "BootstrapConfigReady",
            _of(objects, "KubeadmConfig"),
            "kubectl logs -n capi-kubeadm-bootstrap-system "
            "deployment/capi-kubeadm-bootstrap-controller-manager",
        ),
        _answer("Do the node containers run?", containers, "ContainerProvisioned"),
        _answer(
            "Is the bootstrap complete in them?",
            containers,
            "BootstrapCompleted",
            look="docker exec NODE cat /var/lib/capd/bootstrap/stderr",
        ),
    ]


def _answer(
    question: str,
    objects: Sequence[JsonObject],
    condition: str,
    culprits: Sequence[JsonObject] = (),
    look: str = "",
) -> Answer:
    failing = [obj for obj in objects if not _is(obj, condition)]
    if not failing:
        return Answer(question, True)
    own = [line for obj in failing for line in _lines(obj, [condition])]
    return Answer(question, False, [*own, *_evidence(culprits)], look)


def _evidence(objects: Sequence[JsonObject]) -> list[str]:
    return [line for obj in objects for line in _lines(obj, ["Ready", "Available"])]


def _lines(obj: JsonObject, kinds: Sequence[str]) -> list[str]:
    name = f"{obj['kind']} {obj['metadata']['name']}"
    return [
        f"{name}: {c.type} is {c.status}, {c.reason}" + (f": {c.message}" if c.message else "")
        for c in read_conditions(obj)
        if c.type in kinds and c.status != "True"
    ]


def _is(obj: JsonObject, condition: str) -> bool:
    return any(c.type == condition and c.status == "True" for c in read_conditions(obj))


def _of(objects: Sequence[JsonObject], kind: str) -> list[JsonObject]:
    return [obj for obj in objects if obj["kind"] == kind]
