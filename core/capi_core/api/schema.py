"""What the API server shall know of a field or a kind beyond its Python type.

A field carries a `Schema` in its ``Annotated`` type. pydantic ignores it, so an object that breaks
a bound is still read: refusing it is the API server's business. `capi_core.api.crd` turns it into
the CRD's OpenAPI schema.
"""

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Literal

Range = tuple[int | None, int | None]
Default = str | bool | int | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A CEL rule and what the user reads when it does not hold."""

    rule: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Bounds of one value; ranges are (minimum, maximum) with None for an open end.

    ``atomic`` replaces a list or a struct as a whole in server-side apply, ``keys`` merges a list
    by these fields of its items. ``each`` holds the bounds of a list's items or a map's values.
    ``preserve_unknown`` admits any JSON value. ``keep_empty`` is no bound: it writes a string even
    when it is "", because the API server demands the field and admits "".
    """

    doc: str = dataclasses.field(default="", kw_only=False)
    required: bool = False
    default: Default = None
    format: str = ""
    enum: tuple[str, ...] = ()
    pattern: str = ""
    between: Range = (None, None)
    length: Range = (None, None)
    items: Range = (None, None)
    properties: Range = (None, None)
    atomic: bool = False
    keys: tuple[str, ...] = ()
    each: "Schema | None" = None
    rules: tuple[Rule, ...] = ()
    preserve_unknown: bool = False
    keep_empty: bool = False

    def over(self, other: "Schema") -> "Schema":
        """``other`` with everything that this schema sets in its place."""
        unset = Schema()
        values = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != getattr(unset, field.name)
        }
        return dataclasses.replace(other, **values)


ColumnType = Literal["string", "integer", "boolean", "date"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of ``kubectl get``; one of priority above zero shows with ``-o wide`` only."""

    name: str
    path: str
    type: ColumnType = "string"
    priority: int = 0

    @classmethod
    def condition(cls, type_: str, name: str = "", priority: int = 0) -> "Column":
        """The status of the condition ``type_``."""
        path = f'.status.conditions[?(@.type=="{type_}")].status'
        return cls(name or type_, path, priority=priority)

    @classmethod
    def count(cls, name: str, path: str, priority: int = 0) -> "Column":
        """A number."""
        return cls(name, path, "integer", priority)


CLUSTER_NAME = Column("Cluster", ".spec.clusterName")
CLUSTER_LABEL = Column("Cluster", r".metadata.labels['cluster\.x-k8s\.io/cluster-name']")
PAUSED = Column.condition("Paused", priority=10)
PHASE = Column("Phase", ".status.phase")
AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True, slots=True)
class Definition:
    """What a kind's CRD says beside its schema.

    ``provider`` is the value of the label by which clusterctl finds a provider's CRDs. ``scale``
    serves the scale subresource over spec.replicas and status.replicas; its selector is in
    status.selector unless ``scale_selector`` is false.
    """

    provider: str
    columns: tuple[Column, ...]
    short_names: tuple[str, ...] = ()
    scale: bool = False
    scale_selector: bool = True


SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
QUALIFIED_NAME = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)

Int64 = Annotated[int, Schema(format="int64")]
Time = Annotated[str, Schema(format="date-time")]
Seconds = Annotated[int, Schema(between=(0, None))]
IntOrString = int | str
Quantity = Annotated[int | str, Schema(pattern=QUANTITY)]
Subdomain = Annotated[str, Schema(pattern=SUBDOMAIN, length=(1, 253))]
KindName = Annotated[str, Schema(pattern=r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$", length=(1, 63))]
QualifiedName = Annotated[str, Schema(pattern=QUALIFIED_NAME, length=(1, 316))]
ObservedGeneration = Annotated[int, Schema(format="int64", between=(1, None))]
