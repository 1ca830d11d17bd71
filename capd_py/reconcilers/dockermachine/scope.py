"""What one pass over a DockerMachine observes."""

from dataclasses import dataclass, field

from capd_py.container.identity import CONTROL_PLANE, WORKER, Identity
from capd_py.container.runtime import Container
from capi_core.api.docker import DockerCluster, DockerMachine
from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.conditions import Verdict, get_condition, is_true
from capi_core.contract.reconciler import Scope

PROVISIONED, CGROUPS = "ContainerProvisioned", "CGroupsReady"
IMAGES, BOOTSTRAP = "PreLoadedImagesReady", "BootstrapCompleted"
STEPS = (PROVISIONED, CGROUPS, IMAGES, BOOTSTRAP)
_AWAITED = {
    PROVISIONED: "WaitingForContainer",
    CGROUPS: "WaitingForCGroups",
    IMAGES: "WaitingForPreloadedImages",
}


@dataclass
class DockerMachineScope(Scope[DockerMachine]):
    """The DockerMachine with its Machine, the cluster's infrastructure and its container.

    Attributes:
        verdicts: what this pass found out, by condition; the others stay as they are.
    """

    machine: Machine | None = None
    docker_cluster: DockerCluster | None = None
    identity: Identity | None = None
    container: Container | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def is_control_plane(self) -> bool:
        """Whether the node runs an API server."""
        return self.machine is not None and CONTROL_PLANE_LABEL in self.machine.metadata.labels

    @property
    def role(self) -> str:
        """The role label's value."""
        return CONTROL_PLANE if self.is_control_plane else WORKER

    @property
    def control_plane_initialized(self) -> bool:
        """Whether the cluster's API server has been up."""
        return self.cluster is not None and is_true(
            self.cluster.status.conditions, "ControlPlaneInitialized"
        )

    def reached(self, condition: str) -> bool:
        """Whether a step is done, by this pass or one before."""
        if condition in self.verdicts:
            return self.verdicts[condition].status == "True"
        return is_true(self.conditions, condition)

    def awaited_by(self, step: str) -> str:
        """The reason of a step that another one keeps from being taken; empty when none does."""
        known = get_condition(self.conditions, step)
        ended = known is not None and (known.status == "True" or known.reason == "Failed")
        for earlier in STEPS[: STEPS.index(step)]:
            if not ended and not self.reached(earlier):
                return _AWAITED[earlier]
        return ""

    def require_container(self) -> Container:
        """The container, which a phase before has made sure of."""
        assert self.container is not None
        return self.container

    def require_machine(self) -> Machine:
        """The owner Machine, which the reconciler has made sure of."""
        assert self.machine is not None
        return self.machine

    def require_identity(self) -> Identity:
        """The cluster's identity on the engine."""
        assert self.identity is not None
        return self.identity
