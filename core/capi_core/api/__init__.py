"""The kinds of Cluster API as models, from which the CRDs are generated."""

from capi_core.api.cluster import Cluster
from capi_core.api.controlplane import KubeadmControlPlane, KubeadmControlPlaneTemplate
from capi_core.api.docker import (
    DockerCluster,
    DockerClusterTemplate,
    DockerMachine,
    DockerMachineTemplate,
)
from capi_core.api.kubeadm import KubeadmConfig, KubeadmConfigTemplate
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import KubeObject

KINDS: tuple[type[KubeObject], ...] = (
    Cluster,
    Machine,
    MachineSet,
    MachineDeployment,
    KubeadmConfig,
    KubeadmConfigTemplate,
    KubeadmControlPlane,
    KubeadmControlPlaneTemplate,
    DockerCluster,
    DockerClusterTemplate,
    DockerMachine,
    DockerMachineTemplate,
)
