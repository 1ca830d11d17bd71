"""Brings up the management cluster with the four managers in it, and takes it down again.

Every step looks first whether it is done, so the command can be run again at any time.
"""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from capd_py.dev.kubectl import Kubectl
from capd_py.dev.manifests import PROVIDERS, manager_objects
from capd_py.engine import EngineError, Severity, ensure_engine, ensure_kind, preflight
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import CommandError, run
from capd_py.images import ensure_images
from capi_core.api.crd import load_crds

Say = Callable[[str], None]
CLUSTER = "capd-py"
MANAGEMENT_LABEL = "io.capd-py.management-cluster"
_SOCKET = "/var/run/docker.sock"
_NETWORK = "kind"


def kubeconfig_path() -> Path:
    """Where the management cluster's kubeconfig is kept."""
    return cache_dir() / "management.kubeconfig"


def project_root() -> Path:
    """The clone that this code runs from."""
    return Path(__file__).resolve().parents[2]


def timed(say: Say, title: str) -> "Step":
    """A step that says how long it took."""
    return Step(say, title)


class Step:
    """Prints a title with its seconds when it ends."""

    def __init__(self, say: Say, title: str) -> None:
        self._say, self._title, self._start = say, title, 0.0

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        mark = "failed" if kind else "done"
        self._say(f"{self._title}: {mark} in {time.monotonic() - self._start:.1f} s")


def up(say: Say = print, *, version: str, name: str = CLUSTER, args: tuple[str, ...] = ()) -> Path:
    """Make everything ready to accept manifests; returns the kubeconfig.

    Args:
        version: Kubernetes version of the management cluster's node image.
        args: flags for each manager.
    """
    with timed(say, "engine"):
        ensure_engine(say)
    check(say)
    with timed(say, "kind"):
        kind = str(ensure_kind())
    with timed(say, "images"):
        images = ensure_images(version, project_root=project_root(), say=say)
    with timed(say, "management cluster"):
        _ensure_cluster(kind, name, images.node)
    kubectl = Kubectl(kubeconfig_path())
    with timed(say, "manager image in the cluster"):
        _load(kind, name, images.manager)
    with timed(say, "CRDs"):
        apply_crds(kubectl)
    with timed(say, "managers"):
        _apply_managers(kubectl, images.manager, args)
    say(f"ready: export KUBECONFIG={kubeconfig_path()}")
    return kubeconfig_path()


def check(say: Say) -> None:
    """The preflight; errors end here, warnings are shown.

    Raises:
        EngineError: something would fail later; the message names the cure.
    """
    findings = preflight()
    for finding in findings:
        if finding.severity is not Severity.OK:
            say(str(finding))
    errors = [str(f) for f in findings if f.severity is Severity.ERROR]
    if errors:
        raise EngineError("the preflight failed:\n" + "\n".join(errors))


def _ensure_cluster(kind: str, name: str, image: str) -> None:
    if name in run([kind, "get", "clusters"]).split():
        kubeconfig = run([kind, "get", "kubeconfig", "--name", name])
        kubeconfig_path().write_text(kubeconfig)
        if _answers():
            return
        # A cluster that no longer answers, after a crash say, is of no use to anybody.
        run([kind, "delete", "cluster", "--name", name], timeout=120)
    config = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "nodes": [
            {
                "role": "control-plane",
                "extraMounts": [{"hostPath": _SOCKET, "containerPath": _SOCKET}],
            }
        ],
    }
    run(
        [kind, "create", "cluster", "--name", name, "--image", image, "--config", "-",
         "--kubeconfig", str(kubeconfig_path())],
        stdin=yaml.safe_dump(config),
        timeout=300,
        cure=f"{kind} export logs --name {name}",
    )
    kubeconfig_path().chmod(0o600)


def _answers() -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            Kubectl(kubeconfig_path())("get", "--raw", "/readyz", timeout=5)
            return True
        except CommandError:
            time.sleep(0.5)
    return False


def _load(kind: str, name: str, image: str) -> None:
    node = f"{name}-control-plane"
    known = run(["docker", "exec", node, "crictl", "images", "-o", "json"])
    tags = [tag for item in json.loads(known)["images"] for tag in item.get("repoTags") or []]
    if any(tag.endswith(image) for tag in tags):
        return
    run([kind, "load", "docker-image", image, "--name", name], timeout=180)


def apply_crds(kubectl: Kubectl) -> None:
    """Install the CRDs and wait until they are served."""
    crds = load_crds()
    kubectl.apply(crds)
    names = [f"crd/{crd['metadata']['name']}" for crd in crds]
    kubectl("wait", "--for=condition=Established", "--timeout=30s", *names)


def _apply_managers(kubectl: Kubectl, image: str, args: tuple[str, ...]) -> None:
    objects = [obj for provider in PROVIDERS for obj in manager_objects(provider, image, args)]
    kubectl.apply([obj for obj in objects if obj["kind"] == "Namespace"])
    kubectl.apply([obj for obj in objects if obj["kind"] != "Namespace"])

    def wait(target: tuple[str, str]) -> None:
        namespace, name = target
        try:
            kubectl(
                "rollout", "status", f"deployment/{name}", "-n", namespace, "--timeout=120s",
                timeout=130,
            )
        except CommandError as error:
            logs = kubectl("logs", f"deployment/{name}", "-n", namespace, "--tail=30")
            raise EngineError(f"{name} did not become ready:\n{logs}") from error

    with ThreadPoolExecutor() as pool:
        list(pool.map(wait, [(p.namespace, f"{p.name}-controller-manager") for p in PROVIDERS]))


def down(say: Say = print, *, name: str = CLUSTER) -> None:
    """Remove the management cluster and everything that it made: containers, volumes, network."""
    with timed(say, "workload clusters"):
        _remove_containers(name)
    with timed(say, "management cluster"):
        kind = str(ensure_kind())
        if name in run([kind, "get", "clusters"]).split():
            run([kind, "delete", "cluster", "--name", name], timeout=180)
        kubeconfig_path().unlink(missing_ok=True)
    _remove_network()


def _remove_containers(name: str) -> None:
    uid = _management_uid()
    if not uid:
        return
    found = run(["docker", "ps", "-aq", "--filter", f"label={MANAGEMENT_LABEL}={uid}"]).split()
    if found:
        run(["docker", "rm", "-f", "-v", *found], timeout=120)


def _management_uid() -> str:
    try:
        found = Kubectl(kubeconfig_path()).get("namespace", "kube-system")
        return found["metadata"]["uid"]
    except (CommandError, EngineError):
        return ""


def _remove_network() -> None:
    try:
        users = run(["docker", "network", "inspect", _NETWORK, "-f", "{{len .Containers}}"])
        if users.strip() == "0":
            run(["docker", "network", "rm", _NETWORK])
    except CommandError:
        return

