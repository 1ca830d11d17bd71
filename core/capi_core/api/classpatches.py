"""Patches of a ClusterClass: how variables change its templates."""

from typing import Annotated, Any

from pydantic import Field

from capi_core.api.healthcheck import API_VERSION
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import KindName, Schema


class JSONPatchValue(Model):
    """A value that depends on variables."""

    template: Annotated[
        str | None, Schema("Go template that yields the value as JSON or YAML.", length=(1, 10240))
    ] = None
    variable: Annotated[
        str | None, Schema("Name or path of the variable that is the value.", length=(1, 256))
    ] = None


class JSONPatch(Model):
    """One operation of a JSON patch."""

    op: Annotated[str, Schema("What to do.", required=True, enum=("add", "replace", "remove"))] = ""
    path: Annotated[str, Schema("JSON pointer below /spec.", required=True, length=(1, 512))] = ""
    value: Annotated[Any | None, Schema("The value itself.", preserve_unknown=True)] = None
    value_from: Annotated[JSONPatchValue | None, Schema("Where the value comes from.")] = None


class PatchSelectorClassMatch(Model):
    """Classes of workers."""

    names: Annotated[
        list[str],
        Schema(
            "Names of the classes; * is any.",
            items=(None, 100),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)


class PatchSelectorMatch(NonEmpty):
    """Where the template is used."""

    control_plane: Annotated[bool | None, Schema("The control plane's templates.")] = None
    infrastructure_cluster: Annotated[
        bool | None, Schema("The cluster's infrastructure template.")
    ] = None
    machine_deployment_class: Annotated[
        PatchSelectorClassMatch | None, Schema("Templates of these machine deployment classes.")
    ] = None
    machine_pool_class: Annotated[
        PatchSelectorClassMatch | None, Schema("Templates of these machine pool classes.")
    ] = None


class PatchSelector(Model):
    """Chooses templates."""

    api_version: Annotated[
        str,
        Schema(
            "Group and version of the templates.",
            required=True,
            pattern=API_VERSION,
            length=(1, 317),
        ),
    ] = ""
    kind: Annotated[KindName, Schema("Kind of the templates.", required=True)] = ""
    match_resources: Annotated[
        PatchSelectorMatch, Schema("Where the templates are used.", required=True)
    ] = Field(default_factory=PatchSelectorMatch)


class PatchDefinition(Model):
    """Changes of the templates that a selector chooses."""

    json_patches: Annotated[
        list[JSONPatch],
        Schema("The operations, in their order.", required=True, items=(1, 100), atomic=True),
    ] = Field(default_factory=list)
    selector: Annotated[PatchSelector, Schema("The templates to change.", required=True)] = Field(
        default_factory=PatchSelector
    )


class ExternalPatchDefinition(Model):
    """An extension that makes the changes."""

    discover_variables_extension: Annotated[
        str | None, Schema("Extension that names further variables.", length=(1, 512))
    ] = None
    generate_patches_extension: Annotated[
        str | None, Schema("Extension that makes the patches.", length=(1, 512))
    ] = None
    settings: Annotated[dict[str, str], Schema("Passed to the extensions.")] = Field(
        default_factory=dict
    )
    validate_topology_extension: Annotated[
        str | None, Schema("Extension that checks the result.", length=(1, 512))
    ] = None


class ClusterClassPatch(Model):
    """A change of the class's templates that depends on variables."""

    definitions: Annotated[
        list[PatchDefinition],
        Schema("Changes written in the class.", items=(None, 100), atomic=True),
    ] = Field(default_factory=list)
    description: Annotated[str | None, Schema("What the patch is for.", length=(1, 1024))] = None
    enabled_if: Annotated[
        str | None, Schema("Go template; the patch applies where it yields true.", length=(1, 256))
    ] = None
    external: Annotated[ExternalPatchDefinition | None, Schema("Changes made by an extension.")] = (
        None
    )
    name: Annotated[str, Schema("Name of the patch.", required=True, length=(1, 256))] = ""
