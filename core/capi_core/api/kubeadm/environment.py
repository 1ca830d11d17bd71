"""Environment variables of the control plane's components, as in a pod."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import Model
from capi_core.api.schema import Quantity, Rule, Schema

UNIQUE_NAMES = Rule(
    "self.all(x, self.exists_one(y, x.name == y.name))", "each name must occur only once"
)


class Arg(Model):
    """A command line flag of a component."""

    name: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    value: Annotated[str, Schema(required=True, length=(0, 1024))]


class KeySelector(Model):
    """A key of a ConfigMap or Secret."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    key: Annotated[str, Schema(required=True)] = ""
    name: Annotated[str | None, Schema(default="")] = None
    optional: bool | None = None


class ObjectFieldSelector(Model):
    """A field of the pod."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    api_version: str | None = None
    field_path: Annotated[str, Schema(required=True)] = ""


class FileKeySelector(Model):
    """A variable in a file of a volume."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    key: Annotated[str, Schema(required=True)] = ""
    optional: Annotated[bool | None, Schema(default=False)] = None
    path: Annotated[str, Schema(required=True)] = ""
    volume_name: Annotated[str, Schema(required=True)] = ""


class ResourceFieldSelector(Model):
    """A resource limit or request of a container."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    container_name: str | None = None
    divisor: Quantity | None = None
    resource: Annotated[str, Schema(required=True)] = ""


class EnvVarSource(Model):
    """Where an environment variable takes its value from."""

    config_map_key_ref: KeySelector = Field(default_factory=KeySelector)
    field_ref: ObjectFieldSelector = Field(default_factory=ObjectFieldSelector)
    file_key_ref: FileKeySelector = Field(default_factory=FileKeySelector)
    resource_field_ref: ResourceFieldSelector = Field(default_factory=ResourceFieldSelector)
    secret_key_ref: KeySelector = Field(default_factory=KeySelector)


class EnvVar(Model):
    """An environment variable of a component."""

    name: Annotated[str, Schema(required=True)] = ""
    value: str | None = None
    value_from: EnvVarSource = Field(default_factory=EnvVarSource)
