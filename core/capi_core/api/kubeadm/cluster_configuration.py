"""kubeadm's ClusterConfiguration: what holds for the whole cluster."""

from typing import Annotated

from pydantic import Field

from capi_core.api.kubeadm.environment import UNIQUE_NAMES, Arg, EnvVar
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Schema


class HostPathMount(Model):
    """A path of the host that a component sees."""

    host_path: Annotated[str, Schema("Path on the host.", required=True, length=(1, 512))] = ""
    mount_path: Annotated[str, Schema("Path in the pod.", required=True, length=(1, 512))] = ""
    name: Annotated[str, Schema("Name of the volume.", required=True, length=(1, 512))] = ""
    path_type: Annotated[str | None, Schema("What the path on the host must be.")] = None
    read_only: Annotated[bool | None, Schema("Whether writing is refused.")] = None


class APIServer(NonEmpty):
    """Settings of kube-apiserver."""

    cert_sans: Annotated[
        list[str],
        Schema(
            "Further names and addresses in the serving certificate.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 253)),
        ),
    ] = Field(alias="certSANs", default_factory=list)
    extra_args: Annotated[
        list[Arg],
        Schema("Further flags.", items=(1, 100), keys=("name", "value"), rules=(UNIQUE_NAMES,)),
    ] = Field(default_factory=list)
    extra_envs: Annotated[
        list[EnvVar], Schema("Further environment variables.", items=(1, 100), atomic=True)
    ] = Field(default_factory=list)
    extra_volumes: Annotated[
        list[HostPathMount], Schema("Further paths of the host.", items=(1, 100), atomic=True)
    ] = Field(default_factory=list)


class ControlPlaneComponent(NonEmpty):
    """Settings of kube-controller-manager or kube-scheduler."""

    extra_args: Annotated[
        list[Arg],
        Schema("Further flags.", items=(1, 100), keys=("name", "value"), rules=(UNIQUE_NAMES,)),
    ] = Field(default_factory=list)
    extra_envs: Annotated[
        list[EnvVar], Schema("Further environment variables.", items=(1, 100), atomic=True)
    ] = Field(default_factory=list)
    extra_volumes: Annotated[
        list[HostPathMount], Schema("Further paths of the host.", items=(1, 100), atomic=True)
    ] = Field(default_factory=list)


class DNS(NonEmpty):
    """The image of the DNS add-on."""

    image_repository: Annotated[
        str | None, Schema("Where the image is pulled from.", length=(1, 512))
    ] = None
    image_tag: Annotated[str | None, Schema("Tag of the image.", length=(1, 256))] = None


class ExternalEtcd(Model):
    """An etcd that somebody else runs."""

    ca_file: Annotated[str, Schema("CA of etcd.", required=True, length=(1, 512))] = ""
    cert_file: Annotated[
        str, Schema("Client certificate for etcd.", required=True, length=(1, 512))
    ] = ""
    endpoints: Annotated[
        list[str],
        Schema(
            "URLs of etcd's members.",
            required=True,
            items=(1, 50),
            atomic=True,
            each=Schema(length=(1, 512)),
        ),
    ] = Field(default_factory=list)
    key_file: Annotated[
        str, Schema("Key of the client certificate.", required=True, length=(1, 512))
    ] = ""


class LocalEtcd(NonEmpty):
    """The etcd that kubeadm runs on each control plane node."""

    data_dir: Annotated[str | None, Schema("Where etcd keeps its data.", length=(1, 512))] = None
    extra_args: Annotated[
        list[Arg],
        Schema("Further flags.", items=(1, 100), keys=("name", "value"), rules=(UNIQUE_NAMES,)),
    ] = Field(default_factory=list)
    extra_envs: Annotated[
        list[EnvVar], Schema("Further environment variables.", items=(1, 100), atomic=True)
    ] = Field(default_factory=list)
    image_repository: Annotated[
        str | None, Schema("Where the image is pulled from.", length=(1, 512))
    ] = None
    image_tag: Annotated[str | None, Schema("Tag of the image.", length=(1, 256))] = None
    peer_cert_sans: Annotated[
        list[str],
        Schema(
            "Further names in the peer certificate.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 253)),
        ),
    ] = Field(alias="peerCertSANs", default_factory=list)
    server_cert_sans: Annotated[
        list[str],
        Schema(
            "Further names in the serving certificate.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 253)),
        ),
    ] = Field(alias="serverCertSANs", default_factory=list)


class Etcd(NonEmpty):
    """Which etcd the API server uses."""

    external: Annotated[ExternalEtcd | None, Schema("Somebody else's etcd.")] = None
    local: Annotated[LocalEtcd | None, Schema("An etcd on each control plane node.")] = None


class ClusterConfiguration(NonEmpty):
    """What kubeadm applies to the whole cluster."""

    api_server: Annotated[APIServer, Schema("kube-apiserver.")] = Field(default_factory=APIServer)
    ca_certificate_validity_period_days: Annotated[
        int | None, Schema("How long new CA certificates are valid.", between=(1, 36500))
    ] = None
    certificate_validity_period_days: Annotated[
        int | None, Schema("How long new certificates are valid.", between=(1, 1095))
    ] = None
    certificates_dir: Annotated[
        str | None, Schema("Where certificates are on the node.", length=(1, 512))
    ] = None
    control_plane_endpoint: Annotated[
        str | None,
        Schema("host:port of the API server; the cluster's when unset.", length=(1, 512)),
    ] = None
    controller_manager: Annotated[ControlPlaneComponent, Schema("kube-controller-manager.")] = (
        Field(default_factory=ControlPlaneComponent)
    )
    dns: Annotated[DNS, Schema("The DNS add-on.")] = Field(default_factory=DNS)
    encryption_algorithm: Annotated[
        str | None,
        Schema(
            "Algorithm of the keys.",
            enum=("ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"),
        ),
    ] = None
    etcd: Annotated[Etcd, Schema("etcd.")] = Field(default_factory=Etcd)
    feature_gates: Annotated[dict[str, bool], Schema("Feature gates of kubeadm.")] = Field(
        default_factory=dict
    )
    image_repository: Annotated[
        str | None, Schema("Where all control plane images are pulled from.", length=(1, 512))
    ] = None
    scheduler: Annotated[ControlPlaneComponent, Schema("kube-scheduler.")] = Field(
        default_factory=ControlPlaneComponent
    )
