"""The parts that every kind shares: metadata, conditions, owner references and the kind registry.

Models keep what they do not know (``extra="allow"``), so an object that is read and written back
loses nothing that another version or another controller put there. A struct whose absence and
emptiness mean the same is never None (``default_factory``) and is omitted when empty, which is
Go's ``omitzero``; a string whose default is "" likewise, unless its Schema says ``keep_empty``; a
struct whose presence has a meaning of its own is ``X | None``.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticUndefined

from capi_core.api.schema import QUALIFIED_NAME, Definition, Schema, Time

JsonObject = dict[str, Any]
ConditionStatus = Literal["True", "False", "Unknown"]


class Model(BaseModel):
    """A JSON object of the Kubernetes API: camelCase on the wire, snake_case in Python."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")
    bounds: ClassVar[Schema] = Schema()
    """What the API server demands of the struct wherever it stands."""

    @model_serializer(mode="wrap")
    def _omit_empty(self, handler: SerializerFunctionWrapHandler) -> JsonObject:
        data: JsonObject = handler(self)
        for name, info in type(self).model_fields.items():
            if info.is_required() or name in _kept_when_empty(type(self)):
                continue
            empty = ({}, [], None) if info.default_factory else (info.default, None)
            for key in (info.alias or to_camel(name), name):
                omittable = key in data and info.default in (None, "", PydanticUndefined)
                if omittable and any(data[key] is zero or data[key] == zero for zero in empty):
                    del data[key]
        return data

    def dump(self) -> JsonObject:
        """The object as it goes on the wire, without unset fields."""
        return self.model_dump(by_alias=True, mode="json")


class NonEmpty(Model):
    """A struct that the API server refuses when it is present and empty."""

    bounds: ClassVar[Schema] = Schema(properties=(1, None))


@cache
def _kept_when_empty(model: type[Model]) -> frozenset[str]:
    """The fields that are written even when they are ""."""
    return frozenset(
        name
        for name, info in model.model_fields.items()
        if any(isinstance(item, Schema) and item.keep_empty for item in info.metadata)
    )


@dataclass(frozen=True, slots=True)
class Resource:
    """Where a kind is served: its group, version, kind, plural and scope."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """``Kind.group``, the form of the cloned-from-groupkind annotation."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def path(self, namespace: str | None = None, name: str | None = None, sub: str = "") -> str:
        """The URL path of the collection, of one object, or of its subresource ``sub``."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        tail = f"/{name}" if name else ""
        return f"{root}{scope}/{self.plural}{tail}" + (f"/{sub}" if sub else "")


class OwnerReference(Model):
    """metadata.ownerReferences[]."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Model):
    """metadata of every object; the server owns most of it."""

    name: str = ""
    namespace: str | None = None
    uid: str = ""
    resource_version: str = ""
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    owner_references: list[OwnerReference] = Field(default_factory=list)
    finalizers: list[str] = Field(default_factory=list)


class Condition(Model):
    """metav1.Condition: ``last_transition_time`` moves only when ``status`` does."""

    type: Annotated[str, Schema(pattern=QUALIFIED_NAME, length=(None, 316))]
    status: ConditionStatus
    observed_generation: Annotated[int | None, Schema(format="int64", between=(0, None))] = None
    last_transition_time: Time
    reason: Annotated[
        str, Schema(pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", length=(1, 1024))
    ]
    message: Annotated[str, Schema(length=(None, 32768))]


class KubeObject(Model):
    """The base of every kind; ``resource`` says where it is served, ``definition`` how it shows."""

    resource: ClassVar[Resource]
    definition: ClassVar[Definition]

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)

    @classmethod
    def parse(cls, obj: JsonObject) -> Self:
        """Read ``obj`` as this kind; raises pydantic.ValidationError with the field paths."""
        return cls.model_validate(obj)

    @property
    def name(self) -> str:
        """metadata.name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """metadata.namespace, empty for cluster-scoped kinds."""
        return self.metadata.namespace or ""

    @property
    def deleting(self) -> bool:
        """Whether deletion has been asked for."""
        return self.metadata.deletion_timestamp is not None

    def dump(self) -> JsonObject:
        """The object as it goes on the wire, apiVersion and kind included."""
        data = super().dump()
        data["apiVersion"] = self.api_version or self.resource.api_version
        data["kind"] = self.kind or self.resource.kind
        return data
