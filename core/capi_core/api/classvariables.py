"""Variables of a ClusterClass and their schemas."""

from typing import Annotated, Any

from pydantic import Field

from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Int64, Schema
from capi_core.api.shared import TemplateMetadata


class ValidationRule(Model):
    """A CEL rule."""

    field_path: Annotated[
        str | None, Schema("Field that a failure is reported for.", length=(1, 512))
    ] = None
    message: Annotated[str | None, Schema("What the user reads on failure.", length=(1, 512))] = (
        None
    )
    message_expression: Annotated[
        str | None, Schema("CEL expression that yields the message.", length=(1, 1024))
    ] = None
    reason: Annotated[
        str | None,
        Schema(
            "Kind of failure.",
            default="FieldValueInvalid",
            enum=(
                "FieldValueInvalid",
                "FieldValueForbidden",
                "FieldValueRequired",
                "FieldValueDuplicate",
            ),
        ),
    ] = None
    rule: Annotated[
        str, Schema("CEL expression that must hold.", required=True, length=(1, 4096))
    ] = ""


class JSONSchemaProps(NonEmpty):
    """A JSON schema as in a CRD; its nested schemas are free JSON."""

    additional_properties: Annotated[Any | None, Schema(preserve_unknown=True)] = None
    all_of: Annotated[Any | None, Schema(preserve_unknown=True)] = None
    any_of: Annotated[Any | None, Schema(preserve_unknown=True)] = None
    default: Annotated[
        Any | None, Schema("Value of a variable that is not set.", preserve_unknown=True)
    ] = None
    description: Annotated[str | None, Schema("What the variable is for.", length=(1, 4096))] = None
    enum: Annotated[
        list[Any], Schema(items=(None, 100), atomic=True, each=Schema(preserve_unknown=True))
    ] = Field(default_factory=list)
    example: Annotated[Any | None, Schema("An example of a value.", preserve_unknown=True)] = None
    exclusive_maximum: bool | None = None
    exclusive_minimum: bool | None = None
    format: Annotated[str | None, Schema(length=(1, 32))] = None
    items: Annotated[Any | None, Schema(preserve_unknown=True)] = None
    max_items: Int64 | None = None
    max_length: Int64 | None = None
    max_properties: Int64 | None = None
    maximum: Int64 | None = None
    min_items: Int64 | None = None
    min_length: Int64 | None = None
    min_properties: Int64 | None = None
    minimum: Int64 | None = None
    not_: Annotated[Any | None, Schema(preserve_unknown=True)] = Field(alias="not", default=None)
    one_of: Annotated[Any | None, Schema(preserve_unknown=True)] = None
    pattern: Annotated[str | None, Schema(length=(1, 512))] = None
    properties: Annotated[Any | None, Schema(preserve_unknown=True)] = None
    required: Annotated[
        list[str], Schema(items=(1, 1000), atomic=True, each=Schema(length=(1, 256)))
    ] = Field(default_factory=list)
    type: Annotated[
        str | None, Schema(enum=("object", "array", "string", "integer", "number", "boolean"))
    ] = None
    unique_items: bool | None = None
    x_kubernetes_int_or_string: Annotated[bool | None, Schema("Admits numbers and strings.")] = (
        Field(alias="x-kubernetes-int-or-string", default=None)
    )
    x_kubernetes_preserve_unknown_fields: Annotated[
        bool | None, Schema("Admits fields that no schema names.")
    ] = Field(alias="x-kubernetes-preserve-unknown-fields", default=None)
    x_kubernetes_validations: Annotated[
        list[ValidationRule], Schema("CEL rules.", items=(1, 100), keys=("rule",))
    ] = Field(alias="x-kubernetes-validations", default_factory=list)
    x_metadata: Annotated[TemplateMetadata, Schema("Labels and annotations for tools.")] = Field(
        alias="x-metadata", default_factory=TemplateMetadata
    )


class VariableSchema(Model):
    """The schema of a variable."""

    open_api_v3_schema: Annotated[JSONSchemaProps, Schema("The schema.", required=True)] = Field(
        alias="openAPIV3Schema", default_factory=JSONSchemaProps
    )


class ClusterClassVariable(Model):
    """A variable that clusters of the class may set."""

    deprecated_v1beta1_metadata: Annotated[
        TemplateMetadata, Schema("Labels and annotations of v1beta1.")
    ] = Field(default_factory=TemplateMetadata)
    name: Annotated[str, Schema("Name of the variable.", required=True, length=(1, 256))] = ""
    required: Annotated[bool | None, Schema("Whether each cluster must set it.", required=True)] = (
        None
    )
    schema_: Annotated[VariableSchema, Schema("Which values are admitted.", required=True)] = Field(
        alias="schema", default_factory=VariableSchema
    )


class ClusterClassStatusVariableDefinition(Model):
    """The definition of a variable by the class or an extension."""

    deprecated_v1beta1_metadata: Annotated[
        TemplateMetadata, Schema("Labels and annotations of v1beta1.")
    ] = Field(default_factory=TemplateMetadata)
    from_: Annotated[
        str,
        Schema("Who defines it: inline, or the name of a patch.", required=True, length=(1, 256)),
    ] = Field(alias="from", default="")
    required: Annotated[bool | None, Schema("Whether each cluster must set it.", required=True)] = (
        None
    )
    schema_: Annotated[VariableSchema, Schema("Which values are admitted.", required=True)] = Field(
        alias="schema", default_factory=VariableSchema
    )


class ClusterClassStatusVariable(Model):
    """A variable with all its definitions."""

    definitions: Annotated[
        list[ClusterClassStatusVariableDefinition],
        Schema("All definitions.", required=True, items=(1, 100), atomic=True),
    ] = Field(default_factory=list)
    definitions_conflict: Annotated[bool | None, Schema("Whether the definitions differ.")] = None
    name: Annotated[str, Schema("Name of the variable.", required=True, length=(1, 256))] = ""
