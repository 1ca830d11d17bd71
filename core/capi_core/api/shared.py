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

    host: Annotated[str | None, Schema("Host name or address.", length=(1, 512))] = None
    port: Annotated[int | None, Schema("TCP port.", between=(1, 65535))] = None


class ContractVersionedObjectReference(Model):
    """An object of another provider; its version follows from the contract."""

    api_group: Annotated[Subdomain, Schema("API group, without a version.", required=True)] = ""
    kind: Annotated[KindName, Schema("Kind of the object.", required=True)] = ""
    name: Annotated[
        Subdomain, Schema("Name of the object, in the same namespace.", required=True)
    ] = ""


class MachineDeletion(NonEmpty):
    """How long deletion of a machine waits for its node."""

    node_deletion_timeout_seconds: Annotated[
        Seconds | None, Schema("How long to go on trying to delete the Node; 0 is without end.")
    ] = None
    node_drain_timeout_seconds: Annotated[
        Seconds | None, Schema("How long draining may take; 0 is without end.")
    ] = None
    node_volume_detach_timeout_seconds: Annotated[
        Seconds | None, Schema("How long to wait for volumes to detach; 0 is without end.")
    ] = None


class TemplateMetadata(NonEmpty):
    """Labels and annotations for the objects made from a template."""

    annotations: Annotated[dict[str, str], Schema("Annotations to add.")] = Field(
        default_factory=dict
    )
    labels: Annotated[dict[str, str], Schema("Labels to add.")] = Field(default_factory=dict)


class MachineReadinessGate(Model):
    """A condition that takes part in the machine's Ready condition."""

    condition_type: Annotated[QualifiedName, Schema("Type of the condition.", required=True)] = ""
    polarity: Annotated[
        str | None,
        Schema(
            "Whether True is good (Positive, when unset) or bad (Negative).",
            enum=("Positive", "Negative"),
        ),
    ] = None


class MachineTaint(Model):
    """A taint of the machine's node."""

    effect: Annotated[
        str,
        Schema(
            "What happens with pods that do not tolerate the taint.",
            required=True,
            enum=("NoSchedule", "PreferNoSchedule", "NoExecute"),
        ),
    ] = ""
    key: Annotated[
        str, Schema("Key of the taint.", required=True, pattern=TAINT_KEY, length=(1, 317))
    ] = ""
    propagation: Annotated[
        str,
        Schema(
            "Keep the taint on the node always, or set it once on initialization.",
            required=True,
            enum=("Always", "OnInitialization"),
        ),
    ] = ""
    value: Annotated[
        str | None,
        Schema(
            "Value of the taint.",
            pattern=r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
            length=(1, 63),
        ),
    ] = None


class StatusVersion(Model):
    """How many machines run a Kubernetes version."""

    version: Annotated[str, Schema("Kubernetes version.", required=True, length=(1, 256))] = ""
    replicas: Annotated[int | None, Schema("Number of machines.", between=(1, None))] = None


class V1Beta1Condition(Model):
    """A condition in the form of v1beta1."""

    last_transition_time: Annotated[
        Time, Schema("When the status last changed.", required=True)
    ] = ""
    message: Annotated[str | None, Schema("Details for people.", length=(1, 10240))] = None
    reason: Annotated[str | None, Schema("Cause, in one word.", length=(1, 256))] = None
    severity: Annotated[str | None, Schema("How bad a False is.", length=(None, 32))] = None
    status: Annotated[str, Schema("True, False or Unknown.", required=True)] = ""
    type: Annotated[str, Schema("What the condition is about.", required=True, length=(1, 256))] = (
        ""
    )


class FailureDomain(Model):
    """A part of the infrastructure that fails on its own."""

    attributes: Annotated[dict[str, str], Schema("Whatever the infrastructure says about it.")] = (
        Field(default_factory=dict)
    )
    control_plane: Annotated[
        bool | None, Schema("Whether control plane machines may run there.")
    ] = None
    name: Annotated[str, Schema("Name of the failure domain.", required=True, length=(1, 256))] = ""


class MachineAddress(Model):
    """A name or an address of a machine."""

    address: Annotated[str, Schema("The name or address.", required=True, length=(1, 256))] = ""
    type: Annotated[
        str,
        Schema(
            "What kind of name or address.",
            required=True,
            enum=("Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"),
        ),
    ] = ""


class MachineNaming(NonEmpty):
    """How machines are named."""

    template: Annotated[
        str | None, Schema("Go template of the name; must contain {{ .random }}.", length=(1, 256))
    ] = None


class LabelSelectorRequirement(Model):
    """A condition on one label."""

    key: Annotated[str, Schema("Label that the condition is on.", required=True)] = ""
    operator: Annotated[str, Schema("In, NotIn, Exists or DoesNotExist.", required=True)] = ""
    values: Annotated[
        list[str], Schema("Values to compare with; empty for Exists and DoesNotExist.", atomic=True)
    ] = Field(default_factory=list)


class LabelSelector(Model):
    """Chooses objects by their labels; all conditions have to hold."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    match_labels: Annotated[dict[str, str], Schema("Labels and the values they must have.")] = (
        Field(default_factory=dict)
    )
    match_expressions: Annotated[
        list[LabelSelectorRequirement], Schema("Further conditions on labels.", atomic=True)
    ] = Field(default_factory=list)
