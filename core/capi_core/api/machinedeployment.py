"""The MachineDeployment: machine sets that follow a changing template."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.machine import MachineTemplateSpec
from capi_core.api.machineset import MachineSetDeletion
from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_NAME,
    PAUSED,
    PHASE,
    Column,
    Definition,
    IntOrString,
    ObservedGeneration,
    Schema,
    Time,
)
from capi_core.api.shared import (
    Conditions,
    LabelSelector,
    MachineNaming,
    StatusVersion,
    V1Beta1Condition,
)


class MachineDeploymentRollingUpdate(NonEmpty):
    """How far a rolling update may leave the wanted number of machines."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class MachineDeploymentRolloutStrategy(NonEmpty):
    """How old machines give way to new ones."""

    rolling_update: MachineDeploymentRollingUpdate = Field(
        default_factory=MachineDeploymentRollingUpdate
    )
    type: Annotated[str, Schema(required=True, enum=("RollingUpdate", "OnDelete"))] = ""


class MachineDeploymentRollout(NonEmpty):
    """When and how machines are replaced."""

    after: Time | None = None
    strategy: MachineDeploymentRolloutStrategy = Field(
        default_factory=MachineDeploymentRolloutStrategy
    )


class MachineDeploymentRemediation(NonEmpty):
    """How many unhealthy machines are replaced at a time."""

    max_in_flight: IntOrString | None = None


class MachineDeploymentSpec(Model):
    """The deployment as wanted."""

    cluster_name: Annotated[str, Schema(required=True, length=(1, 63))] = ""
    deletion: MachineSetDeletion = Field(default_factory=MachineSetDeletion)
    machine_naming: MachineNaming = Field(default_factory=MachineNaming)
    paused: bool | None = None
    remediation: MachineDeploymentRemediation = Field(default_factory=MachineDeploymentRemediation)
    replicas: int | None = None
    rollout: MachineDeploymentRollout = Field(default_factory=MachineDeploymentRollout)
    selector: Annotated[LabelSelector, Schema(required=True)] = Field(default_factory=LabelSelector)
    template: Annotated[MachineTemplateSpec, Schema(required=True)] = Field(
        default_factory=MachineTemplateSpec
    )


class MachineDeploymentV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    available_replicas: int | None = None
    conditions: list[V1Beta1Condition] = Field(default_factory=list)
    ready_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


class MachineDeploymentDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: MachineDeploymentV1Beta1Status = Field(
        alias="v1beta1", default_factory=MachineDeploymentV1Beta1Status
    )


class MachineDeploymentStatus(NonEmpty):
    """The deployment as observed."""

    available_replicas: int | None = None
    conditions: Conditions = Field(default_factory=list)
    deprecated: MachineDeploymentDeprecatedStatus | None = None
    observed_generation: ObservedGeneration | None = None
    phase: Annotated[
        str | None, Schema(enum=("ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"))
    ] = None
    ready_replicas: int | None = None
    replicas: int | None = None
    selector: Annotated[str | None, Schema(length=(1, 4096))] = None
    up_to_date_replicas: int | None = None
    versions: Annotated[list[StatusVersion], Schema(items=(1, 100), keys=("version",))] = Field(
        default_factory=list
    )


class MachineDeployment(KubeObject):
    """Equal machines that are replaced when their template changes."""

    resource: ClassVar[Resource] = Resource(
        "cluster.x-k8s.io", "v1beta2", "MachineDeployment", "machinedeployments"
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        short_names=("md",),
        columns=(
            CLUSTER_NAME,
            Column.condition("Available"),
            Column.count("Desired", ".spec.replicas"),
            Column.count("Current", ".status.replicas"),
            Column.count("Ready", ".status.readyReplicas"),
            Column.count("Available", ".status.availableReplicas"),
            Column.count("Up-to-date", ".status.upToDateReplicas"),
            PAUSED,
            PHASE,
            AGE,
            Column("Version", ".spec.template.spec.version"),
        ),
        scale=True,
    )

    spec: Annotated[MachineDeploymentSpec, Schema(required=True)] = Field(
        default_factory=MachineDeploymentSpec
    )
    status: MachineDeploymentStatus = Field(default_factory=MachineDeploymentStatus)
