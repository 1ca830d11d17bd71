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

    name: Annotated[str | None, Schema(default="")] = None


class DockerLoadBalancer(Model):
    """The container in front of the API servers."""

    custom_ha_proxy_config_template_ref: LocalObjectReference | None = Field(
        alias="customHAProxyConfigTemplateRef", default=None
    )
    image_repository: str | None = None
    image_tag: str | None = None


class DockerClusterSpec(Model):
    """The cluster's infrastructure as wanted."""

    control_plane_endpoint: APIEndpoint = Field(default_factory=APIEndpoint)
    failure_domains: Annotated[list[FailureDomain], Schema(items=(1, 100), keys=("name",))] = Field(
        default_factory=list
    )
    load_balancer: DockerLoadBalancer = Field(default_factory=DockerLoadBalancer)


class DockerV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: list[V1Beta1Condition] = Field(default_factory=list)


class DockerDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: DockerV1Beta1Status = Field(alias="v1beta1", default_factory=DockerV1Beta1Status)


class DockerInitialization(NonEmpty):
    """What has been reached once in the object's life."""

    provisioned: bool | None = None


class DockerClusterStatus(Model):
    """The cluster's infrastructure as observed."""

    conditions: Conditions = Field(default_factory=list)
    deprecated: DockerDeprecatedStatus | None = None
    failure_domains: Annotated[list[FailureDomain], Schema(items=(1, 100), keys=("name",))] = Field(
        default_factory=list
    )
    initialization: DockerInitialization = Field(default_factory=DockerInitialization)


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

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: Annotated[DockerClusterSpec, Schema(required=True)] = Field(
        default_factory=DockerClusterSpec
    )


class DockerClusterTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[DockerClusterTemplateResource, Schema(required=True)] = Field(
        default_factory=DockerClusterTemplateResource
    )


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

    container_path: str | None = None
    host_path: str | None = None
    read_only: bool | None = None


class DockerMachineSpec(Model):
    """The machine's container as wanted."""

    bootstrap_timeout: str | None = None
    custom_image: str | None = None
    extra_mounts: list[Mount] = Field(default_factory=list)
    pre_load_images: list[str] = Field(default_factory=list)
    provider_id: Annotated[str | None, Schema(length=(1, 512))] = Field(
        alias="providerID", default=None
    )


class DockerMachineStatus(Model):
    """The machine's container as observed."""

    addresses: list[MachineAddress] = Field(default_factory=list)
    conditions: Conditions = Field(default_factory=list)
    deprecated: DockerDeprecatedStatus | None = None
    failure_domain: Annotated[str | None, Schema(length=(1, 256))] = None
    initialization: DockerInitialization = Field(default_factory=DockerInitialization)
    load_balancer_configured: bool | None = None


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

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: Annotated[DockerMachineSpec, Schema(required=True)] = Field(
        default_factory=DockerMachineSpec
    )


class DockerMachineTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[DockerMachineTemplateResource, Schema(required=True)] = Field(
        default_factory=DockerMachineTemplateResource
    )


class DockerMachineTemplateStatus(Model):
    """The template as observed."""

    capacity: dict[str, Quantity] = Field(default_factory=dict)


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
