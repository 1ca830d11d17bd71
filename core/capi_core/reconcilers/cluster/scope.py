"""What one pass over a Cluster observes."""

from dataclasses import dataclass, field
from typing import Literal

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.contract.external import External
from capi_core.contract.reconciler import Scope

Presence = Literal["unset", "missing", "found"]


@dataclass
class ClusterScope(Scope[Cluster]):
    """The Cluster with its referenced objects and descendants.

    Attributes:
        deleting_reason, deleting_message: what the deletion waits for.
    """

    infrastructure: External | None = None
    control_plane: External | None = None
    machines: list[Machine] = field(default_factory=list)
    machine_sets: list[MachineSet] = field(default_factory=list)
    machine_deployments: list[MachineDeployment] = field(default_factory=list)
    deleting_reason: str = "NotDeleting"
    deleting_message: str = ""

    @property
    def control_plane_machines(self) -> list[Machine]:
        """Machines of the control plane."""
        return [m for m in self.machines if CONTROL_PLANE_LABEL in m.metadata.labels]

    @property
    def worker_machines(self) -> list[Machine]:
        """All other Machines."""
        return [m for m in self.machines if CONTROL_PLANE_LABEL not in m.metadata.labels]

    @property
    def standalone_machine_sets(self) -> list[MachineSet]:
        """MachineSets that no MachineDeployment controls."""
        return [s for s in self.machine_sets if not any(_controlled(s))]


def _controlled(machine_set: MachineSet) -> list[bool]:
    return [bool(ref.controller) for ref in machine_set.metadata.owner_references]
