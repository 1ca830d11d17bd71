"""Certificate authorities and kubeconfigs of workload clusters, in Secrets as upstream keeps them.

``<cluster>-ca``, ``-etcd``, ``-proxy`` hold tls.crt and tls.key; ``-sa`` holds a key pair;
``-kubeconfig`` holds ``value``. Their type is ``cluster.x-k8s.io/secret``; a Secret of another
type is the user's own and is never owned or rotated. Content never goes into logs or conditions.
"""

import asyncio
import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.meta import JsonObject, KubeObject, Resource
from capi_core.contract.owners import owner_reference
from capi_core.runtime.client import Client
from capi_core.runtime.errors import AlreadyExists, CapiError

SECRETS = Resource("", "v1", "Secret", "secrets")
SECRET_TYPE = "cluster.x-k8s.io/secret"
CA, ETCD_CA, FRONT_PROXY_CA, SERVICE_ACCOUNT = "ca", "etcd", "proxy", "sa"
API_SERVER_ETCD_CLIENT, KUBECONFIG = "apiserver-etcd-client", "kubeconfig"
_CA_NAMES = {CA: "kubernetes", ETCD_CA: "etcd-ca", FRONT_PROXY_CA: "front-proxy-ca"}
_PEM = serialization.Encoding.PEM
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class InvalidSecret(CapiError):
    """A Secret that should hold certificates or a kubeconfig does not."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """PEM texts: a certificate (or a public key) and its private key, which may be absent."""

    certificate: bytes
    key: bytes = b""


def secret_name(cluster: str, purpose: str) -> str:
    """The Secret's name for ``purpose``."""
    return f"{cluster}-{purpose}"


def make_key(algorithm: str = "RSA-2048") -> PrivateKey:
    """A private key of a ClusterConfiguration's encryptionAlgorithm; takes up to a second."""
    if algorithm.startswith("ECDSA"):
        return ec.generate_private_key(
            ec.SECP384R1() if algorithm.endswith("384") else ec.SECP256R1()
        )
    return rsa.generate_private_key(public_exponent=65537, key_size=int(algorithm.split("-")[1]))


def _private_pem(key: PrivateKey) -> bytes:
    return key.private_bytes(
        _PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def make_ca(common_name: str, *, days: int = 3650, algorithm: str = "RSA-2048") -> KeyPair:
    """A self-signed certificate authority."""
    key, start = make_key(algorithm), datetime.now(UTC) - timedelta(minutes=5)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(ca=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(common_name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return KeyPair(certificate.public_bytes(_PEM), _private_pem(key))


def make_service_account_pair(algorithm: str = "RSA-2048") -> KeyPair:
    """The key pair that signs service account tokens; the public key stands for a certificate."""
    key = make_key(algorithm)
    public = key.public_key().public_bytes(_PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(public, _private_pem(key))


def make_client_certificate(
    ca: KeyPair, *, common_name: str, organization: str = "", days: int = 365
) -> KeyPair:
    """A client certificate signed by ``ca``, valid from the CA's own start."""
    issuer = x509.load_pem_x509_certificate(ca.certificate)
    issuer_key: Any = serialization.load_pem_private_key(ca.key, None)
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(attributes))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(issuer.not_valid_before_utc)
        .not_valid_after(datetime.now(UTC) + timedelta(days=days))
        .add_extension(_usage(ca=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    return KeyPair(certificate.public_bytes(_PEM), _private_pem(key))


def _usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=ca,
        crl_sign=False,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def expiry(certificate: bytes) -> datetime:
    """When a PEM certificate ends."""
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def certificate_hashes(certificate: bytes) -> list[str]:
    """``sha256:<hex>`` of each certificate's public key info, as kubeadm's discovery pins it."""
    result: list[str] = []
    for item in x509.load_pem_x509_certificates(certificate):
        info = item.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        result.append("sha256:" + hashlib.sha256(info).hexdigest())
    return result


def render_kubeconfig(cluster: str, server: str, ca: bytes, client: KeyPair) -> str:
    """A kubeconfig for ``<cluster>-admin`` with everything inline."""
    user, context = f"{cluster}-admin", f"{cluster}-admin@{cluster}"
    credentials = {
        "client-certificate-data": base64.b64encode(client.certificate).decode(),
        "client-key-data": base64.b64encode(client.key).decode(),
    }
    target = {"server": server, "certificate-authority-data": base64.b64encode(ca).decode()}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": cluster, "cluster": target}],
            "contexts": [{"name": context, "context": {"cluster": cluster, "user": user}}],
            "current-context": context,
            "preferences": {},
            "users": [{"name": user, "user": credentials}],
        }
    )


def admin_kubeconfig(cluster: str, server: str, ca: KeyPair) -> str:
    """A kubeconfig with a new administrator's certificate, valid for a year."""
    client = make_client_certificate(
        ca, common_name="kubernetes-admin", organization="system:masters"
    )
    return render_kubeconfig(cluster, server, ca.certificate, client)


def secret_object(
    cluster: str, namespace: str, name: str, data: dict[str, bytes], owner: KubeObject | None
) -> JsonObject:
    """A Secret of Cluster API's type, labelled and owned."""
    meta: JsonObject = {
        "name": name,
        "namespace": namespace,
        "labels": {CLUSTER_NAME_LABEL: cluster},
    }
    if owner is not None:
        meta["ownerReferences"] = [owner_reference(owner, controller=True).dump()]
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": SECRET_TYPE,
        "metadata": meta,
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


def secret_data(secret: JsonObject) -> dict[str, bytes]:
    """The decoded data of a Secret."""
    return {key: base64.b64decode(v) for key, v in (secret.get("data") or {}).items()}


async def read_key_pair(
    client: Client, namespace: str, cluster: str, purpose: str
) -> KeyPair | None:
    """The pair of ``purpose``, None when its Secret does not exist.

    Raises:
        InvalidSecret: the Secret lacks tls.crt, or holds something else under it.
    """
    name = secret_name(cluster, purpose)
    secret = await client.find(SECRETS, namespace, name)
    if secret is None:
        return None
    data = secret_data(secret)
    if not data.get("tls.crt"):
        raise InvalidSecret(f"Secret {namespace}/{name} has no key tls.crt")
    if purpose != SERVICE_ACCOUNT:
        try:
            x509.load_pem_x509_certificates(data["tls.crt"])
        except ValueError as error:
            raise InvalidSecret(
                f"Secret {namespace}/{name}: tls.crt is not a PEM certificate"
            ) from error
    return KeyPair(data["tls.crt"], data.get("tls.key", b""))


async def ensure_key_pair(
    client: Client,
    *,
    namespace: str,
    cluster: str,
    purpose: str,
    owner: KubeObject,
    days: int = 3650,
    algorithm: str = "RSA-2048",
) -> KeyPair:
    """The pair of ``purpose``, generated and stored when there is none yet."""
    if pair := await read_key_pair(client, namespace, cluster, purpose):
        return pair
    if purpose == SERVICE_ACCOUNT:
        pair = await asyncio.to_thread(make_service_account_pair, algorithm)
    else:
        pair = await asyncio.to_thread(make_ca, _CA_NAMES[purpose], days=days, algorithm=algorithm)
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    name = secret_name(cluster, purpose)
    try:
        await client.create(secret_object(cluster, namespace, name, data, owner), SECRETS)
    except AlreadyExists:
        stored = await read_key_pair(client, namespace, cluster, purpose)
        return stored or pair
    return pair
