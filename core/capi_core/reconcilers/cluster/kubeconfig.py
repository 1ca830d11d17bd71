"""The kubeconfig Secret of a Cluster whose control plane is not managed by an object."""

from capi_core.contract.secrets import (
    CA,
    KUBECONFIG,
    SECRETS,
    admin_kubeconfig,
    read_key_pair,
    secret_name,
    secret_object,
)
from capi_core.reconcilers.cluster.scope import ClusterScope
from capi_core.runtime.client import Client
from capi_core.runtime.errors import NotReady

_CA_MISSING_SECONDS = 30.0


async def ensure_kubeconfig(scope: ClusterScope, client: Client) -> None:
    """Write ``<cluster>-kubeconfig`` unless a control plane object does."""
    cluster = scope.obj
    endpoint = cluster.spec.control_plane_endpoint
    has_control_plane = cluster.spec.control_plane_ref and cluster.spec.control_plane_ref.name
    if cluster.deleting or has_control_plane or not endpoint.host or not endpoint.port:
        return
    name = secret_name(cluster.name, KUBECONFIG)
    if await client.find(SECRETS, cluster.namespace, name):
        return
    ca = await read_key_pair(client, cluster.namespace, cluster.name, CA)
    if ca is None:
        raise NotReady(
            f"Secret {secret_name(cluster.name, CA)} does not exist",
            requeue_after=_CA_MISSING_SECONDS,
        )
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    text = admin_kubeconfig(cluster.name, f"https://{host}:{endpoint.port}", ca)
    secret = secret_object(cluster.name, cluster.namespace, name, {"value": text.encode()}, cluster)
    await client.create(secret, SECRETS)
