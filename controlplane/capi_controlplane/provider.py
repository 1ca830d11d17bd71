"""The kubeadm control plane provider: what ``--provider capi_controlplane.provider`` adds."""

from capi_controlplane import reconciler
from capi_controlplane.health import CONFIG_WATCH, POD_WATCH
from capi_controlplane.webhooks import WEBHOOKS
from capi_core.contract.external import ExternalObjects
from capi_core.contract.remote import ClusterCache
from capi_core.runtime.manager import Manager


def register(manager: Manager) -> None:
    """Add the KubeadmControlPlane controller."""
    manager.add_lease("kubeadm-control-plane-manager-leader-election-capi")
    manager.webhooks.add(*WEBHOOKS)
    remote = ClusterCache.of(manager, POD_WATCH, CONFIG_WATCH)
    reconciler.register(manager, ExternalObjects.of(manager), remote)
