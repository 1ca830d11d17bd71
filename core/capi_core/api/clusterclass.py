"""The ClusterClass: a pattern that clusters are made from."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.classpatches import ClusterClassPatch
from capi_core.api.classvariables import ClusterClassStatusVariable, ClusterClassVariable
from capi_core.api.cluster import ClusterAvailabilityGate
from capi_core.api.healthcheck import (
    API_VERSION,
    HealthChecks,
    MachineDeploymentRemediationPolicy,
    RemediationPolicy,
)
from capi_core.api.machinedeployment import MachineDeploymentRolloutStrategy
from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    PAUSED,
    Column,
    Definition,
    KindName,
    ObservedGeneration,
    Schema,
    Seconds,
    Subdomain,
)
from capi_core.api.shared import (
    Conditions,
    MachineDeletion,
    MachineReadinessGate,
    MachineTaint,
    TemplateMetadata,
    V1Beta1Condition,
)
from capi_core.api.topology import MachineDeploymentTopologyDeletion


class ControlPlaneClassHealthCheck(NonEmpty):
    """The health check of the control plane machines."""

    checks: Annotated[HealthChecks, Schema("What counts as unhealthy.")] = Field(
        default_factory=HealthChecks
    )
    remediation: Annotated[RemediationPolicy, Schema("What happens with unhealthy machines.")] = (
        Field(default_factory=RemediationPolicy)
    )


class ClusterClassTemplateReference(Model):
    """A template in the class's namespace."""

    api_version: Annotated[
        str,
        Schema(
            "Group and version of the template.",
            required=True,
            pattern=API_VERSION,
            length=(1, 317),
        ),
    ] = ""
    kind: Annotated[KindName, Schema("Kind of the template.", required=True)] = ""
    name: Annotated[Subdomain, Schema("Name of the template.", required=True)] = ""


class ControlPlaneMachineInfrastructure(Model):
    """Infrastructure of the control plane machines."""

    template_ref: Annotated[
        ClusterClassTemplateReference, Schema("The template.", required=True)
    ] = Field(default_factory=ClusterClassTemplateReference)


class ClassNaming(NonEmpty):
    """How the object is named."""

    template: Annotated[str | None, Schema("Go template of the name.", length=(1, 1024))] = None


class ControlPlaneClass(Model):
    """The control plane of the class's clusters."""

    deletion: Annotated[MachineDeletion, Schema("Time limits for the deletion of machines.")] = (
        Field(default_factory=MachineDeletion)
    )
    health_check: Annotated[
        ControlPlaneClassHealthCheck, Schema("Health check of the machines.")
    ] = Field(default_factory=ControlPlaneClassHealthCheck)
    machine_infrastructure: Annotated[
        ControlPlaneMachineInfrastructure | None,
        Schema("Infrastructure of the control plane machines, where it has any."),
    ] = None
    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    naming: Annotated[ClassNaming, Schema("How the object is named.")] = Field(
        default_factory=ClassNaming
    )
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
    template_ref: Annotated[
        ClusterClassTemplateReference, Schema("The control plane's template.", required=True)
    ] = Field(default_factory=ClusterClassTemplateReference)


class InfrastructureClass(Model):
    """Infrastructure of the class's clusters."""

    naming: Annotated[ClassNaming, Schema("How the object is named.")] = Field(
        default_factory=ClassNaming
    )
    template_ref: Annotated[
        ClusterClassTemplateReference, Schema("The infrastructure's template.", required=True)
    ] = Field(default_factory=ClusterClassTemplateReference)


class ExternalUpgrade(NonEmpty):
    """An extension that plans upgrades."""

    generate_upgrade_plan_extension: Annotated[
        str | None, Schema("Extension that names the versions in between.", length=(1, 512))
    ] = None


class ClusterClassUpgrade(NonEmpty):
    """How clusters are upgraded."""

    external: Annotated[ExternalUpgrade, Schema("An extension that plans upgrades.")] = Field(
        default_factory=ExternalUpgrade
    )


class WorkerTemplate(Model):
    """A template that workers are made from."""

    template_ref: Annotated[
        ClusterClassTemplateReference, Schema("The template.", required=True)
    ] = Field(default_factory=ClusterClassTemplateReference)


class MachineDeploymentClassHealthCheck(NonEmpty):
    """The health check of the deployment's machines."""

    checks: Annotated[HealthChecks, Schema("What counts as unhealthy.")] = Field(
        default_factory=HealthChecks
    )
    remediation: Annotated[
        MachineDeploymentRemediationPolicy, Schema("What happens with unhealthy machines.")
    ] = Field(default_factory=MachineDeploymentRemediationPolicy)


class MachineDeploymentClassRollout(NonEmpty):
    """How machines are replaced."""

    strategy: Annotated[MachineDeploymentRolloutStrategy, Schema("How machines are replaced.")] = (
        Field(default_factory=MachineDeploymentRolloutStrategy)
    )


class MachineDeploymentClass(Model):
    """Workers in a machine deployment."""

    bootstrap: Annotated[
        WorkerTemplate, Schema("Template of the bootstrap data.", required=True)
    ] = Field(default_factory=WorkerTemplate)
    class_: Annotated[
        str, Schema("Name of the class in the ClusterClass.", required=True, length=(1, 256))
    ] = Field(alias="class", default="")
    deletion: Annotated[
        MachineDeploymentTopologyDeletion, Schema("Time limits for the deletion of machines.")
    ] = Field(default_factory=MachineDeploymentTopologyDeletion)
    failure_domain: Annotated[
        str | None, Schema("Where the machine is to run.", length=(1, 256))
    ] = None
    health_check: Annotated[
        MachineDeploymentClassHealthCheck, Schema("Health check of the machines.")
    ] = Field(default_factory=MachineDeploymentClassHealthCheck)
    infrastructure: Annotated[
        WorkerTemplate, Schema("Template of the infrastructure.", required=True)
    ] = Field(default_factory=WorkerTemplate)
    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    min_ready_seconds: Annotated[
        Seconds | None, Schema("How long a machine has to be Ready to count as available.")
    ] = None
    naming: Annotated[ClassNaming, Schema("How the object is named.")] = Field(
        default_factory=ClassNaming
    )
    readiness_gates: Annotated[
        list[MachineReadinessGate],
        Schema(
            "Further conditions that must hold for a machine to be Ready.",
            items=(1, 32),
            keys=("conditionType",),
        ),
    ] = Field(default_factory=list)
    rollout: Annotated[
        MachineDeploymentClassRollout, Schema("When and how machines are replaced.")
    ] = Field(default_factory=MachineDeploymentClassRollout)
    taints: Annotated[
        list[MachineTaint],
        Schema("Taints of the machines' nodes.", items=(1, 64), keys=("key", "effect")),
    ] = Field(default_factory=list)


class MachinePoolClass(Model):
    """Workers in a machine pool."""

    bootstrap: Annotated[
        WorkerTemplate, Schema("Template of the bootstrap data.", required=True)
    ] = Field(default_factory=WorkerTemplate)
    class_: Annotated[
        str, Schema("Name of the class in the ClusterClass.", required=True, length=(1, 256))
    ] = Field(alias="class", default="")
    deletion: Annotated[MachineDeletion, Schema("Time limits for the deletion of machines.")] = (
        Field(default_factory=MachineDeletion)
    )
    failure_domains: Annotated[
        list[str],
        Schema(
            "Where the machines may run.",
            items=(None, 100),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)
    infrastructure: Annotated[
        WorkerTemplate, Schema("Template of the infrastructure.", required=True)
    ] = Field(default_factory=WorkerTemplate)
    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    min_ready_seconds: Annotated[
        Seconds | None, Schema("How long a machine has to be Ready to count as available.")
    ] = None
    naming: Annotated[ClassNaming, Schema("How the object is named.")] = Field(
        default_factory=ClassNaming
    )
    taints: Annotated[
        list[MachineTaint],
        Schema("Taints of the machines' nodes.", items=(1, 64), keys=("key", "effect")),
    ] = Field(default_factory=list)


class WorkersClass(NonEmpty):
    """Kinds of workers that the class offers."""

    machine_deployments: Annotated[
        list[MachineDeploymentClass],
        Schema("Workers in machine deployments.", items=(1, 100), keys=("class",)),
    ] = Field(default_factory=list)
    machine_pools: Annotated[
        list[MachinePoolClass], Schema("Workers in machine pools.", items=(1, 100), keys=("class",))
    ] = Field(default_factory=list)


class ClusterClassSpec(Model):
    """The class as wanted."""

    availability_gates: Annotated[
        list[ClusterAvailabilityGate],
        Schema(
            "Further conditions that must hold for the cluster to be Available.",
            items=(1, 32),
            keys=("conditionType",),
        ),
    ] = Field(default_factory=list)
    control_plane: Annotated[ControlPlaneClass, Schema("The control plane.", required=True)] = (
        Field(default_factory=ControlPlaneClass)
    )
    infrastructure: Annotated[InfrastructureClass, Schema("The infrastructure.", required=True)] = (
        Field(default_factory=InfrastructureClass)
    )
    kubernetes_versions: Annotated[
        list[str],
        Schema(
            "Versions that clusters may run, in ascending order.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)
    patches: Annotated[
        list[ClusterClassPatch],
        Schema("Changes of the templates, in their order.", items=(1, 1000), atomic=True),
    ] = Field(default_factory=list)
    upgrade: Annotated[ClusterClassUpgrade, Schema("How clusters are upgraded.")] = Field(
        default_factory=ClusterClassUpgrade
    )
    variables: Annotated[
        list[ClusterClassVariable], Schema("The variables.", items=(1, 1000), atomic=True)
    ] = Field(default_factory=list)
    workers: Annotated[WorkersClass, Schema("Kinds of workers.")] = Field(
        default_factory=WorkersClass
    )


class ClusterClassV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )


class ClusterClassDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[ClusterClassV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=ClusterClassV1Beta1Status
    )


class ClusterClassStatus(NonEmpty):
    """The class as observed."""

    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        ClusterClassDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None
    variables: Annotated[
        list[ClusterClassStatusVariable],
        Schema("All variables, those of extensions included.", items=(None, 1000), atomic=True),
    ] = Field(default_factory=list)


class ClusterClass(KubeObject):
    """A pattern that clusters are made from."""

    resource: ClassVar[Resource] = Resource(
        "cluster.x-k8s.io", "v1beta2", "ClusterClass", "clusterclasses"
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        short_names=("cc",),
        columns=(
            PAUSED,
            Column.condition("VariablesReady", "Variables Ready"),
            AGE,
        ),
    )

    spec: Annotated[ClusterClassSpec, Schema(required=True)] = Field(
        default_factory=ClusterClassSpec
    )
    status: ClusterClassStatus = Field(default_factory=ClusterClassStatus)
