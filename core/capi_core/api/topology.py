"""spec.topology of a Cluster: the cluster as a ClusterClass and its variables."""

from typing import Annotated, Any

from pydantic import Field

from capi_core.api.machinedeployment import MachineDeploymentRollout
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import (
    IntOrString,
    KindName,
    QualifiedName,
    Rule,
    Schema,
    Seconds,
    Subdomain,
    Time,
)
from capi_core.api.shared import (
    MachineDeletion,
    MachineReadinessGate,
    MachineTaint,
    TemplateMetadata,
)

FOREIGN_CONDITION = Rule(
    "!(self in ['Ready', 'Available', 'HealthCheckSucceeded', 'OwnerRemediated', "
    "'ExternallyRemediated'])",
    "must not be a condition that health checking or remediation sets itself",
)
API_VERSION = (
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
    r"\/[a-z]([-a-z0-9]*[a-z0-9])?$"
)


class ClusterClassRef(Model):
    """The ClusterClass that the cluster is made from."""

    name: Annotated[Subdomain, Schema(required=True)] = ""
    namespace: Annotated[
        str | None, Schema(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", length=(1, 63))
    ] = None


class UnhealthyMachineCondition(Model):
    """A machine condition that means unhealthy once it has lasted."""

    status: Annotated[str, Schema(required=True, enum=("True", "False", "Unknown"))] = ""
    timeout_seconds: Annotated[Seconds | None, Schema(required=True)] = None
    type: Annotated[QualifiedName, Schema(required=True, rules=(FOREIGN_CONDITION,))] = ""


class UnhealthyNodeCondition(Model):
    """A node condition that means unhealthy once it has lasted."""

    status: Annotated[str, Schema(required=True, length=(1, None))] = ""
    timeout_seconds: Annotated[Seconds | None, Schema(required=True)] = None
    type: Annotated[str, Schema(required=True, length=(1, None))] = ""


class HealthChecks(NonEmpty):
    """What makes a machine count as unhealthy."""

    node_startup_timeout_seconds: Seconds | None = None
    unhealthy_machine_conditions: Annotated[
        list[UnhealthyMachineCondition], Schema(items=(1, 100), atomic=True)
    ] = Field(default_factory=list)
    unhealthy_node_conditions: Annotated[
        list[UnhealthyNodeCondition], Schema(items=(1, 100), atomic=True)
    ] = Field(default_factory=list)


class RemediationTemplateRef(Model):
    """The template of the object that an outside remediator acts on."""

    api_version: Annotated[str, Schema(required=True, pattern=API_VERSION, length=(1, 317))] = ""
    kind: Annotated[KindName, Schema(required=True)] = ""
    name: Annotated[Subdomain, Schema(required=True)] = ""


class RemediationTrigger(NonEmpty):
    """How many machines may be unhealthy for remediation to go on."""

    unhealthy_in_range: Annotated[
        str | None, Schema(pattern=r"^\[[0-9]+-[0-9]+\]$", length=(1, 32))
    ] = None
    unhealthy_less_than_or_equal_to: IntOrString | None = None


class ControlPlaneRemediation(NonEmpty):
    """Whether and how unhealthy control plane machines are replaced."""

    template_ref: RemediationTemplateRef = Field(default_factory=RemediationTemplateRef)
    trigger_if: RemediationTrigger = Field(default_factory=RemediationTrigger)


class ControlPlaneHealthCheck(NonEmpty):
    """The health check of the control plane machines."""

    checks: HealthChecks = Field(default_factory=HealthChecks)
    enabled: bool | None = None
    remediation: ControlPlaneRemediation = Field(default_factory=ControlPlaneRemediation)


class ControlPlaneTopologyRollout(NonEmpty):
    """When the control plane machines are replaced."""

    after: Time | None = None


class ClusterVariable(Model):
    """The value of a variable of the ClusterClass."""

    name: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    value: Annotated[Any | None, Schema(required=True, preserve_unknown=True)] = None


class VariableOverrides(NonEmpty):
    """Variables with another value for one part of the topology."""

    overrides: Annotated[list[ClusterVariable], Schema(items=(1, 1000), keys=("name",))] = Field(
        default_factory=list
    )


class ControlPlaneTopology(NonEmpty):
    """The control plane of a cluster that is made from a class."""

    deletion: MachineDeletion = Field(default_factory=MachineDeletion)
    health_check: ControlPlaneHealthCheck = Field(default_factory=ControlPlaneHealthCheck)
    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    readiness_gates: Annotated[
        list[MachineReadinessGate], Schema(items=(1, 32), keys=("conditionType",))
    ] = Field(default_factory=list)
    replicas: int | None = None
    rollout: ControlPlaneTopologyRollout = Field(default_factory=ControlPlaneTopologyRollout)
    taints: Annotated[list[MachineTaint], Schema(items=(1, 64), keys=("key", "effect"))] = Field(
        default_factory=list
    )
    variables: VariableOverrides = Field(default_factory=VariableOverrides)


class MachineDeploymentTopologyDeletion(NonEmpty):
    """How machines of the deployment are chosen and deleted."""

    node_deletion_timeout_seconds: Seconds | None = None
    node_drain_timeout_seconds: Seconds | None = None
    node_volume_detach_timeout_seconds: Seconds | None = None
    order: Annotated[str | None, Schema(enum=("Random", "Newest", "Oldest"))] = None


class MachineDeploymentRemediationPolicy(NonEmpty):
    """Whether and how unhealthy worker machines are replaced."""

    max_in_flight: IntOrString | None = None
    template_ref: RemediationTemplateRef = Field(default_factory=RemediationTemplateRef)
    trigger_if: RemediationTrigger = Field(default_factory=RemediationTrigger)


class MachineDeploymentHealthCheck(NonEmpty):
    """The health check of the deployment's machines."""

    checks: HealthChecks = Field(default_factory=HealthChecks)
    enabled: bool | None = None
    remediation: MachineDeploymentRemediationPolicy = Field(
        default_factory=MachineDeploymentRemediationPolicy
    )


class MachineDeploymentTopology(Model):
    """One set of workers made from a class of machine deployments."""

    class_: Annotated[str, Schema(required=True, length=(1, 256))] = Field(
        alias="class", default=""
    )
    deletion: MachineDeploymentTopologyDeletion = Field(
        default_factory=MachineDeploymentTopologyDeletion
    )
    failure_domain: Annotated[str | None, Schema(length=(1, 256))] = None
    health_check: MachineDeploymentHealthCheck = Field(default_factory=MachineDeploymentHealthCheck)
    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    min_ready_seconds: Seconds | None = None
    name: Annotated[
        str,
        Schema(
            required=True,
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            length=(1, 63),
        ),
    ] = ""
    readiness_gates: Annotated[
        list[MachineReadinessGate], Schema(items=(1, 32), keys=("conditionType",))
    ] = Field(default_factory=list)
    replicas: int | None = None
    rollout: MachineDeploymentRollout = Field(default_factory=MachineDeploymentRollout)
    taints: Annotated[list[MachineTaint], Schema(items=(1, 64), keys=("key", "effect"))] = Field(
        default_factory=list
    )
    variables: VariableOverrides = Field(default_factory=VariableOverrides)


class MachinePoolTopology(Model):
    """One set of workers made from a class of machine pools."""

    class_: Annotated[str, Schema(required=True, length=(1, 256))] = Field(
        alias="class", default=""
    )
    deletion: MachineDeletion = Field(default_factory=MachineDeletion)
    failure_domains: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 256)))
    ] = Field(default_factory=list)
    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    min_ready_seconds: Seconds | None = None
    name: Annotated[
        str,
        Schema(
            required=True,
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            length=(1, 63),
        ),
    ] = ""
    replicas: int | None = None
    taints: Annotated[list[MachineTaint], Schema(items=(1, 64), keys=("key", "effect"))] = Field(
        default_factory=list
    )
    variables: VariableOverrides = Field(default_factory=VariableOverrides)


class WorkersTopology(NonEmpty):
    """The workers of a cluster that is made from a class."""

    machine_deployments: Annotated[
        list[MachineDeploymentTopology], Schema(items=(1, 2000), keys=("name",))
    ] = Field(default_factory=list)
    machine_pools: Annotated[list[MachinePoolTopology], Schema(items=(1, 2000), keys=("name",))] = (
        Field(default_factory=list)
    )


class Topology(Model):
    """A whole cluster described by a ClusterClass and its variables."""

    class_ref: Annotated[ClusterClassRef, Schema(required=True)] = Field(
        default_factory=ClusterClassRef
    )
    control_plane: ControlPlaneTopology = Field(default_factory=ControlPlaneTopology)
    variables: Annotated[list[ClusterVariable], Schema(items=(1, 1000), keys=("name",))] = Field(
        default_factory=list
    )
    version: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    workers: WorkersTopology = Field(default_factory=WorkersTopology)
