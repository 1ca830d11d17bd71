"""Health checks of machines: of a topology, a class or a MachineHealthCheck."""

from typing import Annotated

from pydantic import Field

from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import (
    IntOrString,
    KindName,
    QualifiedName,
    Rule,
    Schema,
    Seconds,
    Subdomain,
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


class UnhealthyMachineCondition(Model):
    """A machine condition that means unhealthy once it has lasted."""

    status: Annotated[
        str,
        Schema(
            "Status that counts as unhealthy.", required=True, enum=("True", "False", "Unknown")
        ),
    ] = ""
    timeout_seconds: Annotated[
        Seconds | None, Schema("How long the status has to last.", required=True)
    ] = None
    type: Annotated[
        QualifiedName,
        Schema("Type of the machine's condition.", required=True, rules=(FOREIGN_CONDITION,)),
    ] = ""


class UnhealthyNodeCondition(Model):
    """A node condition that means unhealthy once it has lasted."""

    status: Annotated[
        str, Schema("Status that counts as unhealthy.", required=True, length=(1, None))
    ] = ""
    timeout_seconds: Annotated[
        Seconds | None, Schema("How long the status has to last.", required=True)
    ] = None
    type: Annotated[
        str, Schema("Type of the node's condition.", required=True, length=(1, None))
    ] = ""


class HealthChecks(NonEmpty):
    """What makes a machine count as unhealthy."""

    node_startup_timeout_seconds: Annotated[
        Seconds | None,
        Schema("How long a machine may take to get its node; 0 switches the check off."),
    ] = None
    unhealthy_machine_conditions: Annotated[
        list[UnhealthyMachineCondition],
        Schema("Machine conditions of which any one means unhealthy.", items=(1, 100), atomic=True),
    ] = Field(default_factory=list)
    unhealthy_node_conditions: Annotated[
        list[UnhealthyNodeCondition],
        Schema("Node conditions of which any one means unhealthy.", items=(1, 100), atomic=True),
    ] = Field(default_factory=list)


class RemediationTemplateRef(Model):
    """The template of the object that an outside remediator acts on."""

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
    name: Annotated[
        Subdomain, Schema("Name of the template, in the same namespace.", required=True)
    ] = ""


class RemediationTrigger(NonEmpty):
    """How many machines may be unhealthy for remediation to go on."""

    unhealthy_in_range: Annotated[
        str | None,
        Schema(
            "Go on while the number of unhealthy machines is in this range, as [3-5].",
            pattern=r"^\[[0-9]+-[0-9]+\]$",
            length=(1, 32),
        ),
    ] = None
    unhealthy_less_than_or_equal_to: Annotated[
        IntOrString | None, Schema("Go on while at most this number or percentage is unhealthy.")
    ] = None


class RemediationPolicy(NonEmpty):
    """Whether and how unhealthy machines are replaced."""

    template_ref: Annotated[
        RemediationTemplateRef,
        Schema("Leaves the remediation to another controller, with a copy of this template."),
    ] = Field(default_factory=RemediationTemplateRef)
    trigger_if: Annotated[
        RemediationTrigger, Schema("Limits beyond which nothing is remediated.")
    ] = Field(default_factory=RemediationTrigger)


class ControlPlaneHealthCheck(NonEmpty):
    """The health check of the control plane machines."""

    checks: Annotated[HealthChecks, Schema("What counts as unhealthy.")] = Field(
        default_factory=HealthChecks
    )
    enabled: Annotated[
        bool | None, Schema("Switches the check on or off, whatever the class says.")
    ] = None
    remediation: Annotated[RemediationPolicy, Schema("What happens with unhealthy machines.")] = (
        Field(default_factory=RemediationPolicy)
    )


class MachineDeploymentRemediationPolicy(NonEmpty):
    """Whether and how unhealthy worker machines are replaced."""

    max_in_flight: Annotated[
        IntOrString | None, Schema("At most this number or percentage is remediated at a time.")
    ] = None
    template_ref: Annotated[
        RemediationTemplateRef,
        Schema("Leaves the remediation to another controller, with a copy of this template."),
    ] = Field(default_factory=RemediationTemplateRef)
    trigger_if: Annotated[
        RemediationTrigger, Schema("Limits beyond which nothing is remediated.")
    ] = Field(default_factory=RemediationTrigger)


class MachineDeploymentHealthCheck(NonEmpty):
    """The health check of the deployment's machines."""

    checks: Annotated[HealthChecks, Schema("What counts as unhealthy.")] = Field(
        default_factory=HealthChecks
    )
    enabled: Annotated[
        bool | None, Schema("Switches the check on or off, whatever the class says.")
    ] = None
    remediation: Annotated[
        MachineDeploymentRemediationPolicy, Schema("What happens with unhealthy machines.")
    ] = Field(default_factory=MachineDeploymentRemediationPolicy)
