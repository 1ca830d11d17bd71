"""The certificates of the webhook server: made, kept in a Secret and renewed by the managers."""

import asyncio
import base64
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from capi_core.api.meta import JsonObject, Resource
from capi_core.runtime.client import Client
from capi_core.runtime.errors import AlreadyExists

SECRETS = Resource("", "v1", "Secret", "secrets")
_LIFE = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class ServingPair:
    """PEM texts of a CA certificate, a serving certificate and its key."""

    ca: bytes
    certificate: bytes
    key: bytes

    def fresh(self, names: list[str]) -> bool:
        """Whether it holds for ``names`` and for long enough."""
        certificate = x509.load_pem_x509_certificate(self.certificate)
        covered = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        known = set(covered.value.get_values_for_type(x509.DNSName))
        remaining = certificate.not_valid_after_utc - datetime.now(UTC)
        return remaining > _RENEW_BEFORE and known >= set(names)


def make_pair(names: list[str]) -> ServingPair:
    """A new CA and a certificate for ``names`` signed by it; the CA's key is thrown away."""
    now = datetime.now(UTC)
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "capi-webhook-ca")])
    common = x509.CertificateBuilder().not_valid_before(now - timedelta(hours=1))
    ca = (
        common.subject_name(issuer)
        .issuer_name(issuer)
        .public_key(ca_key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_after(now + _LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    leaf = (
        common.subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_after(now + _LIFE)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False
        )
        .add_extension(
            x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return ServingPair(
        ca=ca.public_bytes(pem),
        certificate=leaf.public_bytes(pem),
        key=key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


async def ensure_pair(client: Client, namespace: str, name: str, names: list[str]) -> ServingPair:
    """The pair of Secret ``name``, made or renewed when needed; replicas share it."""
    while True:
        secret = await client.find(SECRETS, namespace, name)
        if secret is not None:
            data = {k: base64.b64decode(v) for k, v in (secret.get("data") or {}).items()}
            if {"ca.crt", "tls.crt", "tls.key"} <= data.keys():
                pair = ServingPair(data["ca.crt"], data["tls.crt"], data["tls.key"])
                if pair.fresh(names):
                    return pair
        pair = await asyncio.to_thread(make_pair, names)
        body = _secret(namespace, name, pair)
        if secret is None:
            try:
                await client.create(body, SECRETS)
            except AlreadyExists:
                continue
        else:
            await client.patch(SECRETS, namespace, name, {"data": body["data"]})
        return pair


def _secret(namespace: str, name: str, pair: ServingPair) -> JsonObject:
    data = {"ca.crt": pair.ca, "tls.crt": pair.certificate, "tls.key": pair.key}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {"name": name, "namespace": namespace},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }
