"""kubeadm's ClusterConfiguration: what holds for the whole cluster."""

from typing import Annotated

from pydantic import Field

from capi_core.api.kubeadm.environment import UNIQUE_NAMES, Arg, EnvVar
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Schema


class HostPathMount(Model):
    """A path of the host that a component sees."""

    host_path: Annotated[str, Schema(required=True, length=(1, 512))] = ""
    mount_path: Annotated[str, Schema(required=True, length=(1, 512))] = ""
    name: Annotated[str, Schema(required=True, length=(1, 512))] = ""
    path_type: str | None = None
    read_only: bool | None = None


class APIServer(NonEmpty):
    """Settings of kube-apiserver."""

    cert_sans: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 253)))
    ] = Field(alias="certSANs", default_factory=list)
    extra_args: Annotated[
        list[Arg], Schema(items=(1, 100), keys=("name", "value"), rules=(UNIQUE_NAMES,))
    ] = Field(default_factory=list)
    extra_envs: Annotated[list[EnvVar], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )
    extra_volumes: Annotated[list[HostPathMount], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )


class ControlPlaneComponent(NonEmpty):
    """Settings of kube-controller-manager or kube-scheduler."""

    extra_args: Annotated[
        list[Arg], Schema(items=(1, 100), keys=("name", "value"), rules=(UNIQUE_NAMES,))
    ] = Field(default_factory=list)
    extra_envs: Annotated[list[EnvVar], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )
    extra_volumes: Annotated[list[HostPathMount], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )


class DNS(NonEmpty):
    """The image of the DNS add-on."""

    image_repository: Annotated[str | None, Schema(length=(1, 512))] = None
    image_tag: Annotated[str | None, Schema(length=(1, 256))] = None


class ExternalEtcd(Model):
    """An etcd that somebody else runs."""

    ca_file: Annotated[str, Schema(required=True, length=(1, 512))] = ""
    cert_file: Annotated[str, Schema(required=True, length=(1, 512))] = ""
    endpoints: Annotated[
        list[str], Schema(required=True, items=(1, 50), atomic=True, each=Schema(length=(1, 512)))
    ] = Field(default_factory=list)
    key_file: Annotated[str, Schema(required=True, length=(1, 512))] = ""


class LocalEtcd(NonEmpty):
    """The etcd that kubeadm runs on each control plane node."""

    data_dir: Annotated[str | None, Schema(length=(1, 512))] = None
    extra_args: Annotated[
        list[Arg], Schema(items=(1, 100), keys=("name", "value"), rules=(UNIQUE_NAMES,))
    ] = Field(default_factory=list)
    extra_envs: Annotated[list[EnvVar], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )
    image_repository: Annotated[str | None, Schema(length=(1, 512))] = None
    image_tag: Annotated[str | None, Schema(length=(1, 256))] = None
    peer_cert_sans: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 253)))
    ] = Field(alias="peerCertSANs", default_factory=list)
    server_cert_sans: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 253)))
    ] = Field(alias="serverCertSANs", default_factory=list)


class Etcd(NonEmpty):
    """Which etcd the API server uses."""

    external: ExternalEtcd | None = None
    local: LocalEtcd | None = None


class ClusterConfiguration(NonEmpty):
    """What kubeadm applies to the whole cluster."""

    api_server: APIServer = Field(default_factory=APIServer)
    ca_certificate_validity_period_days: Annotated[int | None, Schema(between=(1, 36500))] = None
    certificate_validity_period_days: Annotated[int | None, Schema(between=(1, 1095))] = None
    certificates_dir: Annotated[str | None, Schema(length=(1, 512))] = None
    control_plane_endpoint: Annotated[str | None, Schema(length=(1, 512))] = None
    controller_manager: ControlPlaneComponent = Field(default_factory=ControlPlaneComponent)
    dns: DNS = Field(default_factory=DNS)
    encryption_algorithm: Annotated[
        str | None, Schema(enum=("ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"))
    ] = None
    etcd: Etcd = Field(default_factory=Etcd)
    feature_gates: dict[str, bool] = Field(default_factory=dict)
    image_repository: Annotated[str | None, Schema(length=(1, 512))] = None
    scheduler: ControlPlaneComponent = Field(default_factory=ControlPlaneComponent)
