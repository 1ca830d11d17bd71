"""A workload cluster's kubeconfig for this host: the load balancer's published port.

The Secret's own names the load balancer's address in the nodes' network, which the managers use
and a host whose engine runs in a virtual machine cannot reach. The published port is on the
loopback address, is named in the API server's certificate, and stays when the engine restarts.
"""

import asyncio
import base64
from pathlib import Path

import yaml

from capd_py.container.docker import DockerRuntime
from capd_py.container.identity import LOAD_BALANCER, Identity
from capd_py.dev.kubectl import Kubectl
from capd_py.engine import EngineError
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import CommandError


def write_kubeconfig(management: Path, namespace: str, cluster: str) -> Path:
    """Write the kubeconfig and return its path.

    Raises:
        EngineError: the cluster has none yet.
    """
    kubectl = Kubectl(management)
    try:
        secret = kubectl.get("secret", f"{cluster}-kubeconfig", "-n", namespace)
    except CommandError as error:
        raise EngineError(
            f"cluster {namespace}/{cluster} has no kubeconfig yet",
            f"kubectl --kubeconfig {management} get clusters -A",
        ) from error
    config = yaml.safe_load(base64.b64decode(secret["data"]["value"]))
    port = asyncio.run(published_port(Identity(kubectl.cluster_uid(), namespace, cluster)))
    if port:
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    path = cache_dir("kubeconfigs") / f"{namespace}.{cluster}.kubeconfig"
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config))
    return path


async def published_port(identity: Identity) -> int:
    """The host port of a cluster's load balancer, 0 when it has none here."""
    runtime = DockerRuntime()
    try:
        for container in await runtime.find(identity.role_labels(LOAD_BALANCER)):
            for port in container.ports.values():
                return port
        return 0
    finally:
        await runtime.close()
