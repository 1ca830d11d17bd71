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

    condition_type: Annotated[QualifiedName, Schema("Type of the condition.", required=True)] = ""
    polarity: Annotated[
        str | None,
        Schema(
            "Whether True is good (Positive, when unset) or bad (Negative).",
            enum=("Positive", "Negative"),
        ),
    ] = None


class NetworkRanges(Model):
    """Address ranges in CIDR notation."""

    cidr_blocks: Annotated[
        list[str],
        Schema(
            "Ranges such as 10.244.0.0/16.",
            required=True,
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 43)),
        ),
    ] = Field(default_factory=list)


class ClusterNetwork(NonEmpty):
    """Addresses and names inside the workload cluster."""

    api_server_port: Annotated[
        int | None, Schema("Port on which the API servers listen.", between=(1, 65535))
    ] = None
    pods: Annotated[NetworkRanges, Schema("Where pods get their addresses from.")] = Field(
        default_factory=NetworkRanges
    )
    service_domain: Annotated[
        str | None, Schema("DNS domain of the Services.", length=(1, 253))
    ] = None
    services: Annotated[NetworkRanges, Schema("Where Services get their addresses from.")] = Field(
        default_factory=NetworkRanges
    )


class ClusterSpec(NonEmpty):
    """The cluster as wanted."""

    availability_gates: Annotated[
        list[ClusterAvailabilityGate],
        Schema(
            "Further conditions that must hold for the cluster to be Available.",
            items=(1, 32),
            keys=("conditionType",),
        ),
    ] = Field(default_factory=list)
    cluster_network: Annotated[ClusterNetwork, Schema("Addresses inside the cluster.")] = Field(
        default_factory=ClusterNetwork
    )
    control_plane_endpoint: Annotated[
        APIEndpoint, Schema("Where the API server is reached; the infrastructure may set it.")
    ] = Field(default_factory=APIEndpoint)
    control_plane_ref: Annotated[
        ContractVersionedObjectReference | None, Schema("The object that runs the control plane.")
    ] = None
    infrastructure_ref: Annotated[
        ContractVersionedObjectReference | None,
        Schema("The object that provides the cluster's infrastructure."),
    ] = None
    paused: Annotated[
        bool | None, Schema("Stops all reconciliation of the cluster and its objects.")
    ] = None
    topology: Annotated[Topology | None, Schema("Describes the cluster by a ClusterClass.")] = None


class ClusterUpgradeStep(Model):
    """A version that an upgrade passes through."""

    version: Annotated[str, Schema("Kubernetes version.", required=True, length=(1, 256))] = ""


class ClusterControlPlaneStatus(Model):
    """Numbers of the control plane's machines."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    desired_replicas: Annotated[int | None, Schema("Number of wanted machines.")] = None
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None
    replicas: Annotated[int | None, Schema("Number of machines that exist.")] = None
    up_to_date_replicas: Annotated[
        int | None, Schema("Number of machines that match the current template.")
    ] = None
    upgrade_plan: Annotated[
        list[ClusterUpgradeStep],
        Schema("Versions still to be passed through.", items=(1, 32), atomic=True),
    ] = Field(default_factory=list)
    versions: Annotated[
        list[StatusVersion],
        Schema("Number of machines by Kubernetes version.", items=(1, 32), atomic=True),
    ] = Field(default_factory=list)


class ClusterV1Beta1Status(Model):
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


class ClusterDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[ClusterV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=ClusterV1Beta1Status
    )


class ClusterInitialization(NonEmpty):
    """What has been reached once in the cluster's life."""

    control_plane_initialized: Annotated[
        bool | None, Schema("The control plane has answered once.")
    ] = None
    infrastructure_provisioned: Annotated[
        bool | None, Schema("The infrastructure has been there once.")
    ] = None


class WorkersStatus(Model):
    """Numbers of the workers' machines."""

    available_replicas: Annotated[int | None, Schema("Number of available machines.")] = None
    desired_replicas: Annotated[int | None, Schema("Number of wanted machines.")] = None
    ready_replicas: Annotated[int | None, Schema("Number of ready machines.")] = None
    replicas: Annotated[int | None, Schema("Number of machines that exist.")] = None
    up_to_date_replicas: Annotated[
        int | None, Schema("Number of machines that match the current template.")
    ] = None
    upgrade_plan: Annotated[
        list[ClusterUpgradeStep],
        Schema("Versions still to be passed through.", items=(1, 32), atomic=True),
    ] = Field(default_factory=list)
    versions: Annotated[
        list[StatusVersion],
        Schema("Number of machines by Kubernetes version.", items=(1, 32), atomic=True),
    ] = Field(default_factory=list)


class ClusterStatus(NonEmpty):
    """The cluster as observed."""

    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    control_plane: Annotated[
        ClusterControlPlaneStatus, Schema("Numbers of the control plane's machines.")
    ] = Field(default_factory=ClusterControlPlaneStatus)
    deprecated: Annotated[
        ClusterDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    failure_domains: Annotated[
        list[FailureDomain],
        Schema("Failure domains that the infrastructure offers.", items=(1, 100), keys=("name",)),
    ] = Field(default_factory=list)
    initialization: Annotated[ClusterInitialization, Schema("What has been reached once.")] = Field(
        default_factory=ClusterInitialization
    )
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None
    phase: Annotated[
        str | None,
        Schema(
            "The lifecycle in one word, for people.",
            enum=("Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"),
        ),
    ] = None
    workers: Annotated[WorkersStatus, Schema("Numbers of the workers' machines.")] = Field(
        default_factory=WorkersStatus
    )


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
