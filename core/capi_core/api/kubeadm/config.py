"""The KubeadmConfig and its template."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.kubeadm.cluster_configuration import ClusterConfiguration
from capi_core.api.kubeadm.host import NTP, DiskSetup, File, IgnitionSpec, User
from capi_core.api.kubeadm.join import JoinConfiguration
from capi_core.api.kubeadm.node import InitConfiguration
from capi_core.api.meta import KubeObject, Model, NonEmpty, Resource
from capi_core.api.schema import (
    AGE,
    CLUSTER_LABEL,
    PAUSED,
    Column,
    Definition,
    ObservedGeneration,
    Schema,
)
from capi_core.api.shared import Conditions, TemplateMetadata, V1Beta1Condition


class KubeadmConfigSpec(NonEmpty):
    """How a host becomes a node."""

    boot_commands: Annotated[
        list[str],
        Schema(
            "Commands early in every boot.",
            items=(1, 1000),
            atomic=True,
            each=Schema(length=(1, 10240)),
        ),
    ] = Field(default_factory=list)
    cluster_configuration: Annotated[
        ClusterConfiguration | None, Schema("Settings of the whole cluster.")
    ] = None
    disk_setup: Annotated[DiskSetup, Schema("Disks to prepare.")] = Field(default_factory=DiskSetup)
    files: Annotated[list[File], Schema("Files to write.", items=(1, 200), atomic=True)] = Field(
        default_factory=list
    )
    format: Annotated[
        str | None,
        Schema(
            "Format of the bootstrap data; cloud-config when unset.",
            enum=("cloud-config", "ignition"),
        ),
    ] = None
    ignition: Annotated[IgnitionSpec, Schema("Settings for Ignition.")] = Field(
        default_factory=IgnitionSpec
    )
    init_configuration: Annotated[
        InitConfiguration | None, Schema("Settings of the first control plane node.")
    ] = None
    join_configuration: Annotated[
        JoinConfiguration | None, Schema("Settings of every further node.")
    ] = None
    mounts: Annotated[
        list[list[str]],
        Schema(
            "Lines of fstab, field by field.",
            items=(1, 100),
            atomic=True,
            each=Schema(items=(1, 100), each=Schema(length=(1, 512))),
        ),
    ] = Field(default_factory=list)
    ntp: Annotated[NTP, Schema("Time synchronisation.")] = Field(default_factory=NTP)
    post_kubeadm_commands: Annotated[
        list[str],
        Schema(
            "Commands after kubeadm.", items=(1, 1000), atomic=True, each=Schema(length=(1, 10240))
        ),
    ] = Field(default_factory=list)
    pre_kubeadm_commands: Annotated[
        list[str],
        Schema(
            "Commands before kubeadm.", items=(1, 1000), atomic=True, each=Schema(length=(1, 10240))
        ),
    ] = Field(default_factory=list)
    users: Annotated[list[User], Schema("Accounts to create.", items=(1, 100), atomic=True)] = (
        Field(default_factory=list)
    )
    verbosity: Annotated[int | None, Schema("Verbosity of kubeadm's output.")] = None


class KubeadmConfigV1Beta1Status(Model):
    """Status that v1beta1 had and v1beta2 has no more."""

    conditions: Annotated[list[V1Beta1Condition], Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    failure_message: Annotated[
        str | None, Schema("Details of an error that needs a person.", length=(1, 10240))
    ] = None
    failure_reason: Annotated[
        str | None, Schema("An error that needs a person, in one word.", length=(1, 256))
    ] = None


class KubeadmConfigDeprecatedStatus(Model):
    """Status kept for older versions of the API."""

    v1beta1: Annotated[KubeadmConfigV1Beta1Status, Schema("Status of v1beta1.")] = Field(
        alias="v1beta1", default_factory=KubeadmConfigV1Beta1Status
    )


class KubeadmConfigInitialization(NonEmpty):
    """What has been reached once in the configuration's life."""

    data_secret_created: Annotated[
        bool | None, Schema("The bootstrap data has been there once.")
    ] = None


class KubeadmConfigStatus(NonEmpty):
    """The configuration as observed."""

    conditions: Annotated[Conditions, Schema("The observations, by type.")] = Field(
        default_factory=list
    )
    data_secret_name: Annotated[
        str | None, Schema("Secret with the finished bootstrap data.", length=(1, 253))
    ] = None
    deprecated: Annotated[
        KubeadmConfigDeprecatedStatus | None, Schema("Status of older versions of the API.")
    ] = None
    initialization: Annotated[
        KubeadmConfigInitialization, Schema("What has been reached once.")
    ] = Field(default_factory=KubeadmConfigInitialization)
    observed_generation: Annotated[
        ObservedGeneration | None, Schema("The generation of the object that this status is about.")
    ] = None


class KubeadmConfig(KubeObject):
    """The bootstrap data of one machine."""

    resource: ClassVar[Resource] = Resource(
        "bootstrap.cluster.x-k8s.io", "v1beta2", "KubeadmConfig", "kubeadmconfigs"
    )
    definition: ClassVar[Definition] = Definition(
        provider="bootstrap-kubeadm",
        columns=(
            CLUSTER_LABEL,
            PAUSED,
            Column("Data secret created", ".status.initialization.dataSecretCreated"),
            AGE,
        ),
    )

    spec: KubeadmConfigSpec = Field(default_factory=KubeadmConfigSpec)
    status: KubeadmConfigStatus = Field(default_factory=KubeadmConfigStatus)


class KubeadmConfigTemplateResource(NonEmpty):
    """The configuration that copies are made of."""

    metadata: Annotated[TemplateMetadata, Schema("Labels and annotations to add.")] = Field(
        default_factory=TemplateMetadata
    )
    spec: Annotated[KubeadmConfigSpec, Schema("The configuration.")] = Field(
        default_factory=KubeadmConfigSpec
    )


class KubeadmConfigTemplateSpec(Model):
    """The template as wanted."""

    template: Annotated[
        KubeadmConfigTemplateResource, Schema("What copies are made of.", required=True)
    ] = Field(default_factory=KubeadmConfigTemplateResource)


class KubeadmConfigTemplate(KubeObject):
    """A configuration that each machine gets a copy of."""

    resource: ClassVar[Resource] = Resource(
        "bootstrap.cluster.x-k8s.io", "v1beta2", "KubeadmConfigTemplate", "kubeadmconfigtemplates"
    )
    definition: ClassVar[Definition] = Definition(
        provider="bootstrap-kubeadm",
        columns=(
            Column("ClusterClass", '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name'),
            Column("Cluster", '.metadata.ownerReferences[?(@.kind=="Cluster")].name'),
            AGE,
        ),
    )

    spec: KubeadmConfigTemplateSpec = Field(default_factory=KubeadmConfigTemplateSpec)
