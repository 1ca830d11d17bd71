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

    deletion: Annotated[MachineDeletion, Schema("Time limits for the deletion of machines.")] = (
        Field(default_factory=MachineDeletion)
    )
    infrastructure_ref: Annotated[
        ContractVersionedObjectReference,
        Schema("The object that provides the machine, or its template.", required=True),
    ] = Field(default_factory=ContractVersionedObjectReference)
    readiness_gates: Annotated[
        list[MachineReadinessGate],
        Schema(
            "Further conditions that must hold for a machine to be Ready.",
            items=(1, 32),
            keys=("conditionType",),
        ),
    ] = Field(default_factory=list)
    taints: Annotated[
        list[MachineTaint],
        Schema("Taints of the machines' nodes.", items=(1, 64), keys=("key", "effect")),
    ] = Field(default_factory=list)


class KubeadmControlPlaneMachineTemplate(Model):
    """The machine that each replica is made from."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: Annotated[KubeadmControlPlaneMachineTemplateSpec, Schema(required=True)] = Field(
        default_factory=KubeadmControlPlaneMachineTemplateSpec
    )


class KubeadmControlPlaneRemediation(NonEmpty):
    """How often unhealthy machines are replaced."""

    max_retry: Annotated[
        int | None, Schema("How often one machine's replacement is tried; without end when unset.")
    ] = None
    min_healthy_period_seconds: Annotated[
        Seconds | None,
        Schema("How long a machine has to be healthy for its retries to be forgotten."),
    ] = None
    retry_period_seconds: Annotated[
        Seconds | None, Schema("How long to wait between two tries.")
    ] = None


class KubeadmControlPlaneRolloutBefore(NonEmpty):
    """Events ahead of which machines are replaced."""

    certificates_expiry_days: Annotated[
        int | None,
        Schema(
            "Replace machines whose certificates expire within this many days.", between=(7, None)
        ),
    ] = None


class KubeadmControlPlaneRollingUpdate(NonEmpty):
    """How far a rolling update may exceed the wanted replicas."""

    max_surge: Annotated[
        IntOrString | None, Schema("How many machines there may be above the wanted number.")
    ] = None


class KubeadmControlPlaneRolloutStrategy(NonEmpty):
    """How old machines give way to new ones."""

    rolling_update: Annotated[
        KubeadmControlPlaneRollingUpdate, Schema("Limits of a rolling update.")
    ] = Field(default_factory=KubeadmControlPlaneRollingUpdate)
    type: Annotated[
        str, Schema("RollingUpdate is the only strategy.", required=True, enum=("RollingUpdate",))
    ] = ""


class KubeadmControlPlaneRollout(NonEmpty):
    """When and how machines are replaced."""

    after: Annotated[
        Time | None, Schema("Replace machines that are older than this time, once it has come.")
    ] = None
    before: Annotated[
        KubeadmControlPlaneRolloutBefore, Schema("Events ahead of which machines are replaced.")
    ] = Field(default_factory=KubeadmControlPlaneRolloutBefore)
    strategy: Annotated[
        KubeadmControlPlaneRolloutStrategy, Schema("How machines are replaced.")
    ] = Field(default_factory=KubeadmControlPlaneRolloutStrategy)


class KubeadmControlPlaneSpec(Model):
    """The control plane as wanted."""

    kubeadm_config_spec: Annotated[KubeadmConfigSpec, Schema("How the machines become nodes.")] = (
        Field(default_factory=KubeadmConfigSpec)
    )
    machine_naming: Annotated[MachineNaming, Schema("Names of the machines.")] = Field(
        default_factory=MachineNaming
    )
    machine_template: Annotated[
        KubeadmControlPlaneMachineTemplate, Schema("What each machine is made from.", required=True)
    ] = Field(default_factory=KubeadmControlPlaneMachineTemplate)
    remediation: Annotated[
        KubeadmControlPlaneRemediation, Schema("Limits for the replacement of unhealthy machines.")
    ] = Field(default_factory=KubeadmControlPlaneRemediation)
    replicas: Annotated[int | None, Schema("Number of machines; odd, unless etcd is external.")] = (
        None
    )
    rollout: Annotated[
        KubeadmControlPlaneRollout, Schema("When and how machines are replaced.")
    ] = Field(default_factory=KubeadmControlPlaneRollout)
    version: Annotated[
        str, Schema("Kubernetes version of the control plane.", required=True, length=(1, 256))
    ] = ""


class KubeadmControlPlaneV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    failure_message: Annotated[
        str | None, Schema("Details of an error that needs a person.", length=(1, 10240))
    ] = None
    failure_reason: Annotated[str | None, Schema("An error that needs a person, in one word.")] = (
        None
    )
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None
    unavailable_replicas: Annotated[
        int | None, Schema("Number of machines that are missing or not available.")
    ] = None
    updated_replicas: Annotated[
        int | None, Schema("Number of machines that match the current template.")
    ] = None


class KubeadmControlPlaneDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[KubeadmControlPlaneV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=KubeadmControlPlaneV1Beta1Status
    )


class KubeadmControlPlaneInitialization(NonEmpty):
    """What has been reached once in the control plane's life."""

    control_plane_initialized: Annotated[
        bool | None, Schema("The control plane has answered once.")
    ] = None


