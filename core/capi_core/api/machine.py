"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource
from capi_core.api.cluster import ClusterAvailabilityGate, ClusterStatusDeprecated, ClusterTopologyControlPlaneDeletion, ClusterTopologyControlPlaneMetadata, ClusterTopologyControlPlaneTaint
from capi_core.api.shared import ContractVersionedObjectReference


class MachineBootstrap(Model):
    config_ref: ContractVersionedObjectReference | None = None
    data_secret_name: str | None = None


class MachineSpec(Model):
    bootstrap: MachineBootstrap = Field(default_factory=MachineBootstrap)
    cluster_name: str = ""
    deletion: ClusterTopologyControlPlaneDeletion = Field(default_factory=ClusterTopologyControlPlaneDeletion)
    failure_domain: str | None = None
    infrastructure_ref: ContractVersionedObjectReference = Field(default_factory=ContractVersionedObjectReference)
    min_ready_seconds: int | None = None
    provider_id: str | None = Field(alias="providerID", default=None)
    readiness_gates: list[ClusterAvailabilityGate] = Field(default_factory=list)
    taints: list[ClusterTopologyControlPlaneTaint] = Field(default_factory=list)
    version: str | None = None


class MachineAddresse(Model):
    address: str = ""
    type: str = ""


class MachineStatusDeletion(Model):
    node_drain_start_time: str | None = None
    wait_for_node_volume_detach_start_time: str | None = None
    wait_for_pre_drain_hook_start_time: str | None = None
    wait_for_pre_terminate_hook_start_time: str | None = None


class MachineStatusInitialization(Model):
    bootstrap_data_secret_created: bool | None = None
    infrastructure_provisioned: bool | None = None


class MachineStatusNodeInfoSwap(Model):
    capacity: int | None = None


class MachineStatusNodeInfo(Model):
    architecture: str = ""
    boot_id: str = Field(alias="bootID", default="")
    container_runtime_version: str = ""
    kernel_version: str = ""
    kube_proxy_version: str = ""
    kubelet_version: str = ""
    machine_id: str = Field(alias="machineID", default="")
    operating_system: str = ""
    os_image: str = ""
    swap: MachineStatusNodeInfoSwap = Field(default_factory=MachineStatusNodeInfoSwap)
    system_uuid: str = Field(alias="systemUUID", default="")


class MachineStatusNodeRef(Model):
    name: str = ""


class MachineStatus(Model):
    addresses: list[MachineAddresse] = Field(default_factory=list)
    certificates_expiry_date: str | None = None
    conditions: list[Condition] = Field(default_factory=list)
    deletion: MachineStatusDeletion = Field(default_factory=MachineStatusDeletion)
    deprecated: ClusterStatusDeprecated | None = None
    failure_domain: str | None = None
    initialization: MachineStatusInitialization = Field(default_factory=MachineStatusInitialization)
    last_updated: str | None = None
    node_info: MachineStatusNodeInfo | None = None
    node_ref: MachineStatusNodeRef | None = None
    observed_generation: int | None = None
    phase: str | None = None


class Machine(KubeObject):
    resource: ClassVar[Resource] = Resource("cluster.x-k8s.io", "v1beta2", "Machine", "machines")
    spec: MachineSpec = Field(default_factory=MachineSpec)
    status: MachineStatus = Field(default_factory=MachineStatus)


class MachineTemplateSpec(Model):
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    spec: MachineSpec = Field(default_factory=MachineSpec)
