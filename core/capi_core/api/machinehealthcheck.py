"""The MachineHealthCheck."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.healthcheck import HealthChecks, RemediationPolicy
from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_NAME,
    PAUSED,
    Column,
    Definition,
    ObservedGeneration,
    Schema,
)
from capi_core.api.shared import Conditions, LabelSelector, V1Beta1Condition


class MachineHealthCheckSpec(Model):
    """The check as wanted."""

    checks: Annotated[HealthChecks, Schema("What counts as unhealthy.")] = Field(
        default_factory=HealthChecks
    )
    cluster_name: Annotated[
        str, Schema("Name of the cluster that this belongs to.", required=True, length=(1, 63))
    ] = ""
    remediation: Annotated[RemediationPolicy, Schema("What happens with unhealthy machines.")] = (
        Field(default_factory=RemediationPolicy)
    )
    selector: Annotated[LabelSelector, Schema("Chooses the machines to check.", required=True)] = (
        Field(default_factory=LabelSelector)
    )


class MachineHealthCheckV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )


class MachineHealthCheckDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[MachineHealthCheckV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=MachineHealthCheckV1Beta1Status
    )


class MachineHealthCheckStatus(NonEmpty):
    """The check as observed."""

    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    current_healthy: Annotated[
        int | None, Schema("Number of healthy machines.", between=(0, None))
    ] = None
    deprecated: Annotated[
        MachineHealthCheckDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    expected_machines: Annotated[
        int | None, Schema("Number of chosen machines.", between=(0, None))
    ] = None
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None
    remediations_allowed: Annotated[
        int | None, Schema("How many more machines may be remediated.", between=(0, None))
    ] = None
    targets: Annotated[
        list[str],
        Schema(
            "Names of the chosen machines.",
            items=(None, 10000),
            atomic=True,
            each=Schema(length=(1, 253)),
        ),
    ] = Field(default_factory=list)


class MachineHealthCheck(KubeObject):
    """Finds unhealthy machines and has them replaced."""

    resource: ClassVar[Resource] = Resource(
        "cluster.x-k8s.io", "v1beta2", "MachineHealthCheck", "machinehealthchecks"
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        short_names=(
            "mhc",
            "mhcs",
        ),
        columns=(
            CLUSTER_NAME,
            Column.count("Replicas", ".status.expectedMachines"),
            Column.count("Healthy", ".status.currentHealthy"),
            PAUSED,
            AGE,
        ),
    )

    spec: Annotated[MachineHealthCheckSpec, Schema(required=True)] = Field(
        default_factory=MachineHealthCheckSpec
    )
    status: MachineHealthCheckStatus = Field(default_factory=MachineHealthCheckStatus)
