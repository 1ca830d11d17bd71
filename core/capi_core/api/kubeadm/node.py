"""kubeadm's InitConfiguration and what it shares with JoinConfiguration."""

from typing import Annotated

from pydantic import Field

from capi_core.api.kubeadm.environment import UNIQUE_NAMES, Arg
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Schema, Seconds, Time


class BootstrapToken(Model):
    """A token with which nodes join."""

    description: Annotated[str | None, Schema(length=(1, 512))] = None
    expires: Time | None = None
    groups: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 256)))
    ] = Field(default_factory=list)
    token: Annotated[str, Schema(required=True, length=(1, 23))] = ""
    ttl_seconds: Seconds | None = None
    usages: Annotated[
        list[str], Schema(items=(1, 100), atomic=True, each=Schema(length=(1, 256)))
    ] = Field(default_factory=list)


class LocalAPIEndpoint(NonEmpty):
    """Where this node's API server listens."""

    advertise_address: Annotated[str | None, Schema(length=(1, 39))] = None
    bind_port: Annotated[int | None, Schema(between=(1, None))] = None


class NodeTaint(Model):
    """A taint that the node registers with."""

    effect: Annotated[str, Schema(required=True)] = ""
    key: Annotated[str, Schema(required=True)] = ""
    time_added: Time | None = None
    value: str | None = None


class NodeRegistrationOptions(NonEmpty):
    """How the node registers itself."""

    cri_socket: Annotated[str | None, Schema(length=(1, 512))] = None
    ignore_preflight_errors: Annotated[
        list[str], Schema(items=(1, 50), atomic=True, each=Schema(length=(1, 512)))
    ] = Field(default_factory=list)
    image_pull_policy: Annotated[str | None, Schema(enum=("Always", "IfNotPresent", "Never"))] = (
        None
    )
    image_pull_serial: bool | None = None
    kubelet_extra_args: Annotated[
        list[Arg], Schema(items=(1, 100), keys=("name", "value"), rules=(UNIQUE_NAMES,))
    ] = Field(default_factory=list)
    name: Annotated[str | None, Schema(length=(1, 253))] = None
    taints: Annotated[list[NodeTaint], Schema(items=(0, 100))] = Field(default_factory=list)


class Patches(NonEmpty):
    """Patches for the static pods' manifests."""

    directory: Annotated[str | None, Schema(length=(1, 512))] = None


class Timeouts(NonEmpty):
    """How long kubeadm waits for each of its steps."""

    control_plane_component_health_check_seconds: Seconds | None = None
    discovery_seconds: Seconds | None = None
    etcd_api_call_seconds: Seconds | None = Field(alias="etcdAPICallSeconds", default=None)
    kubelet_health_check_seconds: Seconds | None = None
    kubernetes_api_call_seconds: Seconds | None = Field(
        alias="kubernetesAPICallSeconds", default=None
    )
    tls_bootstrap_seconds: Seconds | None = None


class InitConfiguration(NonEmpty):
    """What ``kubeadm init`` reads on the first control plane node."""

    bootstrap_tokens: Annotated[list[BootstrapToken], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )
    local_api_endpoint: LocalAPIEndpoint = Field(
        alias="localAPIEndpoint", default_factory=LocalAPIEndpoint
    )
    node_registration: NodeRegistrationOptions = Field(default_factory=NodeRegistrationOptions)
    patches: Patches = Field(default_factory=Patches)
    skip_phases: Annotated[
        list[str], Schema(items=(1, 50), atomic=True, each=Schema(length=(1, 256)))
    ] = Field(default_factory=list)
    timeouts: Timeouts = Field(default_factory=Timeouts)
