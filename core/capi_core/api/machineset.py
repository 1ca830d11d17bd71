"""The MachineSet: a number of equal machines."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.machine import MachineTemplateSpec
from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_NAME,
    PAUSED,
    Column,
    Definition,
    ObservedGeneration,
    Schema,
)
from capi_core.api.shared import (
    Conditions,
    LabelSelector,
    MachineNaming,
    StatusVersion,
    V1Beta1Condition,
)


class MachineSetDeletion(NonEmpty):
    """Which machines go first when there are too many."""

    order: Annotated[
        str | None,
        Schema("Random, newest first or oldest first.", enum=("Random", "Newest", "Oldest")),
    ] = None


class MachineSetSpec(Model):
    """The set as wanted."""

    cluster_name: Annotated[
        str, Schema("Name of the cluster that this belongs to.", required=True, length=(1, 63))
    ] = ""
    deletion: Annotated[MachineSetDeletion, Schema("Order of deletion.")] = Field(
        default_factory=MachineSetDeletion
    )
    machine_naming: Annotated[MachineNaming, Schema("Names of the machines.")] = Field(
        default_factory=MachineNaming
    )
    replicas: Annotated[
        int | None,
        Schema("Number of machines; left to the controller or an autoscaler when unset."),
    ] = None
    selector: Annotated[
        LabelSelector,
        Schema("Chooses the machines; must match the template's labels.", required=True),
    ] = Field(default_factory=LabelSelector)
    template: Annotated[
        MachineTemplateSpec, Schema("What each machine is made from.", required=True)
    ] = Field(default_factory=MachineTemplateSpec)


class MachineSetV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    failure_message: Annotated[
        str | None, Schema("Details of an error that needs a person.", length=(1, 10240))
    ] = None
    failure_reason: Annotated[str | None, Schema("An error that needs a person, in one word.")] = (
        None
    )
    fully_labeled_replicas: Annotated[
        int | None, Schema("Number of machines with all labels of the template.")
    ] = None
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None


class MachineSetDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[MachineSetV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=MachineSetV1Beta1Status
    )


class MachineSetStatus(NonEmpty):
    """The set as observed."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        MachineSetDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
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
    versions: Annotated[
        list[StatusVersion],
        Schema("Number of machines by Kubernetes version.", items=(1, 100), keys=("version",)),
    ] = Field(default_factory=list)


class MachineSet(KubeObject):
    """A number of equal machines."""

    resource: ClassVar[Resource] = Resource(
        "cluster.x-k8s.io", "v1beta2", "MachineSet", "machinesets"
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        short_names=("ms",),
        columns=(
            CLUSTER_NAME,
            Column.count("Desired", ".spec.replicas"),
            Column.count("Current", ".status.replicas"),
            Column.count("Ready", ".status.readyReplicas"),
            Column.count("Available", ".status.availableReplicas"),
            Column.count("Up-to-date", ".status.upToDateReplicas"),
            PAUSED,
            AGE,
            Column("Version", ".spec.template.spec.version"),
        ),
        scale=True,
    )

    spec: Annotated[MachineSetSpec, Schema(required=True)] = Field(default_factory=MachineSetSpec)
    status: MachineSetStatus = Field(default_factory=MachineSetStatus)
