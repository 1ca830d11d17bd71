"""kubeadm's JoinConfiguration: how a node finds and trusts the cluster."""

from typing import Annotated

from pydantic import Field

from capi_core.api.kubeadm.node import LocalAPIEndpoint, NodeRegistrationOptions, Patches, Timeouts
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Schema


class JoinControlPlane(Model):
    """The joining node becomes a control plane node."""

    local_api_endpoint: LocalAPIEndpoint = Field(
        alias="localAPIEndpoint", default_factory=LocalAPIEndpoint
    )


class BootstrapTokenDiscovery(NonEmpty):
    """Trust in the cluster by way of a token."""

    api_server_endpoint: Annotated[str | None, Schema(length=(1, 512))] = None
    ca_cert_hashes: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 512)))
    ] = Field(default_factory=list)
    token: Annotated[str | None, Schema(length=(1, 512))] = None
    unsafe_skip_ca_verification: bool | None = Field(alias="unsafeSkipCAVerification", default=None)


class KubeConfigCluster(NonEmpty):
    """The cluster's entry of the kubeconfig."""

    certificate_authority_data: Annotated[str | None, Schema(format="byte", length=(1, 51200))] = (
        None
    )
    insecure_skip_tls_verify: bool | None = Field(alias="insecureSkipTLSVerify", default=None)
    proxy_url: Annotated[str | None, Schema(length=(1, 512))] = Field(
        alias="proxyURL", default=None
    )
    server: Annotated[str | None, Schema(length=(1, 512))] = None
    tls_server_name: Annotated[str | None, Schema(length=(1, 512))] = None


class KubeConfigAuthProvider(Model):
    """Credentials from an authentication plugin."""

    config: dict[str, str] = Field(default_factory=dict)
    name: Annotated[str, Schema(required=True, length=(1, 256))] = ""


class KubeConfigAuthExecEnv(Model):
    """An environment variable of the command."""

    name: Annotated[str, Schema(required=True, length=(1, 512))] = ""
    value: Annotated[str, Schema(required=True, length=(1, 512))] = ""


class KubeConfigAuthExec(Model):
    """Credentials from a command."""

    api_version: Annotated[str | None, Schema(length=(1, 512))] = None
    args: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 512)))
    ] = Field(default_factory=list)
    command: Annotated[str, Schema(required=True, length=(1, 1024))] = ""
    env: Annotated[list[KubeConfigAuthExecEnv], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )
    provide_cluster_info: bool | None = None


class KubeConfigUser(NonEmpty):
    """The user's entry of the kubeconfig."""

    auth_provider: KubeConfigAuthProvider | None = None
    exec: KubeConfigAuthExec | None = None


class FileDiscoveryKubeConfig(Model):
    """The kubeconfig to write on the joining node."""

    cluster: KubeConfigCluster = Field(default_factory=KubeConfigCluster)
    user: Annotated[KubeConfigUser, Schema(required=True)] = Field(default_factory=KubeConfigUser)


class FileDiscovery(Model):
    """Trust in the cluster by way of a kubeconfig file."""

    kube_config: FileDiscoveryKubeConfig | None = None
    kube_config_path: Annotated[str, Schema(required=True, length=(1, 512))] = ""


class Discovery(NonEmpty):
    """How the joining node comes to trust the cluster."""

    bootstrap_token: BootstrapTokenDiscovery | None = None
    file: FileDiscovery | None = None
    tls_bootstrap_token: Annotated[str | None, Schema(length=(1, 512))] = None


class JoinConfiguration(NonEmpty):
    """What ``kubeadm join`` reads."""

    ca_cert_path: Annotated[str | None, Schema(length=(1, 512))] = None
    control_plane: JoinControlPlane | None = None
    discovery: Discovery = Field(default_factory=Discovery)
    node_registration: NodeRegistrationOptions = Field(default_factory=NodeRegistrationOptions)
    patches: Patches = Field(default_factory=Patches)
    skip_phases: Annotated[
        list[str], Schema(items=(1, 50), atomic=True, each=Schema(length=(1, 256)))
    ] = Field(default_factory=list)
    timeouts: Timeouts = Field(default_factory=Timeouts)
