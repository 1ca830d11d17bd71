"""The DockerMachinePool and its template."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.docker import DockerDeprecatedStatus, Mount
from capi_core.api.meta import KubeObject, Model, Resource
from capi_core.api.schema import AGE, Definition, Int64, Schema
from capi_core.api.shared import Conditions, MachineAddress, TemplateMetadata


class DockerMachinePoolMachineTemplate(Model):
    """The container that each machine of the pool is."""

    custom_image: Annotated[
        str | None, Schema("Image in place of the one for the machine's version.")
    ] = None
    extra_mounts: Annotated[list[Mount], Schema("Paths of the host to mount.")] = Field(
        default_factory=list
    )
    pre_load_images: Annotated[
        list[str], Schema("Images to copy from the host before bootstrapping.")
    ] = Field(default_factory=list)


class DockerMachinePoolSpec(Model):
    """The pool as wanted."""

    provider_id: Annotated[str | None, Schema("Identifies the pool.")] = Field(
        alias="providerID", default=None
    )
    provider_id_list: Annotated[list[str], Schema("Identifies the machines.")] = Field(
        alias="providerIDList", default_factory=list
    )
    template: Annotated[DockerMachinePoolMachineTemplate, Schema("What each machine is.")] = Field(
        default_factory=DockerMachinePoolMachineTemplate
    )


class DockerMachinePoolInstance(Model):
    """One machine of the pool."""

    addresses: Annotated[list[MachineAddress], Schema("Names and addresses of the machine.")] = (
        Field(default_factory=list)
    )
    bootstrapped: Annotated[bool | None, Schema("Whether the node has come up.")] = None
    instance_name: Annotated[str | None, Schema("Name of the container.")] = None
    provider_id: Annotated[
        str | None,
        Schema("Identifies the machine at its infrastructure; the node carries the same."),
    ] = Field(alias="providerID", default=None)
    ready: Annotated[bool | None, Schema("Whether the machine is ready.")] = None
    version: Annotated[str | None, Schema("Kubernetes version.")] = None


class DockerMachinePoolStatus(Model):
    """The pool as observed."""

    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        DockerDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    infrastructure_machine_kind: Annotated[
        str | None, Schema("Kind of the objects that stand for the machines.")
    ] = None
    instances: Annotated[list[DockerMachinePoolInstance], Schema("The machines.")] = Field(
        default_factory=list
    )
    observed_generation: Annotated[
        Int64 | None, Schema("The generation of the object that this status is about.")
    ] = None
    ready: Annotated[bool | None, Schema("Whether the pool is ready.")] = None
    replicas: Annotated[int | None, Schema("Number of machines that exist.")] = None


class DockerMachinePool(KubeObject):
    """A pool of machines that are containers."""

    resource: ClassVar[Resource] = Resource(
        "infrastructure.cluster.x-k8s.io", "v1beta2", "DockerMachinePool", "dockermachinepools"
    )
    definition: ClassVar[Definition] = Definition(provider="infrastructure-docker", columns=(AGE,))

    spec: DockerMachinePoolSpec = Field(default_factory=DockerMachinePoolSpec)
    status: DockerMachinePoolStatus = Field(default_factory=DockerMachinePoolStatus)


class DockerMachinePoolTemplateResource(Model):
    """The pool that copies are made of."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: Annotated[DockerMachinePoolSpec, Schema(required=True)] = Field(
        default_factory=DockerMachinePoolSpec
    )


class DockerMachinePoolTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[
        DockerMachinePoolTemplateResource, Schema("What copies are made of.", required=True)
    ] = Field(default_factory=DockerMachinePoolTemplateResource)


class DockerMachinePoolTemplate(KubeObject):
    """A pool for the clusters of a class."""

    resource: ClassVar[Resource] = Resource(
        "infrastructure.cluster.x-k8s.io",
        "v1beta2",
        "DockerMachinePoolTemplate",
        "dockermachinepooltemplates",
    )
    definition: ClassVar[Definition] = Definition(provider="infrastructure-docker", columns=(AGE,))

    spec: DockerMachinePoolTemplateSpec = Field(default_factory=DockerMachinePoolTemplateSpec)
