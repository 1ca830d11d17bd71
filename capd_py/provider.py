"""The Docker infrastructure provider: what ``--provider capd_py.provider`` adds to a manager."""

from capd_py.container.docker import DockerRuntime
from capd_py.container.runtime import Runtime
from capd_py.reconcilers.host import DEFAULT_NETWORK, Host
from capd_py.reconcilers.wiring import Wiring
from capd_py.webhooks import WEBHOOKS
from capi_core.runtime.manager import Manager


def register(manager: Manager) -> None:
    """Add the controllers of DockerClusters and DockerMachines.

    Setting ``docker-network`` names the network that nodes live in.
    """
    register_with(manager, DockerRuntime())


def register_with(manager: Manager, runtime: Runtime) -> None:
    """Add the controllers, working on a given engine."""
    manager.add_lease("controller-leader-election-capd")
    manager.webhooks.add(*WEBHOOKS)
    network = manager.options.settings.get("docker-network", DEFAULT_NETWORK)
    Wiring(manager, Host(runtime, manager.client, network))
    manager.on_close(runtime.close)
