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

    max_surge: Annotated[
        IntOrString | None, Schema("How many machines there may be above the wanted number.")
    ] = None
    max_unavailable: Annotated[
        IntOrString | None, Schema("How many machines may be missing from the wanted number.")
    ] = None


class MachineDeploymentRolloutStrategy(NonEmpty):
    """How old machines give way to new ones."""

    rolling_update: Annotated[
        MachineDeploymentRollingUpdate, Schema("Limits of a rolling update.")
    ] = Field(default_factory=MachineDeploymentRollingUpdate)
    type: Annotated[
        str,
        Schema(
            "Replace at once (RollingUpdate) or whenever a machine is deleted.",
            required=True,
            enum=("RollingUpdate", "OnDelete"),
        ),
    ] = ""


class MachineDeploymentRollout(NonEmpty):
    """When and how machines are replaced."""

    after: Annotated[
        Time | None, Schema("Replace machines that are older than this time, once it has come.")
    ] = None
    strategy: Annotated[MachineDeploymentRolloutStrategy, Schema("How machines are replaced.")] = (
        Field(default_factory=MachineDeploymentRolloutStrategy)
    )


class MachineDeploymentRemediation(NonEmpty):
    """How many unhealthy machines are replaced at a time."""

    max_in_flight: Annotated[
        IntOrString | None, Schema("At most this number or percentage is remediated at a time.")
    ] = None


class MachineDeploymentSpec(Model):
    """The deployment as wanted."""

    cluster_name: Annotated[
        str, Schema("Name of the cluster that this belongs to.", required=True, length=(1, 63))
    ] = ""
    deletion: Annotated[MachineSetDeletion, Schema("Order of deletion.")] = Field(
        default_factory=MachineSetDeletion
    )
    machine_naming: Annotated[MachineNaming, Schema("Names of the machines.")] = Field(
        default_factory=MachineNaming
    )
    paused: Annotated[bool | None, Schema("Stops the rollout of changes.")] = None
    remediation: Annotated[
        MachineDeploymentRemediation, Schema("Limits for the replacement of unhealthy machines.")
    ] = Field(default_factory=MachineDeploymentRemediation)
    replicas: Annotated[
        int | None,
        Schema("Number of machines; left to the controller or an autoscaler when unset."),
    ] = None
    rollout: Annotated[MachineDeploymentRollout, Schema("When and how machines are replaced.")] = (
        Field(default_factory=MachineDeploymentRollout)
    )
    selector: Annotated[
        LabelSelector,
        Schema("Chooses the machines; must match the template's labels.", required=True),
    ] = Field(default_factory=LabelSelector)
    template: Annotated[
        MachineTemplateSpec, Schema("What each machine is made from.", required=True)
    ] = Field(default_factory=MachineTemplateSpec)


class MachineDeploymentV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None
    unavailable_replicas: Annotated[
        int | None, Schema("Number of machines that are missing or not available.")
    ] = None
    updated_replicas: Annotated[
        int | None, Schema("Number of machines that match the current template.")
    ] = None


class MachineDeploymentDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[MachineDeploymentV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=MachineDeploymentV1Beta1Status
    )


class MachineDeploymentStatus(NonEmpty):
    """The deployment as observed."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        MachineDeploymentDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None
    phase: Annotated[
        str | None,
        Schema(
            "The lifecycle in one word, for people.",
            enum=("ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"),
        ),
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
    versions: Annotated[
        list[StatusVersion],
        Schema("Number of machines by Kubernetes version.", items=(1, 100), keys=("version",)),
    ] = Field(default_factory=list)


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
