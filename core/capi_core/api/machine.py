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

    config_ref: ContractVersionedObjectReference | None = None
    data_secret_name: Annotated[str | None, Schema(length=(0, 253))] = None


class MachineSpec(Model):
    """The machine as wanted."""

    bootstrap: Annotated[Bootstrap, Schema(required=True)] = Field(default_factory=Bootstrap)
    cluster_name: Annotated[str, Schema(required=True, length=(1, 63))] = ""
    deletion: MachineDeletion = Field(default_factory=MachineDeletion)
    failure_domain: Annotated[str | None, Schema(length=(1, 256))] = None
    infrastructure_ref: Annotated[ContractVersionedObjectReference, Schema(required=True)] = Field(
        default_factory=ContractVersionedObjectReference
    )
    min_ready_seconds: Seconds | None = None
    provider_id: Annotated[str | None, Schema(length=(1, 512))] = Field(
        alias="providerID", default=None
    )
    readiness_gates: Annotated[
        list[MachineReadinessGate], Schema(items=(1, 32), keys=("conditionType",))
    ] = Field(default_factory=list)
    taints: Annotated[list[MachineTaint], Schema(items=(1, 64), keys=("key", "effect"))] = Field(
        default_factory=list
    )
    version: Annotated[str | None, Schema(length=(1, 256))] = None


class MachineDeletionStatus(Model):
    """When the steps of a deletion began."""

    node_drain_start_time: Time | None = None
    wait_for_node_volume_detach_start_time: Time | None = None
    wait_for_pre_drain_hook_start_time: Time | None = None
    wait_for_pre_terminate_hook_start_time: Time | None = None


class MachineV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: list[V1Beta1Condition] = Field(default_factory=list)
    failure_message: Annotated[str | None, Schema(length=(1, 10240))] = None
    failure_reason: str | None = None


class MachineDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: MachineV1Beta1Status = Field(alias="v1beta1", default_factory=MachineV1Beta1Status)


class MachineInitialization(NonEmpty):
    """What has been reached once in the machine's life."""

    bootstrap_data_secret_created: bool | None = None
    infrastructure_provisioned: bool | None = None


class NodeSwapStatus(Model):
    """Swap space of a node."""

    capacity: Int64 | None = None


class NodeSystemInfo(Model):
    """The node's own report of its software and identity."""

    architecture: Annotated[str, Schema(required=True)]
    boot_id: Annotated[str, Schema(required=True)] = Field(alias="bootID")
    container_runtime_version: Annotated[str, Schema(required=True)]
    kernel_version: Annotated[str, Schema(required=True)]
    kube_proxy_version: Annotated[str, Schema(required=True)]
    kubelet_version: Annotated[str, Schema(required=True)]
    machine_id: Annotated[str, Schema(required=True)] = Field(alias="machineID")
    operating_system: Annotated[str, Schema(required=True)]
    os_image: Annotated[str, Schema(required=True)]
    swap: NodeSwapStatus = Field(default_factory=NodeSwapStatus)
    system_uuid: Annotated[str, Schema(required=True)] = Field(alias="systemUUID")


class MachineNodeReference(Model):
    """The machine's node in the workload cluster."""

    name: Annotated[Subdomain, Schema(required=True)] = ""


class MachineStatus(NonEmpty):
    """The machine as observed."""

    addresses: Annotated[list[MachineAddress], Schema(items=(None, 256), atomic=True)] = Field(
        default_factory=list
    )
    certificates_expiry_date: Time | None = None
    conditions: Conditions = Field(default_factory=list)
    deletion: MachineDeletionStatus = Field(default_factory=MachineDeletionStatus)
    deprecated: MachineDeprecatedStatus | None = None
    failure_domain: Annotated[str | None, Schema(length=(1, 256))] = None
    initialization: MachineInitialization = Field(default_factory=MachineInitialization)
    last_updated: Time | None = None
    node_info: NodeSystemInfo | None = None
    node_ref: MachineNodeReference | None = None
    observed_generation: ObservedGeneration | None = None
    phase: Annotated[
        str | None,
        Schema(
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
            )
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

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: Annotated[MachineSpec, Schema(required=True)] = Field(default_factory=MachineSpec)
