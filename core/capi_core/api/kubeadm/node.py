"""kubeadm's InitConfiguration and what it shares with JoinConfiguration."""

from typing import Annotated

from pydantic import Field

from capi_core.api.kubeadm.environment import UNIQUE_NAMES, Arg
from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Schema, Seconds, Time


class BootstrapToken(Model):
    """A token with which nodes join."""

    description: Annotated[str | None, Schema("What the token is for.", length=(1, 512))] = None
    expires: Annotated[
        Time | None, Schema("When the token expires; not together with ttlSeconds.")
    ] = None
    groups: Annotated[
        list[str],
        Schema(
            "Groups of whoever uses the token.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)
    token: Annotated[str, Schema("The token, as id.secret.", required=True, length=(1, 23))] = ""
    ttl_seconds: Annotated[
        Seconds | None, Schema("How long the token is valid; 0 is without end.")
    ] = None
    usages: Annotated[
        list[str],
        Schema(
            "What the token may be used for.",
            items=(1, 100),
            atomic=True,
            each=Schema(length=(1, 256)),
        ),
    ] = Field(default_factory=list)


class LocalAPIEndpoint(NonEmpty):
    """Where this node's API server listens."""

    advertise_address: Annotated[
        str | None, Schema("Address that the API server tells others.", length=(1, 39))
    ] = None
    bind_port: Annotated[int | None, Schema("Port of the API server.", between=(1, None))] = None


class NodeTaint(Model):
    """A taint that the node registers with."""

    effect: Annotated[
        str, Schema("What happens with pods that do not tolerate the taint.", required=True)
    ] = ""
    key: Annotated[str, Schema("Key of the taint.", required=True)] = ""
    time_added: Annotated[Time | None, Schema("When the taint was added.")] = None
    value: Annotated[str | None, Schema("Value of the taint.")] = None


class NodeRegistrationOptions(NonEmpty):
    """How the node registers itself."""

    cri_socket: Annotated[
        str | None, Schema("Socket of the container runtime.", length=(1, 512))
    ] = None
    ignore_preflight_errors: Annotated[
        list[str],
        Schema(
            "Checks whose errors are only warnings.",
            items=(1, 50),
            atomic=True,
            each=Schema(length=(1, 512)),
        ),
    ] = Field(default_factory=list)
    image_pull_policy: Annotated[
        str | None, Schema("When images are pulled.", enum=("Always", "IfNotPresent", "Never"))
    ] = None
    image_pull_serial: Annotated[
        bool | None, Schema("Whether images are pulled one after the other.")
    ] = None
    kubelet_extra_args: Annotated[
        list[Arg],
        Schema(
            "Further flags of the kubelet.",
            items=(1, 100),
            keys=("name", "value"),
            rules=(UNIQUE_NAMES,),
        ),
    ] = Field(default_factory=list)
    name: Annotated[
        str | None, Schema("Name of the node; the host's name when unset.", length=(1, 253))
    ] = None
    taints: Annotated[
        list[NodeTaint] | None,
        Schema("Taints to register with; an empty list is none at all.", items=(0, 100)),
    ] = None


class Patches(NonEmpty):
    """Patches for the static pods' manifests."""

    directory: Annotated[str | None, Schema("Folder with the patches.", length=(1, 512))] = None


class Timeouts(NonEmpty):
    """How long kubeadm waits for each of its steps."""

    control_plane_component_health_check_seconds: Annotated[
        Seconds | None, Schema("Wait for the control plane's components.")
    ] = None
    discovery_seconds: Annotated[Seconds | None, Schema("Wait for the cluster's information.")] = (
        None
    )
    etcd_api_call_seconds: Annotated[Seconds | None, Schema("Wait for a call to etcd.")] = Field(
        alias="etcdAPICallSeconds", default=None
    )
    kubelet_health_check_seconds: Annotated[Seconds | None, Schema("Wait for the kubelet.")] = None
    kubernetes_api_call_seconds: Annotated[
        Seconds | None, Schema("Wait for a call to the API server.")
    ] = Field(alias="kubernetesAPICallSeconds", default=None)
    tls_bootstrap_seconds: Annotated[
        Seconds | None, Schema("Wait for the kubelet's certificate.")
    ] = None


class InitConfiguration(NonEmpty):
    """What ``kubeadm init`` reads on the first control plane node."""

    bootstrap_tokens: Annotated[
        list[BootstrapToken], Schema("Tokens to create.", items=(1, 100), atomic=True)
    ] = Field(default_factory=list)
    local_api_endpoint: Annotated[
        LocalAPIEndpoint, Schema("Where this node's API server listens.")
    ] = Field(alias="localAPIEndpoint", default_factory=LocalAPIEndpoint)
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
