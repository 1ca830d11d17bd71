"""The ClusterResourceSet and its binding."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_NAME,
    PAUSED,
    Column,
    Definition,
    ObservedGeneration,
    Schema,
    Time,
)
from capi_core.api.shared import Conditions, LabelSelector, V1Beta1Condition


class ResourceRef(Model):
    """A Secret or ConfigMap with manifests."""

    kind: Annotated[
        str, Schema("Secret or ConfigMap.", required=True, enum=("Secret", "ConfigMap"))
    ] = ""
    name: Annotated[str, Schema("Name of the object.", required=True, length=(1, 253))] = ""


class ClusterResourceSetSpec(Model):
    """The set as wanted."""

    cluster_selector: Annotated[
        LabelSelector, Schema("Chooses clusters by their labels; none when empty.", required=True)
    ] = Field(default_factory=LabelSelector)
    resources: Annotated[
        list[ResourceRef], Schema("What to apply.", required=True, items=(1, 100), atomic=True)
    ] = Field(default_factory=list)
    strategy: Annotated[
        str | None,
        Schema("Apply once, or again whenever something changes.", enum=("ApplyOnce", "Reconcile")),
    ] = None


class ClusterResourceSetV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )


class ClusterResourceSetDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[ClusterResourceSetV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=ClusterResourceSetV1Beta1Status
    )


class ClusterResourceSetStatus(NonEmpty):
    """The set as observed."""

    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        ClusterResourceSetDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None


class ClusterResourceSet(KubeObject):
    """Objects that are applied to every chosen cluster."""

    resource: ClassVar[Resource] = Resource(
        "addons.cluster.x-k8s.io", "v1beta2", "ClusterResourceSet", "clusterresourcesets"
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        columns=(
            Column.condition("ResourcesApplied", "Applied"),
            PAUSED,
            AGE,
        ),
    )

    spec: Annotated[ClusterResourceSetSpec, Schema(required=True)] = Field(
        default_factory=ClusterResourceSetSpec
    )
    status: ClusterResourceSetStatus = Field(default_factory=ClusterResourceSetStatus)


class ResourceBinding(Model):
    """The state of one Secret or ConfigMap."""

    applied: Annotated[bool | None, Schema("Whether it has been applied.", required=True)] = None
    hash: Annotated[str | None, Schema("Hash of what was applied.", length=(1, 256))] = None
    kind: Annotated[
        str, Schema("Secret or ConfigMap.", required=True, enum=("Secret", "ConfigMap"))
    ] = ""
    last_applied_time: Annotated[Time | None, Schema("When it was last applied.")] = None
    name: Annotated[str, Schema("Name of the object.", required=True, length=(1, 253))] = ""


class ResourceSetBinding(Model):
    """What one set has applied."""

    cluster_resource_set_name: Annotated[
        str, Schema("Name of the set.", required=True, length=(1, 253))
    ] = ""
    resources: Annotated[
        list[ResourceBinding], Schema("What the set has applied.", items=(None, 100), atomic=True)
    ] = Field(default_factory=list)


class ClusterResourceSetBindingSpec(Model):
    """The binding as wanted."""

    bindings: Annotated[
        list[ResourceSetBinding],
        Schema("The sets that chose the cluster.", items=(None, 100), atomic=True),
    ] = Field(default_factory=list)
    cluster_name: Annotated[
        str, Schema("Name of the cluster that this belongs to.", required=True, length=(1, 63))
    ] = ""


class ClusterResourceSetBinding(KubeObject):
    """What has been applied to a cluster."""

    resource: ClassVar[Resource] = Resource(
        "addons.cluster.x-k8s.io",
        "v1beta2",
        "ClusterResourceSetBinding",
        "clusterresourcesetbindings",
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        columns=(
            CLUSTER_NAME,
            AGE,
        ),
    )

    spec: Annotated[ClusterResourceSetBindingSpec, Schema(required=True)] = Field(
        default_factory=ClusterResourceSetBindingSpec
    )
