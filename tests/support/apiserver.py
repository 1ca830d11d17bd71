"""A real etcd and kube-apiserver for the integration tier, on free loopback ports."""

import base64
import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from capi_core.contract.secrets import (
    KeyPair,
    make_ca,
    make_client_certificate,
    make_service_account_pair,
)


@dataclass(frozen=True)
class ApiServer:
    """A running API server; ``kubeconfig`` is an administrator's.

    Attributes:
        ca: signs its serving certificate and the certificates of its clients, so that a Secret
            with it makes the server a workload cluster's.
        accounts: signs its service account tokens.
    """

    url: str
    port: int
    kubeconfig: str
    directory: Path
    ca: KeyPair
    accounts: KeyPair


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def process(name: str, argv: list[str], directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program with its output in a file; ended on exit."""
    with (directory / f"{name}.log").open("wb") as log:
        started = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)
    try:
        yield started
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


@contextlib.contextmanager
def run_apiserver(kube_apiserver: Path, etcd: Path) -> Iterator[ApiServer]:
    """Start both, wait until the API server is ready, and end both."""
    with tempfile.TemporaryDirectory(prefix="capd-apiserver-") as name:
        directory = Path(name)
        ca = make_ca("kubernetes", algorithm="ECDSA-P256")
        admin = make_client_certificate(
            ca, common_name="kubernetes-admin", organization="system:masters"
        )
        accounts = make_service_account_pair()
        serving = _serving_certificate(ca)
        (directory / "serving.crt").write_bytes(serving.certificate)
        (directory / "serving.key").write_bytes(serving.key)
        (directory / "ca.crt").write_bytes(ca.certificate)
        (directory / "sa.pub").write_bytes(accounts.certificate)
        (directory / "sa.key").write_bytes(accounts.key)
        client_port, peer_port, port = free_port(), free_port(), free_port()
        etcd_argv = [
            str(etcd),
            f"--data-dir={directory / 'etcd'}",
            f"--listen-client-urls=http://127.0.0.1:{client_port}",
            f"--advertise-client-urls=http://127.0.0.1:{client_port}",
            f"--listen-peer-urls=http://127.0.0.1:{peer_port}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer_port}",
            f"--initial-cluster=default=http://127.0.0.1:{peer_port}",
            "--unsafe-no-fsync",
        ]
        server_argv = [
            str(kube_apiserver),
            f"--etcd-servers=http://127.0.0.1:{client_port}",
            f"--tls-cert-file={directory / 'serving.crt'}",
            f"--tls-private-key-file={directory / 'serving.key'}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            f"--client-ca-file={directory / 'ca.crt'}",
            "--authorization-mode=RBAC",
            f"--service-account-key-file={directory / 'sa.pub'}",
            f"--service-account-signing-key-file={directory / 'sa.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount",
        ]
        with (
            process("etcd", etcd_argv, directory),
            process("kube-apiserver", server_argv, directory) as server,
        ):
            kubeconfig = _kubeconfig(port, ca.certificate, admin)
            _wait_ready(port, admin, directory, server)
            url = f"https://localhost:{port}"
            yield ApiServer(url, port, kubeconfig, directory, ca, accounts)


def _serving_certificate(ca: KeyPair) -> KeyPair:
    issuer_key: Any = serialization.load_pem_private_key(ca.key, None)
    issuer = x509.load_pem_x509_certificate(ca.certificate)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(issuer.not_valid_before_utc)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return KeyPair(certificate.public_bytes(pem), key.private_bytes(pem, *plain))


def _kubeconfig(port: int, ca: bytes, admin: KeyPair) -> str:
    user = {
        "client-certificate-data": base64.b64encode(admin.certificate).decode(),
        "client-key-data": base64.b64encode(admin.key).decode(),
    }
    cluster = {
        "server": f"https://localhost:{port}",
        "certificate-authority-data": base64.b64encode(ca).decode(),
    }
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": user}],
        }
    )


def _wait_ready(
    port: int, admin: KeyPair, directory: Path, server: "subprocess.Popen[bytes]"
) -> None:
    pair = directory / "admin.pem"
    pair.write_bytes(admin.certificate + admin.key)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        answer = subprocess.run(
            ["curl", "-sk", "--cert", str(pair), f"https://127.0.0.1:{port}/readyz"],
            capture_output=True,
            check=False,
        )
        if answer.stdout == b"ok":
            return
        time.sleep(0.1)
    tail = (directory / "kube-apiserver.log").read_text(errors="replace")[-3000:]
    raise RuntimeError(f"kube-apiserver did not become ready:\n{tail}")
