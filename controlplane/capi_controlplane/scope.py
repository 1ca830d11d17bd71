"""What one pass over a KubeadmControlPlane observes."""

from dataclasses import dataclass, field

from capi_controlplane.etcd import MemberList
from capi_core.api.cluster import Cluster
from capi_core.api.controlplane import KubeadmControlPlane
from capi_core.api.kubeadm import KubeadmConfig
from capi_core.api.machine import Machine
from capi_core.conditions import is_true
from capi_core.contract.external import External
from capi_core.contract.reconciler import Scope
from capi_core.contract.remote import RemoteCluster

CONTROL_PLANE_NAME_LABEL = "cluster.x-k8s.io/control-plane-name"
POD_CONDITIONS = ("APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy")
ETCD_CONDITIONS = ("EtcdPodHealthy", "EtcdMemberHealthy")


@dataclass
class ControlPlaneScope(Scope[KubeadmControlPlane]):
    """The control plane with its Machines and what they were made from.

    Attributes:
        missing_certificates: purposes whose Secret does not exist.
        certificates_problem: why a certificate Secret cannot be read.
        members: etcd's own list, None when it could not be read.
        problems: what keeps the control plane from scaling up.
    """

    machines: list[Machine] = field(default_factory=list)
    all_machines: list[Machine] = field(default_factory=list)
    configs: dict[str, KubeadmConfig] = field(default_factory=dict)
    infrastructure: dict[str, External] = field(default_factory=dict)
    remote: RemoteCluster | None = None
    missing_certificates: list[str] = field(default_factory=list)
    certificates_checked: bool = False
    certificates_problem: str = ""
    members: MemberList | None = None
    etcd_error: str = ""
    problems: list[str] = field(default_factory=list)
    deleting_reason: str = "NotDeleting"
    deleting_message: str = ""

    def require_cluster(self) -> Cluster:
        """The Cluster, which the reconciler has made sure of."""
        assert self.cluster is not None
        return self.cluster

    @property
    def manages_etcd(self) -> bool:
        """Whether etcd runs on the control plane's own Machines."""
        configuration = self.obj.spec.kubeadm_config_spec.cluster_configuration
        return configuration is None or configuration.etcd.external is None

    @property
    def machine_conditions(self) -> tuple[str, ...]:
        """The health conditions that each Machine gets from here."""
        return POD_CONDITIONS + (ETCD_CONDITIONS if self.manages_etcd else ())

    @property
    def initialized(self) -> bool:
        """Whether the first API server has been up."""
        return is_true(self.conditions, "Initialized")
