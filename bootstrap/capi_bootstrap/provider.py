"""The kubeadm bootstrap provider: what ``--provider capi_bootstrap.provider`` adds."""

from capi_bootstrap import reconciler
from capi_bootstrap.webhooks import WEBHOOKS
from capi_core.contract.remote import ClusterCache
from capi_core.runtime.manager import Manager

_TOKEN_TTL_SECONDS = "900"


def register(manager: Manager) -> None:
    """Add the KubeadmConfig controller; setting ``bootstrap-token-ttl`` is in seconds."""
    manager.add_lease("kubeadm-bootstrap-manager-leader-election-capi")
    manager.webhooks.add(*WEBHOOKS)
    ttl = float(manager.options.settings.get("bootstrap-token-ttl", _TOKEN_TTL_SECONDS))
    reconciler.register(manager, ClusterCache.of(manager), token_ttl=ttl)
