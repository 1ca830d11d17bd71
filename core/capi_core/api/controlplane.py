"""The KubeadmControlPlane and its template."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.kubeadm.config import KubeadmConfigSpec
from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_LABEL,
    PAUSED,
    Column,
    Definition,
    IntOrString,
    ObservedGeneration,
    Schema,
    Seconds,
    Time,
)
from capi_core.api.shared import (
    Conditions,
    ContractVersionedObjectReference,
    MachineDeletion,
    MachineNaming,
    MachineReadinessGate,
    MachineTaint,
    StatusVersion,
    TemplateMetadata,
    V1Beta1Condition,
)


class KubeadmControlPlaneMachineTemplateSpec(Model):
    """Settings of the control plane machines."""

    deletion: MachineDeletion = Field(default_factory=MachineDeletion)
    infrastructure_ref: Annotated[ContractVersionedObjectReference, Schema(required=True)] = Field(
        default_factory=ContractVersionedObjectReference
    )
    readiness_gates: Annotated[
        list[MachineReadinessGate], Schema(items=(1, 32), keys=("conditionType",))
    ] = Field(default_factory=list)
    taints: Annotated[list[MachineTaint], Schema(items=(1, 64), keys=("key", "effect"))] = Field(
        default_factory=list
    )


class KubeadmControlPlaneMachineTemplate(Model):
    """The machine that each replica is made from."""

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: Annotated[KubeadmControlPlaneMachineTemplateSpec, Schema(required=True)] = Field(
        default_factory=KubeadmControlPlaneMachineTemplateSpec
    )


class KubeadmControlPlaneRemediation(NonEmpty):
    """How often unhealthy machines are replaced."""

    max_retry: int | None = None
    min_healthy_period_seconds: Seconds | None = None
    retry_period_seconds: Seconds | None = None


class KubeadmControlPlaneRolloutBefore(NonEmpty):
    """Events ahead of which machines are replaced."""

    certificates_expiry_days: Annotated[int | None, Schema(between=(7, None))] = None


class KubeadmControlPlaneRollingUpdate(NonEmpty):
    """How far a rolling update may exceed the wanted replicas."""

    max_surge: IntOrString | None = None


class KubeadmControlPlaneRolloutStrategy(NonEmpty):
    """How old machines give way to new ones."""

    rolling_update: KubeadmControlPlaneRollingUpdate = Field(
        default_factory=KubeadmControlPlaneRollingUpdate
    )
    type: Annotated[str, Schema(required=True, enum=("RollingUpdate",))] = ""


class KubeadmControlPlaneRollout(NonEmpty):
    """When and how machines are replaced."""

    after: Time | None = None
    before: KubeadmControlPlaneRolloutBefore = Field(
        default_factory=KubeadmControlPlaneRolloutBefore
    )
    strategy: KubeadmControlPlaneRolloutStrategy = Field(
        default_factory=KubeadmControlPlaneRolloutStrategy
    )


class KubeadmControlPlaneSpec(Model):
    """The control plane as wanted."""

    kubeadm_config_spec: KubeadmConfigSpec = Field(default_factory=KubeadmConfigSpec)
    machine_naming: MachineNaming = Field(default_factory=MachineNaming)
    machine_template: Annotated[KubeadmControlPlaneMachineTemplate, Schema(required=True)] = Field(
        default_factory=KubeadmControlPlaneMachineTemplate
    )
    remediation: KubeadmControlPlaneRemediation = Field(
        default_factory=KubeadmControlPlaneRemediation
    )
    replicas: int | None = None
    rollout: KubeadmControlPlaneRollout = Field(default_factory=KubeadmControlPlaneRollout)
    version: Annotated[str, Schema(required=True, length=(1, 256))] = ""


class KubeadmControlPlaneV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: list[V1Beta1Condition] = Field(default_factory=list)
    failure_message: Annotated[str | None, Schema(length=(1, 10240))] = None
    failure_reason: str | None = None
    ready_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


class KubeadmControlPlaneDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: KubeadmControlPlaneV1Beta1Status = Field(
        alias="v1beta1", default_factory=KubeadmControlPlaneV1Beta1Status
    )


class KubeadmControlPlaneInitialization(NonEmpty):
    """What has been reached once in the control plane's life."""

    control_plane_initialized: bool | None = None


class LastRemediation(Model):
    """The latest replacement of an unhealthy machine."""

    machine: Annotated[str, Schema(required=True, length=(1, 253))] = ""
    retry_count: Annotated[int | None, Schema(required=True, between=(0, None))] = None
    time: Annotated[Time, Schema(required=True)] = ""


