"""What one pass over a KubeadmConfig observes."""

from dataclasses import dataclass, field

from capi_core.api.cluster import Cluster
from capi_core.api.kubeadm import KubeadmConfig
from capi_core.api.labels import CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict, is_true
from capi_core.contract.reconciler import Scope


@dataclass
class ConfigScope(Scope[KubeadmConfig]):
    """The KubeadmConfig with its Machine.

    Attributes:
        spec: the KubeadmConfigSpec as JSON, which the renderers work on.
        certificates, data: what the two conditions will say.
    """

    machine: Machine | None = None
    spec: JsonObject = field(default_factory=dict)
    certificates: Verdict | None = None
    data: Verdict = field(default_factory=lambda: Verdict("False", "NotAvailable"))

    @property
    def is_control_plane(self) -> bool:
        """Whether the node belongs to the control plane."""
        return self.machine is not None and CONTROL_PLANE_LABEL in self.machine.metadata.labels

    @property
    def control_plane_initialized(self) -> bool:
        """Whether the cluster's API server has been up."""
        return self.cluster is not None and is_true(
            self.cluster.status.conditions, "ControlPlaneInitialized"
        )

    def require_cluster(self) -> Cluster:
        """The Cluster, which the reconciler has made sure of."""
        assert self.cluster is not None
        return self.cluster

    def wait(self, message: str) -> None:
        """Say in DataSecretAvailable what is awaited."""
        self.data = Verdict("False", "NotAvailable", message)
