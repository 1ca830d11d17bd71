"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource
from capi_core.api.cluster import ClusterControlPlaneEndpoint, ClusterDeprecatedV1beta1Condition, ClusterFailureDomain, ClusterTopologyControlPlaneMetadata
from capi_core.api.machine import MachineAddresse


class DockerClusterLoadBalancerCustomHAProxyConfigTemplateRef(Model):
    name: str | None = None


class DockerClusterLoadBalancer(Model):
    custom_ha_proxy_config_template_ref: DockerClusterLoadBalancerCustomHAProxyConfigTemplateRef | None = Field(alias="customHAProxyConfigTemplateRef", default=None)
    image_repository: str | None = None
    image_tag: str | None = None


class DockerClusterSpec(Model):
    control_plane_endpoint: ClusterControlPlaneEndpoint = Field(default_factory=ClusterControlPlaneEndpoint)
    failure_domains: list[ClusterFailureDomain] = Field(default_factory=list)
    load_balancer: DockerClusterLoadBalancer = Field(default_factory=DockerClusterLoadBalancer)


class DockerClusterStatusDeprecatedV1beta1(Model):
    conditions: list[ClusterDeprecatedV1beta1Condition] = Field(default_factory=list)


class DockerClusterStatusDeprecated(Model):
    v1beta1: DockerClusterStatusDeprecatedV1beta1 = Field(default_factory=DockerClusterStatusDeprecatedV1beta1)


class DockerClusterStatusInitialization(Model):
    provisioned: bool | None = None


class DockerClusterStatus(Model):
    conditions: list[Condition] = Field(default_factory=list)
    deprecated: DockerClusterStatusDeprecated | None = None
    failure_domains: list[ClusterFailureDomain] = Field(default_factory=list)
    initialization: DockerClusterStatusInitialization = Field(default_factory=DockerClusterStatusInitialization)


class DockerCluster(KubeObject):
    resource: ClassVar[Resource] = Resource("infrastructure.cluster.x-k8s.io", "v1beta2", "DockerCluster", "dockerclusters")
    spec: DockerClusterSpec = Field(default_factory=DockerClusterSpec)
    status: DockerClusterStatus = Field(default_factory=DockerClusterStatus)


class DockerClusterTemplateTemplateSpec(Model):
    control_plane_endpoint: ClusterControlPlaneEndpoint = Field(default_factory=ClusterControlPlaneEndpoint)
    failure_domains: list[ClusterFailureDomain] = Field(default_factory=list)
    load_balancer: DockerClusterLoadBalancer = Field(default_factory=DockerClusterLoadBalancer)


class DockerClusterTemplateTemplate(Model):
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    spec: DockerClusterTemplateTemplateSpec = Field(default_factory=DockerClusterTemplateTemplateSpec)


class DockerClusterTemplateSpec(Model):
    template: DockerClusterTemplateTemplate = Field(default_factory=DockerClusterTemplateTemplate)


class DockerClusterTemplate(KubeObject):
    resource: ClassVar[Resource] = Resource("infrastructure.cluster.x-k8s.io", "v1beta2", "DockerClusterTemplate", "dockerclustertemplates")
    spec: DockerClusterTemplateSpec = Field(default_factory=DockerClusterTemplateSpec)
    status: Any = None


class DockerMachineExtraMount(Model):
    container_path: str | None = None
    host_path: str | None = None
    read_only: bool | None = None


class DockerMachineSpec(Model):
    bootstrap_timeout: str | None = None
    custom_image: str | None = None
    extra_mounts: list[DockerMachineExtraMount] = Field(default_factory=list)
    pre_load_images: list[str] = Field(default_factory=list)
    provider_id: str | None = Field(alias="providerID", default=None)


class DockerMachineStatus(Model):
    addresses: list[MachineAddresse] = Field(default_factory=list)
    conditions: list[Condition] = Field(default_factory=list)
    deprecated: DockerClusterStatusDeprecated | None = None
    failure_domain: str | None = None
    initialization: DockerClusterStatusInitialization = Field(default_factory=DockerClusterStatusInitialization)
    load_balancer_configured: bool | None = None


class DockerMachine(KubeObject):
    resource: ClassVar[Resource] = Resource("infrastructure.cluster.x-k8s.io", "v1beta2", "DockerMachine", "dockermachines")
    spec: DockerMachineSpec = Field(default_factory=DockerMachineSpec)
    status: DockerMachineStatus = Field(default_factory=DockerMachineStatus)


class DockerMachineTemplateTemplateSpec(Model):
    bootstrap_timeout: str | None = None
    custom_image: str | None = None
    extra_mounts: list[DockerMachineExtraMount] = Field(default_factory=list)
    pre_load_images: list[str] = Field(default_factory=list)
    provider_id: str | None = Field(alias="providerID", default=None)


class DockerMachineTemplateTemplate(Model):
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    spec: DockerMachineTemplateTemplateSpec = Field(default_factory=DockerMachineTemplateTemplateSpec)


class DockerMachineTemplateSpec(Model):
    template: DockerMachineTemplateTemplate = Field(default_factory=DockerMachineTemplateTemplate)


class DockerMachineTemplateStatus(Model):
    capacity: dict[str, int | str] = Field(default_factory=dict)


class DockerMachineTemplate(KubeObject):
    resource: ClassVar[Resource] = Resource("infrastructure.cluster.x-k8s.io", "v1beta2", "DockerMachineTemplate", "dockermachinetemplates")
    spec: DockerMachineTemplateSpec = Field(default_factory=DockerMachineTemplateSpec)
    status: DockerMachineTemplateStatus = Field(default_factory=DockerMachineTemplateStatus)
