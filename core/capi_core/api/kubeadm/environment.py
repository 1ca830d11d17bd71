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

    name: Annotated[
        str, Schema("Name of the flag, without dashes.", required=True, length=(1, 256))
    ] = ""
    value: Annotated[
        str, Schema("Value of the flag.", required=True, length=(0, 1024), keep_empty=True)
    ] = ""


class KeySelector(Model):
    """A key of a ConfigMap or Secret."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    key: Annotated[str, Schema("The key.", required=True)] = ""
    name: Annotated[str | None, Schema("Name of the object.", default="")] = None
    optional: Annotated[bool | None, Schema("Whether it may be missing.")] = None


class ObjectFieldSelector(Model):
    """A field of the pod."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    api_version: Annotated[
        str | None, Schema("Version of the API that the path is of; v1 when unset.")
    ] = None
    field_path: Annotated[str, Schema("Path of the field.", required=True)] = ""


class FileKeySelector(Model):
    """A variable in a file of a volume."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    key: Annotated[str, Schema("Name of the variable in the file.", required=True)] = ""
    optional: Annotated[bool | None, Schema("Whether it may be missing.", default=False)] = None
    path: Annotated[str, Schema("Path of the file in the volume.", required=True)] = ""
    volume_name: Annotated[str, Schema("Volume with the file.", required=True)] = ""


class ResourceFieldSelector(Model):
    """A resource limit or request of a container."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    container_name: Annotated[str | None, Schema("Container; needed in volumes only.")] = None
    divisor: Annotated[Quantity | None, Schema("Unit that the value is given in.")] = None
    resource: Annotated[str, Schema("Such as limits.cpu.", required=True)] = ""


class EnvVarSource(Model):
    """Where an environment variable takes its value from."""

    config_map_key_ref: Annotated[KeySelector, Schema("A key of a ConfigMap.")] = Field(
        default_factory=KeySelector
    )
    field_ref: Annotated[ObjectFieldSelector, Schema("A field of the pod.")] = Field(
        default_factory=ObjectFieldSelector
    )
    file_key_ref: Annotated[FileKeySelector, Schema("A variable in a file.")] = Field(
        default_factory=FileKeySelector
    )
    resource_field_ref: Annotated[
        ResourceFieldSelector, Schema("A limit or request of a container.")
    ] = Field(default_factory=ResourceFieldSelector)
    secret_key_ref: Annotated[KeySelector, Schema("A key of a Secret.")] = Field(
        default_factory=KeySelector
    )


class EnvVar(Model):
    """An environment variable of a component."""

    name: Annotated[str, Schema("Name of the variable.", required=True)] = ""
    value: Annotated[str | None, Schema("Its value.")] = None
    value_from: Annotated[EnvVarSource, Schema("Where its value comes from.")] = Field(
        default_factory=EnvVarSource
    )
