"""The Machine: one host and its node."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_NAME,
    PAUSED,
    PHASE,
    Column,
    Definition,
    Int64,
    ObservedGeneration,
    Schema,
    Seconds,
    Subdomain,
    Time,
)
from capi_core.api.shared import (
    Conditions,
    ContractVersionedObjectReference,
    MachineAddress,
    MachineDeletion,
    MachineReadinessGate,
    MachineTaint,
    TemplateMetadata,
    V1Beta1Condition,
)


class Bootstrap(Model):
    """Where the data comes from that makes the machine a node."""

    config_ref: Annotated[
        ContractVersionedObjectReference | None,
        Schema("The object that makes the bootstrap data, or its template."),
    ] = None
    data_secret_name: Annotated[
        str | None, Schema("Secret with the bootstrap data.", length=(0, 253))
    ] = None


class MachineSpec(Model):
    """The machine as wanted."""

    bootstrap: Annotated[
        Bootstrap, Schema("Where the bootstrap data comes from.", required=True)
    ] = Field(default_factory=Bootstrap)
    cluster_name: Annotated[
        str, Schema("Name of the cluster that this belongs to.", required=True, length=(1, 63))
    ] = ""
    deletion: Annotated[MachineDeletion, Schema("Time limits for the deletion of machines.")] = (
        Field(default_factory=MachineDeletion)
    )
    failure_domain: Annotated[
        str | None, Schema("Where the machine is to run.", length=(1, 256))
    ] = None
    infrastructure_ref: Annotated[
        ContractVersionedObjectReference,
        Schema("The object that provides the machine, or its template.", required=True),
    ] = Field(default_factory=ContractVersionedObjectReference)
    min_ready_seconds: Annotated[
        Seconds | None, Schema("How long a machine has to be Ready to count as available.")
    ] = None
    provider_id: Annotated[
        str | None,
        Schema(
            "Identifies the machine at its infrastructure; the node carries the same.",
            length=(1, 512),
        ),
    ] = Field(alias="providerID", default=None)
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
    version: Annotated[str | None, Schema("Kubernetes version of the node.", length=(1, 256))] = (
        None
    )


class MachineDeletionStatus(Model):
    """When the steps of a deletion began."""

    node_drain_start_time: Annotated[Time | None, Schema("When draining began.")] = None
    wait_for_node_volume_detach_start_time: Annotated[
        Time | None, Schema("When waiting for volumes began.")
    ] = None
    wait_for_pre_drain_hook_start_time: Annotated[
        Time | None, Schema("When waiting for the pre-drain hooks began.")
    ] = None
    wait_for_pre_terminate_hook_start_time: Annotated[
        Time | None, Schema("When waiting for the pre-terminate hooks began.")
    ] = None


class MachineV1Beta1Status(Model):
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


class MachineDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[MachineV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=MachineV1Beta1Status
    )


class MachineInitialization(NonEmpty):
    """What has been reached once in the machine's life."""

    bootstrap_data_secret_created: Annotated[
        bool | None, Schema("The bootstrap data has been there once.")
    ] = None
    infrastructure_provisioned: Annotated[
        bool | None, Schema("The infrastructure has been there once.")
    ] = None


class NodeSwapStatus(Model):
    """Swap space of a node."""

    capacity: Annotated[Int64 | None, Schema("Size in bytes.")] = None


class NodeSystemInfo(Model):
    """The node's own report of its software and identity."""

    architecture: Annotated[str, Schema("CPU architecture.", required=True, keep_empty=True)] = ""
    boot_id: Annotated[str, Schema("Changes with each boot.", required=True, keep_empty=True)] = (
        Field(alias="bootID", default="")
    )
    container_runtime_version: Annotated[
        str, Schema("Container runtime and version.", required=True, keep_empty=True)
    ] = ""
    kernel_version: Annotated[str, Schema("Kernel version.", required=True, keep_empty=True)] = ""
    kube_proxy_version: Annotated[
        str, Schema("kube-proxy's version; unused by Kubernetes.", required=True, keep_empty=True)
    ] = ""
    kubelet_version: Annotated[
        str, Schema("kubelet's version.", required=True, keep_empty=True)
    ] = ""
    machine_id: Annotated[
        str, Schema("The host's /etc/machine-id.", required=True, keep_empty=True)
    ] = Field(alias="machineID", default="")
    operating_system: Annotated[
        str, Schema("Operating system.", required=True, keep_empty=True)
    ] = ""
    os_image: Annotated[
        str, Schema("Distribution and version.", required=True, keep_empty=True)
    ] = ""
    swap: Annotated[NodeSwapStatus, Schema("Swap space.")] = Field(default_factory=NodeSwapStatus)
    system_uuid: Annotated[
        str, Schema("The hardware's identifier.", required=True, keep_empty=True)
    ] = Field(alias="systemUUID", default="")


class MachineNodeReference(Model):
    """The machine's node in the workload cluster."""

    name: Annotated[Subdomain, Schema("Name of the Node.", required=True)] = ""


class MachineStatus(NonEmpty):
    """The machine as observed."""

    addresses: Annotated[
        list[MachineAddress],
        Schema("Names and addresses of the machine.", items=(None, 256), atomic=True),
    ] = Field(default_factory=list)
    certificates_expiry_date: Annotated[
        Time | None, Schema("When the control plane certificates on the machine expire.")
    ] = None
    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deletion: Annotated[MachineDeletionStatus, Schema("Progress of the deletion.")] = Field(
        default_factory=MachineDeletionStatus
    )
    deprecated: Annotated[
        MachineDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    failure_domain: Annotated[str | None, Schema("Where the machine runs.", length=(1, 256))] = None
    initialization: Annotated[MachineInitialization, Schema("What has been reached once.")] = Field(
        default_factory=MachineInitialization
    )
    last_updated: Annotated[Time | None, Schema("When the phase last changed.")] = None
    node_info: Annotated[NodeSystemInfo | None, Schema("The node's report of itself.")] = None
    node_ref: Annotated[MachineNodeReference | None, Schema("The node.")] = None
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
                "Updating",
                "Deleting",
                "Deleted",
                "Failed",
                "Unknown",
            ),
        ),
    ] = None


class Machine(KubeObject):
    """One host of a cluster, with the node that runs on it."""

    resource: ClassVar[Resource] = Resource("cluster.x-k8s.io", "v1beta2", "Machine", "machines")
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        short_names=("ma",),
        columns=(
            CLUSTER_NAME,
            Column("Node Name", ".status.nodeRef.name"),
            Column("Provider ID", ".spec.providerID", priority=10),
            Column("Failure domain", ".status.failureDomain"),
            Column.condition("Ready"),
            Column.condition("Available"),
            Column.condition("UpToDate", "Up-to-date"),
            Column(
                "Internal-IP", '.status.addresses[?(@.type=="InternalIP")].address', priority=10
            ),
            Column(
                "External-IP", '.status.addresses[?(@.type=="ExternalIP")].address', priority=10
            ),
            Column("OS-Image", ".status.nodeInfo.osImage", priority=10),
            PAUSED,
            PHASE,
            AGE,
            Column("Version", ".spec.version"),
        ),
    )

    spec: Annotated[MachineSpec, Schema(required=True)] = Field(default_factory=MachineSpec)
    status: MachineStatus = Field(default_factory=MachineStatus)


class MachineTemplateSpec(Model):
    """The machine that a set or deployment makes copies of."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: Annotated[MachineSpec, Schema(required=True)] = Field(default_factory=MachineSpec)
