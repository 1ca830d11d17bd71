"""The Cluster: the object that everything of a workload cluster belongs to."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    PAUSED,
    PHASE,
    Column,
    Definition,
    ObservedGeneration,
    QualifiedName,
    Schema,
)
from capi_core.api.shared import (
    APIEndpoint,
    Conditions,
    ContractVersionedObjectReference,
    FailureDomain,
    StatusVersion,
    V1Beta1Condition,
)
from capi_core.api.topology import Topology


class ClusterAvailabilityGate(Model):
    """A condition that takes part in the cluster's Available condition."""

    condition_type: Annotated[QualifiedName, Schema(required=True)] = ""
    polarity: Annotated[str | None, Schema(enum=("Positive", "Negative"))] = None


class NetworkRanges(Model):
    """Address ranges in CIDR notation."""

    cidr_blocks: Annotated[
        list[str], Schema(required=True, items=(1, 100), atomic=True, each=Schema(length=(1, 43)))
    ] = Field(default_factory=list)


class ClusterNetwork(NonEmpty):
    """Addresses and names inside the workload cluster."""

    api_server_port: Annotated[int | None, Schema(between=(1, 65535))] = None
    pods: NetworkRanges = Field(default_factory=NetworkRanges)
    service_domain: Annotated[str | None, Schema(length=(1, 253))] = None
    services: NetworkRanges = Field(default_factory=NetworkRanges)


class ClusterSpec(NonEmpty):
    """The cluster as wanted."""

    availability_gates: Annotated[
        list[ClusterAvailabilityGate], Schema(items=(1, 32), keys=("conditionType",))
    ] = Field(default_factory=list)
    cluster_network: ClusterNetwork = Field(default_factory=ClusterNetwork)
    control_plane_endpoint: APIEndpoint = Field(default_factory=APIEndpoint)
    control_plane_ref: ContractVersionedObjectReference | None = None
    infrastructure_ref: ContractVersionedObjectReference | None = None
    paused: bool | None = None
    topology: Topology | None = None


class ClusterUpgradeStep(Model):
    """A version that an upgrade passes through."""

    version: Annotated[str, Schema(required=True, length=(1, 256))] = ""


class ClusterControlPlaneStatus(Model):
    """Numbers of the control plane's machines."""

    available_replicas: int | None = None
    desired_replicas: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    up_to_date_replicas: int | None = None
    upgrade_plan: Annotated[list[ClusterUpgradeStep], Schema(items=(1, 32), atomic=True)] = Field(
        default_factory=list
    )
    versions: Annotated[list[StatusVersion], Schema(items=(1, 32), atomic=True)] = Field(
        default_factory=list
    )


class ClusterV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: list[V1Beta1Condition] = Field(default_factory=list)
    failure_message: Annotated[str | None, Schema(length=(1, 10240))] = None
    failure_reason: str | None = None


class ClusterDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: ClusterV1Beta1Status = Field(alias="v1beta1", default_factory=ClusterV1Beta1Status)


class ClusterInitialization(NonEmpty):
    """What has been reached once in the cluster's life."""

    control_plane_initialized: bool | None = None
    infrastructure_provisioned: bool | None = None


class WorkersStatus(Model):
    """Numbers of the workers' machines."""

    available_replicas: int | None = None
    desired_replicas: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    up_to_date_replicas: int | None = None
    upgrade_plan: Annotated[list[ClusterUpgradeStep], Schema(items=(1, 32), atomic=True)] = Field(
        default_factory=list
    )
    versions: Annotated[list[StatusVersion], Schema(items=(1, 32), atomic=True)] = Field(
        default_factory=list
    )


class ClusterStatus(NonEmpty):
    """The cluster as observed."""

    conditions: Conditions = Field(default_factory=list)
    control_plane: ClusterControlPlaneStatus = Field(default_factory=ClusterControlPlaneStatus)
    deprecated: ClusterDeprecatedStatus | None = None
    failure_domains: Annotated[list[FailureDomain], Schema(items=(1, 100), keys=("name",))] = Field(
        default_factory=list
    )
    initialization: ClusterInitialization = Field(default_factory=ClusterInitialization)
    observed_generation: ObservedGeneration | None = None
    phase: Annotated[
        str | None,
        Schema(enum=("Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown")),
    ] = None
    workers: WorkersStatus = Field(default_factory=WorkersStatus)


class Cluster(KubeObject):
    """A workload cluster."""

    resource: ClassVar[Resource] = Resource("cluster.x-k8s.io", "v1beta2", "Cluster", "clusters")
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        short_names=("cl",),
        columns=(
            Column("ClusterClass", ".spec.topology.classRef.name"),
            Column.condition("Available"),
            Column.count("CP Desired", ".status.controlPlane.desiredReplicas"),
            Column.count("CP Current", ".status.controlPlane.replicas", 10),
            Column.count("CP Ready", ".status.controlPlane.readyReplicas", 10),
            Column.count("CP Available", ".status.controlPlane.availableReplicas"),
            Column.count("CP Up-to-date", ".status.controlPlane.upToDateReplicas"),
            Column.count("W Desired", ".status.workers.desiredReplicas"),
            Column.count("W Current", ".status.workers.replicas", 10),
            Column.count("W Ready", ".status.workers.readyReplicas", 10),
            Column.count("W Available", ".status.workers.availableReplicas"),
            Column.count("W Up-to-date", ".status.workers.upToDateReplicas"),
            PAUSED,
            PHASE,
            AGE,
            Column("Version", ".spec.topology.version"),
        ),
    )

    spec: Annotated[ClusterSpec, Schema(required=True)] = Field(default_factory=ClusterSpec)
    status: ClusterStatus = Field(default_factory=ClusterStatus)