class KubeadmControlPlaneStatus(NonEmpty):
    """The control plane as observed."""

    available_replicas: int | None = None
    conditions: Conditions = Field(default_factory=list)
    deprecated: KubeadmControlPlaneDeprecatedStatus | None = None
    initialization: KubeadmControlPlaneInitialization = Field(
        default_factory=KubeadmControlPlaneInitialization
    )
    last_remediation: LastRemediation = Field(default_factory=LastRemediation)
    observed_generation: ObservedGeneration | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    selector: Annotated[str | None, Schema(length=(1, 4096))] = None
    up_to_date_replicas: int | None = None
    version: Annotated[str | None, Schema(length=(1, 256))] = None
    versions: Annotated[list[StatusVersion], Schema(items=(1, 100), keys=("version",))] = Field(
        default_factory=list
    )


class KubeadmControlPlane(KubeObject):
    """A control plane whose machines kubeadm sets up."""

    resource: ClassVar[Resource] = Resource(
        "controlplane.cluster.x-k8s.io", "v1beta2", "KubeadmControlPlane", "kubeadmcontrolplanes"
    )
    definition: ClassVar[Definition] = Definition(
        provider="control-plane-kubeadm",
        short_names=("kcp",),
        columns=(
            CLUSTER_LABEL,
            Column.condition("Available"),
            Column.count("Desired", ".spec.replicas"),
            Column.count("Current", ".status.replicas"),
            Column.count("Ready", ".status.readyReplicas"),
            Column.count("Available", ".status.availableReplicas"),
            Column.count("Up-to-date", ".status.upToDateReplicas"),
            PAUSED,
            Column("Initialized", ".status.initialization.controlPlaneInitialized", "boolean"),
            AGE,
            Column("Version", ".spec.version"),
        ),
        scale=True,
    )

    spec: Annotated[KubeadmControlPlaneSpec, Schema(required=True)] = Field(
        default_factory=KubeadmControlPlaneSpec
    )
    status: KubeadmControlPlaneStatus = Field(default_factory=KubeadmControlPlaneStatus)


class KubeadmControlPlaneTemplateMachineSpec(NonEmpty):
    """Settings of the control plane machines."""

    deletion: MachineDeletion = Field(default_factory=MachineDeletion)
    taints: Annotated[list[MachineTaint], Schema(items=(1, 64), keys=("key", "effect"))] = Field(
        default_factory=list
    )


class KubeadmControlPlaneTemplateMachine(NonEmpty):
    """The machine that each replica is made from."""

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: KubeadmControlPlaneTemplateMachineSpec = Field(
        default_factory=KubeadmControlPlaneTemplateMachineSpec
    )


class KubeadmControlPlaneTemplateResourceSpec(NonEmpty):
    """The part of a control plane that a class decides."""

    kubeadm_config_spec: KubeadmConfigSpec = Field(default_factory=KubeadmConfigSpec)
    machine_naming: MachineNaming = Field(default_factory=MachineNaming)
    machine_template: KubeadmControlPlaneTemplateMachine = Field(
        default_factory=KubeadmControlPlaneTemplateMachine
    )
    remediation: KubeadmControlPlaneRemediation = Field(
        default_factory=KubeadmControlPlaneRemediation
    )
    rollout: KubeadmControlPlaneRollout = Field(default_factory=KubeadmControlPlaneRollout)


class KubeadmControlPlaneTemplateResource(NonEmpty):
    """The control plane that copies are made of."""

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: KubeadmControlPlaneTemplateResourceSpec = Field(
        default_factory=KubeadmControlPlaneTemplateResourceSpec
    )


class KubeadmControlPlaneTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[KubeadmControlPlaneTemplateResource, Schema(required=True)] = Field(
        default_factory=KubeadmControlPlaneTemplateResource
    )


class KubeadmControlPlaneTemplate(KubeObject):
    """A control plane for the clusters of a class."""

    resource: ClassVar[Resource] = Resource(
        "controlplane.cluster.x-k8s.io",
        "v1beta2",
        "KubeadmControlPlaneTemplate",
        "kubeadmcontrolplanetemplates",
    )
    definition: ClassVar[Definition] = Definition(
        provider="control-plane-kubeadm",
        columns=(
            Column("ClusterClass", '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name'),
            AGE,
        ),
    )

    spec: KubeadmControlPlaneTemplateSpec = Field(default_factory=KubeadmControlPlaneTemplateSpec)
