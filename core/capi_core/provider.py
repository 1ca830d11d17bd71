"""Core as a provider: what ``--provider capi_core.provider`` adds to a manager."""

from capi_core.contract.external import ExternalObjects
from capi_core.contract.remote import ClusterCache
from capi_core.reconcilers.cluster import reconciler as cluster
from capi_core.reconcilers.clusterresourceset import reconciler as clusterresourceset
from capi_core.reconcilers.machine import reconciler as machine
from capi_core.reconcilers.machinedeployment import reconciler as machinedeployment
from capi_core.reconcilers.machinehealthcheck import reconciler as machinehealthcheck
from capi_core.reconcilers.machineset import reconciler as machineset
from capi_core.runtime.manager import Manager
from capi_core.webhooks import WEBHOOKS


def register(manager: Manager) -> None:
    """Add the core controllers."""
    manager.add_lease("controller-leader-election-capi")
    manager.webhooks.add(*WEBHOOKS)
    external = ExternalObjects.of(manager)
    remote = ClusterCache.of(manager)
    cluster.register(manager, external, remote)
    machine.register(manager, external, remote)
    machineset.register(manager, external)
    machinedeployment.register(manager, external)
    machinehealthcheck.register(manager, remote)
    clusterresourceset.register(manager, remote)
