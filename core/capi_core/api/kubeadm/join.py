"""kubeadm's JoinConfiguration: how a node finds and trusts the cluster."""

from typing import Annotated

from pydantic import Field

from capi_core.api.kubeadm.node import LocalAPIEndpoint, NodeRegistrationOptions, Patches, Timeouts
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Schema


class JoinControlPlane(Model):
    """The joining node becomes a control plane node."""

    local_api_endpoint: Annotated[
        LocalAPIEndpoint, Schema("Where this node's API server listens.")
    ] = Field(alias="localAPIEndpoint", default_factory=LocalAPIEndpoint)


class BootstrapTokenDiscovery(NonEmpty):
    """Trust in the cluster by way of a token."""

    api_server_endpoint: Annotated[
        str | None, Schema("host:port of an API server.", length=(1, 512))
    ] = None
    ca_cert_hashes: Annotated[
        list[str],
        Schema(
            "Hashes of the CA's public key that are trusted.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 512)),
        ),
    ] = Field(default_factory=list)
    token: Annotated[
        str | None, Schema("Token that proves the cluster's identity.", length=(1, 512))
    ] = None
    unsafe_skip_ca_verification: Annotated[
        bool | None, Schema("Trusts any CA that knows the token.")
    ] = Field(alias="unsafeSkipCAVerification", default=None)


class KubeConfigCluster(NonEmpty):
    """The cluster's entry of the kubeconfig."""

    certificate_authority_data: Annotated[
        str | None, Schema("CA in PEM.", format="byte", length=(1, 51200))
    ] = None
    insecure_skip_tls_verify: Annotated[bool | None, Schema("Trusts any certificate.")] = Field(
        alias="insecureSkipTLSVerify", default=None
    )
    proxy_url: Annotated[str | None, Schema("Proxy to the API server.", length=(1, 512))] = Field(
        alias="proxyURL", default=None
    )
    server: Annotated[str | None, Schema("URL of the API server.", length=(1, 512))] = None
    tls_server_name: Annotated[
        str | None, Schema("Name that the certificate must have.", length=(1, 512))
    ] = None


class KubeConfigAuthProvider(Model):
    """Credentials from an authentication plugin."""

    config: Annotated[dict[str, str], Schema("Settings of the plugin.")] = Field(
        default_factory=dict
    )
    name: Annotated[str, Schema("Name of the plugin.", required=True, length=(1, 256))] = ""


class KubeConfigAuthExecEnv(Model):
    """An environment variable of the command."""

    name: Annotated[str, Schema("Name of the variable.", required=True, length=(1, 512))] = ""
    value: Annotated[str, Schema("Its value.", required=True, length=(1, 512))] = ""


class KubeConfigAuthExec(Model):
    """Credentials from a command."""

    api_version: Annotated[
        str | None, Schema("Version of the protocol with the command.", length=(1, 512))
    ] = None
    args: Annotated[
        list[str],
        Schema(
            "Arguments of the command.", items=(1, 100), atomic=True, each=Schema(length=(1, 512))
        ),
    ] = Field(default_factory=list)
    command: Annotated[str, Schema("The command.", required=True, length=(1, 1024))] = ""
    env: Annotated[
        list[KubeConfigAuthExecEnv],
        Schema("Further environment variables.", items=(1, 100), atomic=True),
    ] = Field(default_factory=list)
    provide_cluster_info: Annotated[
        bool | None, Schema("Whether the command is told about the cluster.")
    ] = None


class KubeConfigUser(NonEmpty):
    """The user's entry of the kubeconfig."""

    auth_provider: Annotated[
        KubeConfigAuthProvider | None, Schema("Credentials from a plugin.")
    ] = None
    exec: Annotated[KubeConfigAuthExec | None, Schema("Credentials from a command.")] = None


class FileDiscoveryKubeConfig(Model):
    """The kubeconfig to write on the joining node."""

    cluster: Annotated[
        KubeConfigCluster, Schema("The cluster; server and CA are filled in when unset.")
    ] = Field(default_factory=KubeConfigCluster)
    user: Annotated[KubeConfigUser, Schema("The credentials.", required=True)] = Field(
        default_factory=KubeConfigUser
    )


class FileDiscovery(Model):
    """Trust in the cluster by way of a kubeconfig file."""

    kube_config: Annotated[
        FileDiscoveryKubeConfig | None, Schema("Content to write to the path.")
    ] = None
    kube_config_path: Annotated[
        str, Schema("Path or URL of the file.", required=True, length=(1, 512))
    ] = ""


class Discovery(NonEmpty):
    """How the joining node comes to trust the cluster."""

    bootstrap_token: Annotated[BootstrapTokenDiscovery | None, Schema("By token.")] = None
    file: Annotated[FileDiscovery | None, Schema("By kubeconfig file.")] = None
    tls_bootstrap_token: Annotated[
        str | None, Schema("Token for the kubelet's first certificate.", length=(1, 512))
    ] = None


class JoinConfiguration(NonEmpty):
    """What ``kubeadm join`` reads."""

    ca_cert_path: Annotated[
        str | None, Schema("Path of the CA certificate on the node.", length=(1, 512))
    ] = None
    control_plane: Annotated[JoinControlPlane | None, Schema("Makes it a control plane node.")] = (
        None
    )
    discovery: Annotated[Discovery, Schema("How the node comes to trust the cluster.")] = Field(
        default_factory=Discovery
    )
    node_registration: Annotated[NodeRegistrationOptions, Schema("How the node registers.")] = (
        Field(default_factory=NodeRegistrationOptions)
    )
    patches: Annotated[Patches, Schema("Patches for static pods.")] = Field(default_factory=Patches)
    skip_phases: Annotated[
        list[str],
        Schema(
            "Phases of kubeadm to leave out.",
            items=(1, 50),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)
    timeouts: Annotated[Timeouts, Schema("Time limits.")] = Field(default_factory=Timeouts)
