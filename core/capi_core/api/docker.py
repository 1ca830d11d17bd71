"""The DockerCluster, the DockerMachine and their templates."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import AGE, CLUSTER_LABEL, PAUSED, Column, Definition, Quantity, Schema
from capi_core.api.shared import (
    APIEndpoint,
    Conditions,
    FailureDomain,
    MachineAddress,
    TemplateMetadata,
    V1Beta1Condition,
)


class LocalObjectReference(Model):
    """An object in the same namespace."""

    bounds: ClassVar[Schema] = Schema(atomic=True)

    name: Annotated[str | None, Schema("Name of the object.", default="")] = None


class DockerLoadBalancer(Model):
    """The container in front of the API servers."""

    custom_ha_proxy_config_template_ref: Annotated[
        LocalObjectReference | None,
        Schema("ConfigMap with another template of HAProxy's configuration."),
    ] = Field(alias="customHAProxyConfigTemplateRef", default=None)
    image_repository: Annotated[str | None, Schema("Where the image is pulled from.")] = None
    image_tag: Annotated[str | None, Schema("Tag of the image.")] = None


class DockerClusterSpec(Model):
    """The cluster's infrastructure as wanted."""

    control_plane_endpoint: Annotated[
        APIEndpoint, Schema("Where the API server is reached; set by the controller.")
    ] = Field(default_factory=APIEndpoint)
    failure_domains: Annotated[
        list[FailureDomain],
        Schema(
            "Failure domains to pretend, for tests of the spread of machines.",
            items=(1, 100),
            keys=("name",),
        ),
    ] = Field(default_factory=list)
    load_balancer: Annotated[DockerLoadBalancer, Schema("The load balancer.")] = Field(
        default_factory=DockerLoadBalancer
    )


class DockerV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )


class DockerDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[DockerV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=DockerV1Beta1Status
    )


class DockerInitialization(NonEmpty):
    """What has been reached once in the object's life."""

    provisioned: Annotated[bool | None, Schema("The infrastructure has been there once.")] = None


class DockerClusterStatus(Model):
    """The cluster's infrastructure as observed."""

    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        DockerDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    failure_domains: Annotated[
        list[FailureDomain], Schema("Failure domains that exist.", items=(1, 100), keys=("name",))
    ] = Field(default_factory=list)
    initialization: Annotated[DockerInitialization, Schema("What has been reached once.")] = Field(
        default_factory=DockerInitialization
    )


class DockerCluster(KubeObject):
    """A cluster's network and load balancer in Docker."""

    resource: ClassVar[Resource] = Resource(
        "infrastructure.cluster.x-k8s.io", "v1beta2", "DockerCluster", "dockerclusters"
    )
    definition: ClassVar[Definition] = Definition(
        provider="infrastructure-docker",
        columns=(
            CLUSTER_LABEL,
            AGE,
        ),
    )

    spec: DockerClusterSpec = Field(default_factory=DockerClusterSpec)
    status: DockerClusterStatus = Field(default_factory=DockerClusterStatus)


class DockerClusterTemplateResource(Model):
    """The infrastructure that copies are made of."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: Annotated[DockerClusterSpec, Schema(required=True)] = Field(
        default_factory=DockerClusterSpec
    )


class DockerClusterTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[
        DockerClusterTemplateResource, Schema("What copies are made of.", required=True)
    ] = Field(default_factory=DockerClusterTemplateResource)


class DockerClusterTemplate(KubeObject):
    """Infrastructure for the clusters of a class."""

    resource: ClassVar[Resource] = Resource(
        "infrastructure.cluster.x-k8s.io",
        "v1beta2",
        "DockerClusterTemplate",
        "dockerclustertemplates",
    )
    definition: ClassVar[Definition] = Definition(provider="infrastructure-docker", columns=(AGE,))

    spec: DockerClusterTemplateSpec = Field(default_factory=DockerClusterTemplateSpec)


class Mount(Model):
    """A path of the host inside the machine's container."""

    container_path: Annotated[str | None, Schema("Path in the container.")] = None
    host_path: Annotated[str | None, Schema("Path on the host.")] = None
    read_only: Annotated[bool | None, Schema("Whether writing is refused.")] = None


class DockerMachineSpec(Model):
    """The machine's container as wanted."""

    bootstrap_timeout: Annotated[
        str | None, Schema("How long bootstrapping may take, as a Go duration.")
    ] = None
    custom_image: Annotated[
        str | None, Schema("Image in place of the one for the machine's version.")
    ] = None
    extra_mounts: Annotated[list[Mount], Schema("Paths of the host to mount.")] = Field(
        default_factory=list
    )
    pre_load_images: Annotated[
        list[str], Schema("Images to copy from the host before bootstrapping.")
    ] = Field(default_factory=list)
    provider_id: Annotated[
        str | None,
        Schema(
            "Identifies the machine at its infrastructure; the node carries the same.",
            length=(1, 512),
        ),
    ] = Field(alias="providerID", default=None)


class DockerMachineStatus(Model):
    """The machine's container as observed."""

    addresses: Annotated[list[MachineAddress], Schema("Names and addresses of the machine.")] = (
        Field(default_factory=list)
    )
    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    deprecated: Annotated[
        DockerDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    failure_domain: Annotated[str | None, Schema("Where the machine runs.", length=(1, 256))] = None
    initialization: Annotated[DockerInitialization, Schema("What has been reached once.")] = Field(
        default_factory=DockerInitialization
    )
    load_balancer_configured: Annotated[
        bool | None, Schema("The load balancer knows the machine.")
    ] = None


class DockerMachine(KubeObject):
    """A machine that is a container."""

    resource: ClassVar[Resource] = Resource(
        "infrastructure.cluster.x-k8s.io", "v1beta2", "DockerMachine", "dockermachines"
    )
    definition: ClassVar[Definition] = Definition(
        provider="infrastructure-docker",
        columns=(
            CLUSTER_LABEL,
            Column("Provider ID", ".spec.providerID", priority=10),
            Column("Failure domain", ".status.failureDomain"),
            Column("IP", '.status.addresses[?(@.type=="InternalIP")].address', priority=10),
            PAUSED,
            Column("Provisioned", ".status.initialization.provisioned"),
            AGE,
        ),
    )

    spec: DockerMachineSpec = Field(default_factory=DockerMachineSpec)
    status: DockerMachineStatus = Field(default_factory=DockerMachineStatus)


class DockerMachineTemplateResource(Model):
    """The container that copies are made of."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: Annotated[DockerMachineSpec, Schema(required=True)] = Field(
        default_factory=DockerMachineSpec
    )


class DockerMachineTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[
        DockerMachineTemplateResource, Schema("What copies are made of.", required=True)
    ] = Field(default_factory=DockerMachineTemplateResource)


class DockerMachineTemplateStatus(Model):
    """The template as observed."""

    capacity: Annotated[
        dict[str, Quantity], Schema("Resources of such a machine, for an autoscaler.")
    ] = Field(default_factory=dict)


class DockerMachineTemplate(KubeObject):
    """A container that each machine gets a copy of."""

    resource: ClassVar[Resource] = Resource(
        "infrastructure.cluster.x-k8s.io",
        "v1beta2",
        "DockerMachineTemplate",
        "dockermachinetemplates",
    )
    definition: ClassVar[Definition] = Definition(provider="infrastructure-docker", columns=(AGE,))

    spec: DockerMachineTemplateSpec = Field(default_factory=DockerMachineTemplateSpec)
    status: DockerMachineTemplateStatus = Field(default_factory=DockerMachineTemplateStatus)
