"""The MachinePool: equal machines that their infrastructure manages as one."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.machine import MachineTemplateSpec
from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_NAME,
    PAUSED,
    PHASE,
    Column,
    Definition,
    ObservedGeneration,
    Schema,
)
from capi_core.api.shared import Conditions, StatusVersion, V1Beta1Condition


class MachinePoolSpec(Model):
    """The pool as wanted."""

    cluster_name: Annotated[
        str, Schema("Name of the cluster that this belongs to.", required=True, length=(1, 63))
    ] = ""
    failure_domains: Annotated[
        list[str],
        Schema(
            "Where the machines may run.",
            items=(None, 100),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)
    provider_id_list: Annotated[
        list[str],
        Schema(
            "Identifies the machines at their infrastructure.",
            items=(None, 10000),
            atomic=True,
            each=Schema(length=(1, 512)),
        ),
    ] = Field(alias="providerIDList", default_factory=list)
    replicas: Annotated[
        int | None,
        Schema("Number of machines; left to the controller or an autoscaler when unset."),
    ] = None
    template: Annotated[
        MachineTemplateSpec, Schema("What each machine is made from.", required=True)
    ] = Field(default_factory=MachineTemplateSpec)


class MachinePoolV1Beta1Status(Model):
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
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None
    unavailable_replicas: Annotated[
        int | None, Schema("Number of machines that are missing or not available.")
    ] = None


class MachinePoolDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[MachinePoolV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=MachinePoolV1Beta1Status
    )


class MachinePoolInitialization(NonEmpty):
    """What has been reached once in the pool's life."""

    bootstrap_data_secret_created: Annotated[
        bool | None, Schema("The bootstrap data has been there once.")
    ] = None
    infrastructure_provisioned: Annotated[
        bool | None, Schema("The infrastructure has been there once.")
    ] = None


class ObjectReference(Model):
    """A Node of the workload cluster."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    api_version: Annotated[str | None, Schema("Group and version.")] = None
    field_path: Annotated[str | None, Schema("Part of the object that is meant.")] = None
    kind: Annotated[str | None, Schema("Kind.")] = None
    name: Annotated[str | None, Schema("Name.")] = None
    namespace: Annotated[str | None, Schema("Namespace.")] = None
    resource_version: Annotated[str | None, Schema("Version of the object that was seen.")] = None
    uid: Annotated[str | None, Schema("UID.")] = None


class MachinePoolStatus(NonEmpty):
    """The pool as observed."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        MachinePoolDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    initialization: Annotated[MachinePoolInitialization, Schema("What has been reached once.")] = (
        Field(default_factory=MachinePoolInitialization)
    )
    node_refs: Annotated[
        list[ObjectReference], Schema("The nodes.", items=(None, 10000), atomic=True)
    ] = Field(default_factory=list)
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None
    phase: Annotated[
        str | None,
        Schema(
            "The lifecycle in one word, for people.",
            enum=(
                "Pending",
                "Provisioning",
                "Provisioned",
                "Running",
                "ScalingUp",
                "ScalingDown",
                "Scaling",
                "Deleting",
                "Failed",
                "Unknown",
            ),
        ),
    ] = None
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None
    replicas: Annotated[int | None, Schema("Number of machines that exist.")] = None
    up_to_date_replicas: Annotated[
        int | None, Schema("Number of machines that match the current template.")
    ] = None
    versions: Annotated[
        list[StatusVersion],
        Schema("Number of machines by Kubernetes version.", items=(1, 100), keys=("version",)),
    ] = Field(default_factory=list)


class MachinePool(KubeObject):
    """A number of equal machines that their infrastructure manages as one."""

    resource: ClassVar[Resource] = Resource(
        "cluster.x-k8s.io", "v1beta2", "MachinePool", "machinepools"
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        short_names=("mp",),
        columns=(
            CLUSTER_NAME,
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
        scale_selector=False,
    )

    spec: Annotated[MachinePoolSpec, Schema(required=True)] = Field(default_factory=MachinePoolSpec)
    status: MachinePoolStatus = Field(default_factory=MachinePoolStatus)
