"""What one pass over a Machine observes."""

from dataclasses import dataclass

from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import JsonObject
from capi_core.contract.external import External
from capi_core.contract.reconciler import Scope
from capi_core.contract.remote import RemoteCluster


@dataclass
class MachineScope(Scope[Machine]):
    """The Machine with the objects around it.

    Attributes:
        remote: the workload cluster, None while it is not connected.
        node: its Node there, None while it is not known.
        node_gone: the Node had been there and is not any more.
        deleting_reason, deleting_message: what the deletion waits for.
    """

    bootstrap: External | None = None
    infrastructure: External | None = None
    remote: RemoteCluster | None = None
    node: JsonObject | None = None
    node_gone: bool = False
    machine_set: MachineSet | None = None
    machine_deployment: MachineDeployment | None = None
    deleting_reason: str = "Deleting"
    deleting_message: str = ""

    @property
    def is_control_plane(self) -> bool:
        """Whether the Machine belongs to the control plane."""
        return CONTROL_PLANE_LABEL in self.obj.metadata.labels
