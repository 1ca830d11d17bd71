"""The kinds of Cluster API as models, from which the CRDs are generated."""

from capi_core.api.cluster import Cluster
from capi_core.api.clusterclass import ClusterClass
from capi_core.api.clusterresourceset import ClusterResourceSet, ClusterResourceSetBinding
from capi_core.api.controlplane import KubeadmControlPlane, KubeadmControlPlaneTemplate
from capi_core.api.docker import (
    DockerCluster,
    DockerClusterTemplate,
    DockerMachine,
    DockerMachineTemplate,
)
from capi_core.api.dockermachinepool import DockerMachinePool, DockerMachinePoolTemplate
from capi_core.api.kubeadm import KubeadmConfig, KubeadmConfigTemplate
from capi_core.api.machine import Machine
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machinedrainrule import MachineDrainRule
from capi_core.api.machinehealthcheck import MachineHealthCheck
from capi_core.api.machinepool import MachinePool
from capi_core.api.machineset import MachineSet
from capi_core.api.meta import KubeObject

KINDS: tuple[type[KubeObject], ...] = (
    Cluster,
    ClusterClass,
    ClusterResourceSet,
    ClusterResourceSetBinding,
    Machine,
    MachineDeployment,
    MachineDrainRule,
    MachineHealthCheck,
    MachinePool,
    MachineSet,
    KubeadmConfig,
    KubeadmConfigTemplate,
    KubeadmControlPlane,
    KubeadmControlPlaneTemplate,
    DockerCluster,
    DockerClusterTemplate,
    DockerMachine,
    DockerMachinePool,
    DockerMachinePoolTemplate,
    DockerMachineTemplate,
)
