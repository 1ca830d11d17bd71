"""The Node of a machine: what a cloud provider's controller would tell Kubernetes about it."""

from typing import Any

from capd_py.container.identity import provider_id
from capd_py.container.runtime import Container
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import NODES, RemoteCluster
from capi_core.runtime.errors import CapiError
from capi_core.runtime.patch import merge_diff
from capi_core.runtime.store import Key

UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"


class ForeignNode(CapiError):
    """The Node of the container's name has another provider id."""


async def settle_node(remote: RemoteCluster, container: Container) -> bool:
    """Tell the Node its provider id and addresses; False while it has not registered.

    Raises:
        ForeignNode: the Node belongs to something else.
    """
    node = remote.nodes.get(Key("", container.name))
    if node is None:
        return False
    wanted = desired_node(node, container)
    patch = merge_diff(node, wanted)
    status = patch.pop("status", None)
    if patch:
        # Lists are written whole, guarded by the version that they were read at.
        patch["metadata"] = {"resourceVersion": node["metadata"]["resourceVersion"]}
        remote.nodes.put(await remote.client.patch(NODES, None, container.name, patch))
    if status:
        body = {"status": status}
        remote.nodes.put(
            await remote.client.patch(NODES, None, container.name, body, sub="status")
        )
    return True


def desired_node(node: JsonObject, container: Container) -> JsonObject:
    """The Node with provider id and addresses, and without the taint of its absence."""
    spec: dict[str, Any] = dict(node.get("spec") or {})
    wanted = provider_id(container.name)
    if spec.get("providerID") not in (None, "", wanted):
        raise ForeignNode(
            f"Node {container.name} has the provider id {spec['providerID']}, not {wanted}"
        )
    spec["providerID"] = wanted
    taints = [t for t in spec.get("taints") or [] if t["key"] != UNINITIALIZED]
    spec["taints"] = taints
    if not taints:
        del spec["taints"]
    status: dict[str, Any] = dict(node.get("status") or {})
    addresses = list(status.get("addresses") or [])
    if not any(a["type"] == "InternalIP" for a in addresses):
        addresses += [{"type": "InternalIP", "address": a} for a in container.addresses]
        status["addresses"] = addresses
    return {**node, "spec": spec, "status": status}
