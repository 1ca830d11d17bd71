"""Gathers what a node's bootstrap document is made of: certificates, files and their Secrets."""

import base64
from typing import Any

import yaml

from capi_bootstrap.cloudinit import File
from capi_core.api.cluster import Cluster
from capi_core.api.meta import JsonObject
from capi_core.contract.secrets import (
    API_SERVER_ETCD_CLIENT,
    CA,
    ETCD_CA,
    FRONT_PROXY_CA,
    SECRETS,
    SERVICE_ACCOUNT,
    KeyPair,
    read_key_pair,
    secret_data,
    secret_name,
)
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError

PKI = "/etc/kubernetes/pki"
_PATHS = {
    CA: ("ca.crt", "ca.key"),
    ETCD_CA: ("etcd/ca.crt", "etcd/ca.key"),
    FRONT_PROXY_CA: ("front-proxy-ca.crt", "front-proxy-ca.key"),
    SERVICE_ACCOUNT: ("sa.pub", "sa.key"),
    API_SERVER_ETCD_CLIENT: ("apiserver-etcd-client.crt", "apiserver-etcd-client.key"),
}


class MissingSecret(CapiError):
    """A Secret, or a key of it, that the bootstrap data needs does not exist."""


def purposes(spec: JsonObject) -> tuple[str, ...]:
    """The certificates that a control plane node carries."""
    cluster: JsonObject = spec.get("clusterConfiguration") or {}
    external = (cluster.get("etcd") or {}).get("external")
    extra = (API_SERVER_ETCD_CLIENT,) if external else ()
    return (CA, ETCD_CA, FRONT_PROXY_CA, SERVICE_ACCOUNT, *extra)


async def read_certificates(
    client: Client, cluster: Cluster, names: tuple[str, ...]
) -> dict[str, KeyPair]:
    """The key pairs of the given purposes that exist."""
    found: dict[str, KeyPair] = {}
    for purpose in names:
        pair = await read_key_pair(client, cluster.namespace, cluster.name, purpose)
        if pair is not None:
            found[purpose] = pair
    return found


def certificate_files(pairs: dict[str, KeyPair], spec: JsonObject) -> list[File]:
    """The files that hold ``pairs`` on a control plane node."""
    root = (spec.get("clusterConfiguration") or {}).get("certificatesDir") or PKI
    files: list[File] = []
    for purpose, pair in pairs.items():
        certificate, key = _PATHS[purpose]
        files.append(File(f"{root}/{certificate}", pair.certificate.decode(), mode="0640"))
        if pair.key:
            files.append(File(f"{root}/{key}", pair.key.decode(), mode="0600"))
    return files


async def read_files(client: Client, namespace: str, items: list[JsonObject]) -> list[File]:
    """``files`` of a KubeadmConfigSpec, with contents from Secrets read.

    Raises:
        MissingSecret: a Secret or its key does not exist.
    """
    files: list[File] = []
    for item in items:
        source = (item.get("contentFrom") or {}).get("secret")
        if source:
            content = await read_secret_key(client, namespace, source)
        else:
            content = item.get("content", "")
        files.append(
            File(
                path=item["path"],
                content=content,
                owner=item.get("owner", ""),
                mode=item.get("permissions", ""),
                encoding=item.get("encoding", ""),
                append=bool(item.get("append")),
            )
        )
    return files


async def read_secret_key(client: Client, namespace: str, source: Any) -> str:
    """The value of ``{name, key}`` in a Secret.

    Raises:
        MissingSecret: it does not exist.
    """
    secret = await client.find(SECRETS, namespace, source["name"])
    if secret is None:
        raise MissingSecret(f"Secret {namespace}/{source['name']} does not exist")
    data = secret_data(secret)
    if source["key"] not in data:
        raise MissingSecret(f"Secret {namespace}/{source['name']} has no key {source['key']}")
    return data[source["key"]].decode()


async def read_passwords(client: Client, namespace: str, users: list[JsonObject]) -> dict[str, str]:
    """Password hashes of the users that keep theirs in a Secret."""
    return {
        user["name"]: await read_secret_key(client, namespace, user["passwdFrom"]["secret"])
        for user in users
        if (user.get("passwdFrom") or {}).get("secret")
    }


def discovery_file(discovery: JsonObject, endpoint: str, ca: bytes) -> File | None:
    """The kubeconfig for file discovery when it is given inline."""
    file: JsonObject = discovery.get("file") or {}
    inline = file.get("kubeConfig")
    if not inline:
        return None
    cluster: JsonObject = inline.get("cluster") or {}
    target: JsonObject = {
        "server": cluster.get("server") or f"https://{endpoint}",
        "certificate-authority-data": cluster.get("certificateAuthorityData")
        or base64.b64encode(ca).decode(),
    }
    for ours, theirs in (
        ("insecureSkipTLSVerify", "insecure-skip-tls-verify"),
        ("proxyURL", "proxy-url"),
        ("tlsServerName", "tls-server-name"),
    ):
        if ours in cluster:
            target[theirs] = cluster[ours]
    user: JsonObject = inline.get("user") or {}
    credentials: JsonObject = {}
    if "exec" in user:
        credentials["exec"] = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "interactiveMode": "Never",
            **user["exec"],
        }
    if "authProvider" in user:
        credentials["auth-provider"] = user["authProvider"]
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "default", "cluster": target}],
        "users": [{"name": "default", "user": credentials}],
        "contexts": [{"name": "default", "context": {"cluster": "default", "user": "default"}}],
        "current-context": "default",
    }
    return File(file["kubeConfigPath"], yaml.safe_dump(config))


def missing_message(cluster: Cluster, missing: list[str]) -> str:
    """Which certificate Secrets are awaited."""
    names = ", ".join(secret_name(cluster.name, purpose) for purpose in missing)
    return f"Waiting for certificates: Secrets {names} do not exist yet"
