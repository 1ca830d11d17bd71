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

    order: Annotated[str | None, Schema(enum=("Random", "Newest", "Oldest"))] = None


class MachineSetSpec(Model):
    """The set as wanted."""

    cluster_name: Annotated[str, Schema(required=True, length=(1, 63))] = ""
    deletion: MachineSetDeletion = Field(default_factory=MachineSetDeletion)
    machine_naming: MachineNaming = Field(default_factory=MachineNaming)
    replicas: int | None = None
    selector: Annotated[LabelSelector, Schema(required=True)] = Field(default_factory=LabelSelector)
    template: Annotated[MachineTemplateSpec, Schema(required=True)] = Field(
        default_factory=MachineTemplateSpec
    )


class MachineSetV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    available_replicas: int | None = None
    conditions: list[V1Beta1Condition] = Field(default_factory=list)
    failure_message: Annotated[str | None, Schema(length=(1, 10240))] = None
    failure_reason: str | None = None
    fully_labeled_replicas: int | None = None
    ready_replicas: int | None = None


class MachineSetDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: MachineSetV1Beta1Status = Field(
        alias="v1beta1", default_factory=MachineSetV1Beta1Status
    )


class MachineSetStatus(NonEmpty):
    """The set as observed."""

    available_replicas: int | None = None
    conditions: Conditions = Field(default_factory=list)
    deprecated: MachineSetDeprecatedStatus | None = None
    observed_generation: ObservedGeneration | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    selector: Annotated[str | None, Schema(length=(1, 4096))] = None
    up_to_date_replicas: int | None = None
    versions: Annotated[list[StatusVersion], Schema(items=(1, 100), keys=("version",))] = Field(
        default_factory=list
    )


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
