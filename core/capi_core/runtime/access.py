"""Where an API server is and how to authenticate to it: in-cluster files or a kubeconfig."""

import base64
import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from capi_core.runtime.errors import CapiError

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class InvalidKubeconfig(CapiError):
    """A kubeconfig lacks what is needed to reach a cluster."""


@dataclass(frozen=True, slots=True)
class Access:
    """An API server's URL and credentials; PEM texts, never file names."""

    server: str
    ca: str = ""
    client_certificate: str = ""
    client_key: str = ""
    token: str = ""
    token_file: Path | None = None
    namespace: str = "default"
    tls_server_name: str = ""

    def ssl_context(self) -> ssl.SSLContext:
        """A TLS context that trusts the cluster's CA and shows the client certificate."""
        context = ssl.create_default_context(cadata=self.ca or None)
        # Kubernetes' own CAs often lack the key usage extension that strict mode asks for.
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        if self.client_certificate:
            # The ssl module loads key pairs from files only; the file goes at once.
            with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
                pair.write(self.client_certificate + "\n" + self.client_key)
                pair.flush()
                context.load_cert_chain(pair.name)
        return context

    def bearer(self) -> str:
        """The token to send, re-read from its file when it rotates; empty when there is none."""
        return self.token_file.read_text().strip() if self.token_file else self.token


def load_access(kubeconfig: str | None = None) -> Access:
    """In-cluster access when a service account is mounted, else ``kubeconfig`` or $KUBECONFIG."""
    if kubeconfig is None and (_SERVICE_ACCOUNT / "token").exists():
        return _in_cluster()
    path = Path(kubeconfig or os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")
    try:
        return parse_kubeconfig(path.read_text(), base=path.parent)
    except FileNotFoundError as error:
        raise InvalidKubeconfig(
            f"no kubeconfig at {path}: pass --kubeconfig or set KUBECONFIG"
        ) from error


def _in_cluster() -> Access:
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    host = f"[{host}]" if ":" in host else host
    return Access(
        server=f"https://{host}:{port}",
        ca=(_SERVICE_ACCOUNT / "ca.crt").read_text(),
        token_file=_SERVICE_ACCOUNT / "token",
        namespace=(_SERVICE_ACCOUNT / "namespace").read_text().strip(),
    )


def parse_kubeconfig(text: str, *, base: Path | None = None) -> Access:
    """Read the current context of a kubeconfig.

    Raises:
        InvalidKubeconfig: the text is no kubeconfig, or its user needs a plugin.
    """
    try:
        config: dict[str, Any] = yaml.safe_load(text)
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"]).get("user") or {}
    except (KeyError, TypeError, StopIteration, yaml.YAMLError) as error:
        raise InvalidKubeconfig(f"not a usable kubeconfig: {type(error).__name__}") from error
    if "exec" in user or "auth-provider" in user:
        raise InvalidKubeconfig("the kubeconfig's user needs a credential plugin; use certificates")
    return Access(
        server=cluster["server"],
        ca=_pem(cluster, "certificate-authority", base),
        client_certificate=_pem(user, "client-certificate", base),
        client_key=_pem(user, "client-key", base),
        token=user.get("token", ""),
        namespace=context.get("namespace", "default"),
        tls_server_name=cluster.get("tls-server-name", ""),
    )


def _named(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(item for item in items if item["name"] == name)


def _pem(section: dict[str, Any], key: str, base: Path | None) -> str:
    if data := section.get(f"{key}-data"):
        return base64.b64decode(data).decode()
    if path := section.get(key):
        return ((base or Path()) / path).read_text()
    return ""
