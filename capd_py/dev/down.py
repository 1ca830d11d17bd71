"""Takes down what `capd up` and its clusters made, also when some of it is gone already."""

import contextlib

from capd_py.container.identity import MANAGEMENT
from capd_py.dev.kubectl import Kubectl
from capd_py.dev.up import CLUSTER, NETWORK, Say, Step, kubeconfig_path, uids_path
from capd_py.engine import EngineError, ensure_kind, find_engine
from capd_py.engine.process import CommandError, run, succeeds


def take_down(say: Say = print, *, name: str = CLUSTER) -> None:
    """Remove the management cluster and everything that it made: containers, volumes, network.

    Raises:
        EngineError: the engine does not answer.
    """
    if find_engine() is None:
        raise EngineError("the Docker engine does not answer", "capd engine ensure")
    with Step(say, "management cluster"):
        uids = _uids(name)
        kind = str(ensure_kind())
        # First, so that nobody makes again what is removed next.
        if name in run([kind, "get", "clusters"]).split():
            run([kind, "delete", "cluster", "--name", name], timeout=180)
        kubeconfig_path(name).unlink(missing_ok=True)
    with Step(say, "workload clusters"):
        for uid in uids:
            _remove_containers(uid)
        uids_path(name).unlink(missing_ok=True)
    _remove_network()


def _uids(name: str) -> list[str]:
    """The management clusters of this name that this user has made here."""
    path, kubeconfig = uids_path(name), kubeconfig_path(name)
    known = path.read_text().split() if path.exists() else []
    if kubeconfig.exists():
        with contextlib.suppress(CommandError, EngineError):
            known.append(Kubectl(kubeconfig).cluster_uid())
    return list(dict.fromkeys(known))


def _remove_containers(uid: str) -> None:
    found = run(["docker", "ps", "-aq", "--filter", f"label={MANAGEMENT}={uid}"]).split()
    if found:
        run(["docker", "rm", "-f", "-v", *found], timeout=120)


def _remove_network() -> None:
    # Somebody else's containers keep it.
    if not run(["docker", "ps", "-aq", "--filter", f"network={NETWORK}"]).split():
        succeeds(["docker", "network", "rm", NETWORK])
