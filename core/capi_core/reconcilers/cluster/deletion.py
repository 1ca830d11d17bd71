"""Deletes what a Cluster holds, in order: workers, control plane, infrastructure."""

from collections.abc import Sequence

from capi_core.api.meta import KubeObject
from capi_core.contract.external import External, ExternalObjects
from capi_core.reconcilers.cluster.scope import ClusterScope
from capi_core.runtime.client import Client

_NAMES_SHOWN = 10


async def delete_descendants(scope: ClusterScope, client: Client) -> bool:
    """Ask for the deletion of all workers; returns whether none is left."""
    cluster = scope.obj
    has_control_plane = bool(cluster.spec.control_plane_ref and cluster.spec.control_plane_ref.name)
    machines = scope.worker_machines
    if not has_control_plane:
        machines = machines + scope.control_plane_machines
    groups: list[tuple[str, Sequence[KubeObject]]] = [
        ("MachineDeployments", scope.machine_deployments),
        ("MachineSets", scope.machine_sets),
        ("Worker Machines" if has_control_plane else "Machines", machines),
    ]
    for _, members in groups:
        for obj in members:
            owned = any(ref.uid == cluster.metadata.uid for ref in obj.metadata.owner_references)
            if owned and not obj.deleting:
                await client.delete(obj.resource, obj.namespace, obj.name, uid=obj.metadata.uid)
    left = [
        f"* {title}: {', '.join(sorted(m.name for m in members)[:_NAMES_SHOWN])}"
        for title, members in groups
        if members
    ]
    if left:
        scope.deleting_reason = "WaitingForWorkersDeletion"
        scope.deleting_message = "\n".join(left)
    return not left


async def delete_reference(
    scope: ClusterScope, found: External | None, external: ExternalObjects, *, reason: str
) -> bool:
    """Ask for the deletion of a referenced object; returns whether it is gone."""
    if found is None:
        return True
    if not found.deleting:
        await external.delete(found)
    meta = found.obj["metadata"]
    scope.deleting_reason = reason
    scope.deleting_message = f"* {found.obj['kind']}: {meta['name']}"
    return False
