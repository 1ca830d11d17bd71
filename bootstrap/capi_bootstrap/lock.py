"""The init lock: of the control plane machines of a cluster one runs ``kubeadm init``.

ConfigMap ``<cluster>-lock`` with ``lock-information`` {"machineName": ...}, owned by the Cluster.
Creating it is acquiring it; a lock whose Machine is gone is stale.
"""

import json

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.machine import Machine
from capi_core.contract.owners import owner_reference
from capi_core.contract.remote import CONFIG_MAPS
from capi_core.runtime.client import Client
from capi_core.runtime.errors import AlreadyExists

_KEY = "lock-information"


async def acquire(client: Client, cluster: Cluster, machine: Machine) -> bool:
    """Take the lock for ``machine``; returns whether it holds it now."""
    name = f"{cluster.name}-lock"
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": cluster.namespace,
            "labels": {CLUSTER_NAME_LABEL: cluster.name},
            "ownerReferences": [owner_reference(cluster).dump()],
        },
        "data": {_KEY: json.dumps({"machineName": machine.name})},
    }
    try:
        await client.create(body, CONFIG_MAPS)
        return True
    except AlreadyExists:
        found = await client.find(CONFIG_MAPS, cluster.namespace, name)
    if found is None:
        return await acquire(client, cluster, machine)
    holder = _holder((found.get("data") or {}).get(_KEY, ""))
    if holder == machine.name:
        return True
    if holder and await client.find(Machine.resource, cluster.namespace, holder):
        return False
    await client.delete(CONFIG_MAPS, cluster.namespace, name, uid=found["metadata"]["uid"])
    return await acquire(client, cluster, machine)


async def release(client: Client, cluster: Cluster) -> None:
    """Give the lock back."""
    await client.delete(CONFIG_MAPS, cluster.namespace, f"{cluster.name}-lock")


def _holder(text: str) -> str:
    try:
        return str(json.loads(text)["machineName"])
    except (ValueError, KeyError, TypeError):
        return ""
