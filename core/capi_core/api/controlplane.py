"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource
from capi_core.api.cluster import ClusterAvailabilityGate, ClusterDeprecatedV1beta1Condition, ClusterTopologyControlPlaneDeletion, ClusterTopologyControlPlaneMetadata, ClusterTopologyControlPlaneTaint
from capi_core.api.kubeadm import KubeadmConfigSpec
from capi_core.api.machineset import MachineSetMachineNaming
from capi_core.api.shared import ContractVersionedObjectReference, StatusVersion


class KubeadmControlPlaneMachineTemplateSpec(Model):
    deletion: ClusterTopologyControlPlaneDeletion = Field(default_factory=ClusterTopologyControlPlaneDeletion)
    infrastructure_ref: ContractVersionedObjectReference = Field(default_factory=ContractVersionedObjectReference)
    readiness_gates: list[ClusterAvailabilityGate] = Field(default_factory=list)
    taints: list[ClusterTopologyControlPlaneTaint] = Field(default_factory=list)


class KubeadmControlPlaneMachineTemplate(Model):
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    spec: KubeadmControlPlaneMachineTemplateSpec = Field(default_factory=KubeadmControlPlaneMachineTemplateSpec)


class KubeadmControlPlaneRemediation(Model):
    max_retry: int | None = None
    min_healthy_period_seconds: int | None = None
    retry_period_seconds: int | None = None


class KubeadmControlPlaneRolloutBefore(Model):
    certificates_expiry_days: int | None = None


class KubeadmControlPlaneRolloutStrategyRollingUpdate(Model):
    max_surge: int | str | None = None


class KubeadmControlPlaneRolloutStrategy(Model):
    rolling_update: KubeadmControlPlaneRolloutStrategyRollingUpdate = Field(default_factory=KubeadmControlPlaneRolloutStrategyRollingUpdate)
    type: str = ""


class KubeadmControlPlaneRollout(Model):
    after: str | None = None
    before: KubeadmControlPlaneRolloutBefore = Field(default_factory=KubeadmControlPlaneRolloutBefore)
    strategy: KubeadmControlPlaneRolloutStrategy = Field(default_factory=KubeadmControlPlaneRolloutStrategy)


class KubeadmControlPlaneSpec(Model):
    kubeadm_config_spec: KubeadmConfigSpec = Field(default_factory=KubeadmConfigSpec)
    machine_naming: MachineSetMachineNaming = Field(default_factory=MachineSetMachineNaming)
    machine_template: KubeadmControlPlaneMachineTemplate = Field(default_factory=KubeadmControlPlaneMachineTemplate)
    remediation: KubeadmControlPlaneRemediation = Field(default_factory=KubeadmControlPlaneRemediation)
    replicas: int | None = None
    rollout: KubeadmControlPlaneRollout = Field(default_factory=KubeadmControlPlaneRollout)
    version: str = ""


class KubeadmControlPlaneStatusDeprecatedV1beta1(Model):
    conditions: list[ClusterDeprecatedV1beta1Condition] = Field(default_factory=list)
    failure_message: str | None = None
    failure_reason: str | None = None
    ready_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


class KubeadmControlPlaneStatusDeprecated(Model):
    v1beta1: KubeadmControlPlaneStatusDeprecatedV1beta1 = Field(default_factory=KubeadmControlPlaneStatusDeprecatedV1beta1)


class KubeadmControlPlaneStatusInitialization(Model):
    control_plane_initialized: bool | None = None


class KubeadmControlPlaneStatusLastRemediation(Model):
    machine: str = ""
    retry_count: int | None = None
    time: str = ""


class KubeadmControlPlaneStatus(Model):
    available_replicas: int | None = None
    conditions: list[Condition] = Field(default_factory=list)
    deprecated: KubeadmControlPlaneStatusDeprecated | None = None
    initialization: KubeadmControlPlaneStatusInitialization = Field(default_factory=KubeadmControlPlaneStatusInitialization)
    last_remediation: KubeadmControlPlaneStatusLastRemediation = Field(default_factory=KubeadmControlPlaneStatusLastRemediation)
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    selector: str | None = None
    up_to_date_replicas: int | None = None
    version: str | None = None
    versions: list[StatusVersion] = Field(default_factory=list)


class KubeadmControlPlane(KubeObject):
    resource: ClassVar[Resource] = Resource("controlplane.cluster.x-k8s.io", "v1beta2", "KubeadmControlPlane", "kubeadmcontrolplanes")
    spec: KubeadmControlPlaneSpec = Field(default_factory=KubeadmControlPlaneSpec)
    status: KubeadmControlPlaneStatus = Field(default_factory=KubeadmControlPlaneStatus)


class KubeadmControlPlaneTemplateTemplateMachineTemplateSpec(Model):
    deletion: ClusterTopologyControlPlaneDeletion = Field(default_factory=ClusterTopologyControlPlaneDeletion)
    taints: list[ClusterTopologyControlPlaneTaint] = Field(default_factory=list)


class KubeadmControlPlaneTemplateTemplateMachineTemplate(Model):
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    spec: KubeadmControlPlaneTemplateTemplateMachineTemplateSpec = Field(default_factory=KubeadmControlPlaneTemplateTemplateMachineTemplateSpec)


class KubeadmControlPlaneTemplateTemplateSpec(Model):
    kubeadm_config_spec: KubeadmConfigSpec = Field(default_factory=KubeadmConfigSpec)
    machine_naming: MachineSetMachineNaming = Field(default_factory=MachineSetMachineNaming)
    machine_template: KubeadmControlPlaneTemplateTemplateMachineTemplate = Field(default_factory=KubeadmControlPlaneTemplateTemplateMachineTemplate)
    remediation: KubeadmControlPlaneRemediation = Field(default_factory=KubeadmControlPlaneRemediation)
    rollout: KubeadmControlPlaneRollout = Field(default_factory=KubeadmControlPlaneRollout)


class KubeadmControlPlaneTemplateTemplate(Model):
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    spec: KubeadmControlPlaneTemplateTemplateSpec = Field(default_factory=KubeadmControlPlaneTemplateTemplateSpec)


class KubeadmControlPlaneTemplateSpec(Model):
    template: KubeadmControlPlaneTemplateTemplate = Field(default_factory=KubeadmControlPlaneTemplateTemplate)


class KubeadmControlPlaneTemplate(KubeObject):
    resource: ClassVar[Resource] = Resource("controlplane.cluster.x-k8s.io", "v1beta2", "KubeadmControlPlaneTemplate", "kubeadmcontrolplanetemplates")
    spec: KubeadmControlPlaneTemplateSpec = Field(default_factory=KubeadmControlPlaneTemplateSpec)
    status: Any = None
