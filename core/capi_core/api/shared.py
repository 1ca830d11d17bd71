"""Structs that several kinds use."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, Model, NonEmpty
from capi_core.api.schema import KindName, QualifiedName, Schema, Seconds, Subdomain, Time

TAINT_KEY = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?"
    r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
)
Conditions = Annotated[list[Condition], Schema(items=(None, 32), keys=("type",))]


class APIEndpoint(NonEmpty):
    """Where an API server is reached."""

    host: Annotated[str | None, Schema(length=(1, 512))] = None
    port: Annotated[int | None, Schema(between=(1, 65535))] = None


class ContractVersionedObjectReference(Model):
    """An object of another provider; its version follows from the contract."""

    api_group: Annotated[Subdomain, Schema(required=True)] = ""
    kind: Annotated[KindName, Schema(required=True)] = ""
    name: Annotated[Subdomain, Schema(required=True)] = ""


class MachineDeletion(NonEmpty):
    """How long deletion of a machine waits for its node."""

    node_deletion_timeout_seconds: Seconds | None = None
    node_drain_timeout_seconds: Seconds | None = None
    node_volume_detach_timeout_seconds: Seconds | None = None


class TemplateMetadata(NonEmpty):
    """Labels and annotations for the objects made from a template."""

    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)


class MachineReadinessGate(Model):
    """A condition that takes part in the machine's Ready condition."""

    condition_type: Annotated[QualifiedName, Schema(required=True)] = ""
    polarity: Annotated[str | None, Schema(enum=("Positive", "Negative"))] = None


class MachineTaint(Model):
    """A taint of the machine's node."""

    effect: Annotated[
        str, Schema(required=True, enum=("NoSchedule", "PreferNoSchedule", "NoExecute"))
    ] = ""
    key: Annotated[str, Schema(required=True, pattern=TAINT_KEY, length=(1, 317))] = ""
    propagation: Annotated[str, Schema(required=True, enum=("Always", "OnInitialization"))] = ""
    value: Annotated[
        str | None, Schema(pattern=r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$", length=(1, 63))
    ] = None


class StatusVersion(Model):
    """How many machines run a Kubernetes version."""

    version: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    replicas: Annotated[int | None, Schema(between=(1, None))] = None


class V1Beta1Condition(Model):
    """A condition in the form of v1beta1."""

    last_transition_time: Annotated[Time, Schema(required=True)] = ""
    message: Annotated[str | None, Schema(length=(1, 10240))] = None
    reason: Annotated[str | None, Schema(length=(1, 256))] = None
    severity: Annotated[str | None, Schema(length=(None, 32))] = None
    status: Annotated[str, Schema(required=True)] = ""
    type: Annotated[str, Schema(required=True, length=(1, 256))] = ""


class FailureDomain(Model):
    """A part of the infrastructure that fails on its own."""

    attributes: dict[str, str] = Field(default_factory=dict)
    control_plane: bool | None = None
    name: Annotated[str, Schema(required=True, length=(1, 256))] = ""


class MachineAddress(Model):
    """A name or an address of a machine."""

    address: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    type: Annotated[
        str,
        Schema(
            required=True,
            enum=("Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"),
        ),
    ] = ""


class MachineNaming(NonEmpty):
    """How machines are named."""

    template: Annotated[str | None, Schema(length=(1, 256))] = None


class LabelSelectorRequirement(Model):
    """A condition on one label."""

    key: Annotated[str, Schema(required=True)] = ""
    operator: Annotated[str, Schema(required=True)] = ""
    values: Annotated[list[str], Schema(atomic=True)] = Field(default_factory=list)


class LabelSelector(Model):
    """Chooses objects by their labels; all conditions have to hold."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    match_labels: dict[str, str] = Field(default_factory=dict)
    match_expressions: Annotated[list[LabelSelectorRequirement], Schema(atomic=True)] = Field(
        default_factory=list
    )
