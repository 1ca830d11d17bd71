"""The pod network of a workload cluster, from the manifest that its node image carries."""

import asyncio
import re
import time
from pathlib import Path

from capd_py.container.docker import DockerRuntime
from capd_py.container.identity import CONTROL_PLANE, Identity
from capd_py.dev.kubeconfig import write_kubeconfig
from capd_py.dev.kubectl import Kubectl
from capd_py.engine import EngineError
from capd_py.engine.process import CommandError
from capd_py.images import cni_manifest

_MANIFEST = "/kind/manifests/default-cni.yaml"
_LIMIT_SECONDS, _LOOK_SECONDS = 60.0, 0.3
_POD_SUBNET = "192.168.0.0/16"


async def apply_network(management: Path, namespace: str, cluster: str) -> Path:
    """Apply the pod network as soon as the API server answers; returns the kubeconfig.

    Raises:
        EngineError: the workload cluster refuses it for a minute.
    """
    path = await asyncio.to_thread(write_kubeconfig, management, namespace, cluster)
    manifest = await _manifest(Kubectl(management), namespace, cluster)
    deadline = time.monotonic() + _LIMIT_SECONDS
    while True:
        try:
            await asyncio.to_thread(Kubectl(path), "apply", "-f", "-", stdin=manifest)
            return path
        except CommandError as error:
            if time.monotonic() > deadline:
                raise EngineError(f"the pod network cannot be applied: {error}") from error
            await asyncio.sleep(_LOOK_SECONDS)


async def _manifest(kubectl: Kubectl, namespace: str, cluster: str) -> str:
    """kind's manifest for its own node image, ours for one that was built here."""
    spec = kubectl.get("cluster", cluster, "-n", namespace)["spec"]
    subnets = ((spec.get("clusterNetwork") or {}).get("pods") or {}).get("cidrBlocks")
    runtime = DockerRuntime()
    try:
        labels = Identity(kubectl.cluster_uid(), namespace, cluster).role_labels(CONTROL_PLANE)
        for node in await runtime.find(labels):
            content = await runtime.read_file(node, _MANIFEST)
            if content is not None:
                return render(content.decode(), ",".join(subnets or [_POD_SUBNET]))
    finally:
        await runtime.close()
    return cni_manifest()


def render(manifest: str, pod_subnet: str) -> str:
    """Put the pod subnet where kind does."""
    return re.sub(r"\{\{\s*\.PodSubnet\s*\}\}", pod_subnet, manifest)