class LastRemediation(Model):
    """The latest replacement of an unhealthy machine."""

    machine: Annotated[
        str, Schema("Name of the machine that was replaced.", required=True, length=(1, 253))
    ] = ""
    retry_count: Annotated[
        int | None, Schema("How often it has been tried.", required=True, between=(0, None))
    ] = None
    time: Annotated[Time, Schema("When it was replaced.", required=True)] = ""


class KubeadmControlPlaneStatus(NonEmpty):
    """The control plane as observed."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        KubeadmControlPlaneDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    initialization: Annotated[
        KubeadmControlPlaneInitialization, Schema("What has been reached once.")
    ] = Field(default_factory=KubeadmControlPlaneInitialization)
    last_remediation: Annotated[
        LastRemediation, Schema("The latest replacement of an unhealthy machine.")
    ] = Field(default_factory=LastRemediation)
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None
    replicas: Annotated[int | None, Schema("Number of machines that exist.")] = None
    selector: Annotated[
        str | None,
        Schema("Label selector of the machines, for the scale subresource.", length=(1, 4096)),
    ] = None
    up_to_date_replicas: Annotated[
        int | None, Schema("Number of machines that match the current template.")
    ] = None
    version: Annotated[
        str | None, Schema("Lowest Kubernetes version among the machines.", length=(1, 256))
    ] = None
    versions: Annotated[
        list[StatusVersion],
        Schema("Number of machines by Kubernetes version.", items=(1, 100), keys=("version",)),
    ] = Field(default_factory=list)


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

    deletion: Annotated[MachineDeletion, Schema("Time limits for the deletion of machines.")] = (
        Field(default_factory=MachineDeletion)
    )
    taints: Annotated[
        list[MachineTaint],
        Schema("Taints of the machines' nodes.", items=(1, 64), keys=("key", "effect")),
    ] = Field(default_factory=list)


class KubeadmControlPlaneTemplateMachine(NonEmpty):
    """The machine that each replica is made from."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: KubeadmControlPlaneTemplateMachineSpec = Field(
        default_factory=KubeadmControlPlaneTemplateMachineSpec
    )


class KubeadmControlPlaneTemplateResourceSpec(NonEmpty):
    """The part of a control plane that a class decides."""

    kubeadm_config_spec: Annotated[KubeadmConfigSpec, Schema("How the machines become nodes.")] = (
        Field(default_factory=KubeadmConfigSpec)
    )
    machine_naming: Annotated[MachineNaming, Schema("Names of the machines.")] = Field(
        default_factory=MachineNaming
    )
    machine_template: Annotated[
        KubeadmControlPlaneTemplateMachine, Schema("What each machine is made from.")
    ] = Field(default_factory=KubeadmControlPlaneTemplateMachine)
    remediation: Annotated[
        KubeadmControlPlaneRemediation, Schema("Limits for the replacement of unhealthy machines.")
    ] = Field(default_factory=KubeadmControlPlaneRemediation)
    rollout: Annotated[
        KubeadmControlPlaneRollout, Schema("When and how machines are replaced.")
    ] = Field(default_factory=KubeadmControlPlaneRollout)


class KubeadmControlPlaneTemplateResource(NonEmpty):
    """The control plane that copies are made of."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: KubeadmControlPlaneTemplateResourceSpec = Field(
        default_factory=KubeadmControlPlaneTemplateResourceSpec
    )


class KubeadmControlPlaneTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[
        KubeadmControlPlaneTemplateResource, Schema("What copies are made of.", required=True)
    ] = Field(default_factory=KubeadmControlPlaneTemplateResource)


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
