"""The certificate and kubeconfig Secrets of a control plane: made once, renewed, never guessed."""

import asyncio
from datetime import UTC, datetime, timedelta

from capi_controlplane.scope import ControlPlaneScope
from capi_core.api.meta import JsonObject
from capi_core.contract.secrets import (
    API_SERVER_ETCD_CLIENT,
    CA,
    ETCD_CA,
    FRONT_PROXY_CA,
    KUBECONFIG,
    SECRET_TYPE,
    SECRETS,
    SERVICE_ACCOUNT,
    admin_kubeconfig,
    ensure_key_pair,
    expiry,
    read_key_pair,
    secret_data,
    secret_name,
    secret_object,
)
from capi_core.runtime.access import parse_kubeconfig
from capi_core.runtime.client import Client
from capi_core.runtime.errors import NotReady

_RENEW_BEFORE = timedelta(days=182, hours=12)
_CA_MISSING_SECONDS = 30.0


async def ensure_certificates(scope: ControlPlaneScope, client: Client) -> None:
    """All certificate Secrets; after initialization what is missing is reported, not made."""
    cluster, spec = scope.require_cluster(), scope.obj.spec.kubeadm_config_spec
    configuration = spec.cluster_configuration
    days = (configuration.ca_certificate_validity_period_days if configuration else None) or 3650
    algorithm = (configuration.encryption_algorithm if configuration else None) or "RSA-2048"
    generated = [CA, FRONT_PROXY_CA, SERVICE_ACCOUNT]
    provided = [API_SERVER_ETCD_CLIENT, ETCD_CA]
    if scope.manages_etcd:
        generated, provided = [*generated, ETCD_CA], []

    async def one(purpose: str) -> None:
        if purpose in generated and not scope.initialized:
            await ensure_key_pair(
                client,
                namespace=cluster.namespace,
                cluster=cluster.name,
                purpose=purpose,
                owner=scope.obj,
                days=days,
                algorithm=algorithm,
            )
        elif not await read_key_pair(client, cluster.namespace, cluster.name, purpose):
            scope.missing_certificates.append(purpose)

    await asyncio.gather(*(one(purpose) for purpose in [*generated, *provided]))
    scope.certificates_checked = True
    if scope.missing_certificates and not scope.initialized:
        raise NotReady("certificates missing", requeue_after=_CA_MISSING_SECONDS)


async def ensure_kubeconfig(scope: ControlPlaneScope, client: Client) -> None:
    """``<cluster>-kubeconfig``, renewed when less than half a year is left."""
    cluster = scope.require_cluster()
    endpoint = cluster.spec.control_plane_endpoint
    host = f"[{endpoint.host}]" if endpoint.host and ":" in endpoint.host else endpoint.host
    name = secret_name(cluster.name, KUBECONFIG)
    secret = await client.find(SECRETS, cluster.namespace, name)
    if secret is not None and not _must_renew(secret, scope):
        return
    ca = await read_key_pair(client, cluster.namespace, cluster.name, CA)
    if ca is None or not ca.key:
        # Without the CA's key the user has to bring the kubeconfig.
        raise NotReady("the cluster CA has no key", requeue_after=_CA_MISSING_SECONDS)
    server = f"https://{host}:{endpoint.port}"
    if secret is not None:
        server = parse_kubeconfig(secret_data(secret)["value"].decode()).server
    text = await asyncio.to_thread(admin_kubeconfig, cluster.name, server, ca)
    body = secret_object(cluster.name, cluster.namespace, name, {"value": text.encode()}, scope.obj)
    if secret is None:
        await client.create(body, SECRETS)
    else:
        await client.patch(SECRETS, cluster.namespace, name, {"data": body["data"]})


def _must_renew(secret: JsonObject, scope: ControlPlaneScope) -> bool:
    """Only what this control plane made, and only when it ends soon."""
    owners = secret["metadata"].get("ownerReferences") or []
    ours = any(ref.get("controller") and ref["uid"] == scope.obj.metadata.uid for ref in owners)
    value = secret_data(secret).get("value")
    if not ours or secret.get("type") != SECRET_TYPE or not value:
        return False
    certificate = parse_kubeconfig(value.decode()).client_certificate
    return bool(certificate) and expiry(certificate.encode()) - datetime.now(UTC) < _RENEW_BEFORE
