"""spec.topology of a Cluster: the cluster as a ClusterClass and its variables."""

from typing import Annotated, Any

from pydantic import Field

from capi_core.api.healthcheck import ControlPlaneHealthCheck, MachineDeploymentHealthCheck
from capi_core.api.machinedeployment import MachineDeploymentRollout
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Schema, Seconds, Subdomain, Time
from capi_core.api.shared import (
    MachineDeletion,
    MachineReadinessGate,
    MachineTaint,
    TemplateMetadata,
)


class ClusterClassRef(Model):
    """The ClusterClass that the cluster is made from."""

    name: Annotated[Subdomain, Schema("Name of the ClusterClass.", required=True)] = ""
    namespace: Annotated[
        str | None,
        Schema(
            "Namespace of the ClusterClass; the cluster's when unset.",
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            length=(1, 63),
        ),
    ] = None


class ControlPlaneTopologyRollout(NonEmpty):
    """When the control plane machines are replaced."""

    after: Annotated[
        Time | None, Schema("Replace machines that are older than this time, once it has come.")
    ] = None


class ClusterVariable(Model):
    """The value of a variable of the ClusterClass."""

    name: Annotated[str, Schema("Name of the variable.", required=True, length=(1, 256))] = ""
    value: Annotated[
        Any | None,
        Schema(
            "Any JSON value that fits the variable's schema.", required=True, preserve_unknown=True
        ),
    ] = None


class VariableOverrides(NonEmpty):
    """Variables with another value for one part of the topology."""

    overrides: Annotated[
        list[ClusterVariable],
        Schema("Values that take the place of the cluster's.", items=(1, 1000), keys=("name",)),
    ] = Field(default_factory=list)


class ControlPlaneTopology(NonEmpty):
    """The control plane of a cluster that is made from a class."""

    deletion: Annotated[MachineDeletion, Schema("Time limits for the deletion of machines.")] = (
        Field(default_factory=MachineDeletion)
    )
    health_check: Annotated[
        ControlPlaneHealthCheck, Schema("Health check in place of the class's.")
    ] = Field(default_factory=ControlPlaneHealthCheck)
    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    readiness_gates: Annotated[
        list[MachineReadinessGate],
        Schema(
            "Further conditions that must hold for a machine to be Ready.",
            items=(1, 32),
            keys=("conditionType",),
        ),
    ] = Field(default_factory=list)
    replicas: Annotated[
        int | None,
        Schema("Number of machines; left to the controller or an autoscaler when unset."),
    ] = None
    rollout: Annotated[
        ControlPlaneTopologyRollout, Schema("When and how machines are replaced.")
    ] = Field(default_factory=ControlPlaneTopologyRollout)
    taints: Annotated[
        list[MachineTaint],
        Schema("Taints of the machines' nodes.", items=(1, 64), keys=("key", "effect")),
    ] = Field(default_factory=list)
    variables: Annotated[VariableOverrides, Schema("Variables of the control plane alone.")] = (
        Field(default_factory=VariableOverrides)
    )


class MachineDeploymentTopologyDeletion(NonEmpty):
    """How machines of the deployment are chosen and deleted."""

    node_deletion_timeout_seconds: Annotated[
        Seconds | None, Schema("How long to go on trying to delete the Node; 0 is without end.")
    ] = None
    node_drain_timeout_seconds: Annotated[
        Seconds | None, Schema("How long draining may take; 0 is without end.")
    ] = None
    node_volume_detach_timeout_seconds: Annotated[
        Seconds | None, Schema("How long to wait for volumes to detach; 0 is without end.")
    ] = None
    order: Annotated[
        str | None,
        Schema(
            "Which machines go first when there are too many.", enum=("Random", "Newest", "Oldest")
        ),
    ] = None


