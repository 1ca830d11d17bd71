"""kubectl against the management cluster, for what is applied once and by hand."""

import json
from collections.abc import Sequence
from pathlib import Path

from capd_py.engine import find_kubectl
from capd_py.engine.process import run
from capi_core.api.meta import JsonObject


class Kubectl:
    """kubectl with one kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self._program = str(find_kubectl())

    def __call__(self, *args: str, stdin: str | None = None, timeout: float = 60) -> str:
        """Run kubectl; returns what it printed."""
        command = [self._program, "--kubeconfig", str(self.kubeconfig), *args]
        return run(command, stdin=stdin, timeout=timeout)

    def cluster_uid(self) -> str:
        """What containers of this management cluster are labelled with: kube-system's uid."""
        return self.get("namespace", "kube-system")["metadata"]["uid"]

    def apply(self, objects: Sequence[JsonObject], *, timeout: float = 60) -> None:
        """Server-side apply."""
        body = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self(
            "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=body, timeout=timeout
        )

    def get(self, *args: str) -> JsonObject:
        """``kubectl get ... -o json``."""
        return json.loads(self("get", *args, "-o", "json"))