class MachineDeploymentTopology(Model):
    """One set of workers made from a class of machine deployments."""

    class_: Annotated[
        str, Schema("Name of the class in the ClusterClass.", required=True, length=(1, 256))
    ] = Field(alias="class", default="")
    deletion: Annotated[
        MachineDeploymentTopologyDeletion,
        Schema("Time limits and order for the deletion of machines."),
    ] = Field(default_factory=MachineDeploymentTopologyDeletion)
    failure_domain: Annotated[
        str | None, Schema("Where the machine is to run.", length=(1, 256))
    ] = None
    health_check: Annotated[
        MachineDeploymentHealthCheck, Schema("Health check in place of the class's.")
    ] = Field(default_factory=MachineDeploymentHealthCheck)
    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    min_ready_seconds: Annotated[
        Seconds | None, Schema("How long a machine has to be Ready to count as available.")
    ] = None
    name: Annotated[
        str,
        Schema(
            "Name of this entry; it becomes part of the deployment's name.",
            required=True,
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            length=(1, 63),
        ),
    ] = ""
    readiness_gates: Annotated[
        list[MachineReadinessGate],
        Schema(
            "Further conditions that must hold for a machine to be Ready.",
            items=(1, 32),
            keys=("conditionType",),
        ),
    ] = Field(default_factory=list)
    replicas: Annotated[
        int | None,
        Schema("Number of machines; left to the controller or an autoscaler when unset."),
    ] = None
    rollout: Annotated[MachineDeploymentRollout, Schema("When and how machines are replaced.")] = (
        Field(default_factory=MachineDeploymentRollout)
    )
    taints: Annotated[
        list[MachineTaint],
        Schema("Taints of the machines' nodes.", items=(1, 64), keys=("key", "effect")),
    ] = Field(default_factory=list)
    variables: Annotated[VariableOverrides, Schema("Variables of this deployment alone.")] = Field(
        default_factory=VariableOverrides
    )


class MachinePoolTopology(Model):
    """One set of workers made from a class of machine pools."""

    class_: Annotated[
        str, Schema("Name of the class in the ClusterClass.", required=True, length=(1, 256))
    ] = Field(alias="class", default="")
    deletion: Annotated[MachineDeletion, Schema("Time limits for the deletion of machines.")] = (
        Field(default_factory=MachineDeletion)
    )
    failure_domains: Annotated[
        list[str],
        Schema(
            "Where the machines are to run.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)
    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    min_ready_seconds: Annotated[
        Seconds | None, Schema("How long a machine has to be Ready to count as available.")
    ] = None
    name: Annotated[
        str,
        Schema(
            "Name of this entry; it becomes part of the pool's name.",
            required=True,
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            length=(1, 63),
        ),
    ] = ""
    replicas: Annotated[
        int | None,
        Schema("Number of machines; left to the controller or an autoscaler when unset."),
    ] = None
    taints: Annotated[
        list[MachineTaint],
        Schema("Taints of the machines' nodes.", items=(1, 64), keys=("key", "effect")),
    ] = Field(default_factory=list)
    variables: Annotated[VariableOverrides, Schema("Variables of this pool alone.")] = Field(
        default_factory=VariableOverrides
    )


class WorkersTopology(NonEmpty):
    """The workers of a cluster that is made from a class."""

    machine_deployments: Annotated[
        list[MachineDeploymentTopology],
        Schema("Workers in machine deployments.", items=(1, 2000), keys=("name",)),
    ] = Field(default_factory=list)
    machine_pools: Annotated[
        list[MachinePoolTopology],
        Schema("Workers in machine pools.", items=(1, 2000), keys=("name",)),
    ] = Field(default_factory=list)


class Topology(Model):
    """A whole cluster described by a ClusterClass and its variables."""

    class_ref: Annotated[ClusterClassRef, Schema("The ClusterClass.", required=True)] = Field(
        default_factory=ClusterClassRef
    )
    control_plane: Annotated[ControlPlaneTopology, Schema("The control plane.")] = Field(
        default_factory=ControlPlaneTopology
    )
    variables: Annotated[
        list[ClusterVariable],
        Schema("Values of the class's variables.", items=(1, 1000), keys=("name",)),
    ] = Field(default_factory=list)
    version: Annotated[
        str, Schema("Kubernetes version of the cluster.", required=True, length=(1, 256))
    ] = ""
    workers: Annotated[WorkersTopology, Schema("The workers.")] = Field(
        default_factory=WorkersTopology
    )
