"""Brings up the management cluster with the four managers in it, and takes it down again.

Every step looks first whether it is done, so the command can be run again at any time.
"""

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from capd_py.container.docker import DockerRuntime
from capd_py.dev.kubectl import Kubectl
from capd_py.dev.manifests import PROVIDERS, SINGLE, manager_objects
from capd_py.engine import (
    EngineError,
    Severity,
    ensure_engine,
    ensure_kind,
    ensure_kubectl,
    preflight,
)
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import CommandError, run
from capd_py.images import ensure_images
from capi_core.api.crd import load_crds

Say = Callable[[str], None]
CLUSTER = "capd-py"
_SOCKET = "/var/run/docker.sock"
NETWORK = "kind"


def kubeconfig_path(name: str = CLUSTER) -> Path:
    """Where a management cluster's kubeconfig is kept."""
    return cache_dir("management") / f"{name}.kubeconfig"


def uids_path(name: str = CLUSTER) -> Path:
    """Where the uids of the management clusters of a name that were made here are kept."""
    return cache_dir("management") / f"{name}.uids"


def project_root() -> Path:
    """The clone that this code runs from."""
    return Path(__file__).resolve().parents[2]


class Step:
    """Says a title with its seconds when it ends."""

    def __init__(self, say: Say, title: str) -> None:
        self._say, self._title, self._start = say, title, 0.0

    def __enter__(self) -> None:
        self._start = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        mark = "failed" if kind else "done"
        self._say(f"{self._title}: {mark} in {time.monotonic() - self._start:.1f} s")


def bring_up(
    say: Say = print,
    *,
    version: str,
    name: str = CLUSTER,
    single_process: bool = False,
    args: tuple[str, ...] = (),
) -> Path:
    """Make everything ready to accept manifests; returns the kubeconfig.

    Args:
        version: Kubernetes version of the management cluster's node image.
        single_process: one manager with all providers instead of one for each.
        args: flags for each manager.
    """
    with Step(say, "engine"):
        ensure_engine(say)
    check(say)
    with Step(say, "kind"):
        kind = str(ensure_kind())
    with Step(say, "images"):
        images = ensure_images(version, project_root=project_root(), say=say)
    ensure_kubectl(images.node)
    with Step(say, "management cluster"):
        asyncio.run(_ensure_network())
        _ensure_cluster(kind, name, images.node)
    kubectl = Kubectl(kubeconfig_path(name))
    with Step(say, "manager image in the cluster"):
        _load(kind, name, images.manager)
    with Step(say, "CRDs"):
        apply_crds(kubectl)
    with Step(say, "managers"):
        _remember(kubectl, name)
        _apply_managers(kubectl, images.manager, args, single=single_process)
    say(f"ready: export KUBECONFIG={kubeconfig_path(name)}")
    return kubeconfig_path(name)


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


async def _ensure_network() -> None:
    # Made before kind would make one whose addresses change when the engine restarts.
    runtime = DockerRuntime()
    await runtime.ensure_network(NETWORK)
    await runtime.close()


def _ensure_cluster(kind: str, name: str, image: str) -> None:
    if name in run([kind, "get", "clusters"]).split():
        kubeconfig = run([kind, "get", "kubeconfig", "--name", name])
        kubeconfig_path(name).write_text(kubeconfig)
        if _answers(name):
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
         "--kubeconfig", str(kubeconfig_path(name))],
        stdin=yaml.safe_dump(config),
        timeout=300,
        cure=f"{kind} export logs --name {name}",
    )
    kubeconfig_path(name).chmod(0o600)


def _answers(name: str) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            Kubectl(kubeconfig_path(name))("get", "--raw", "/readyz", timeout=5)
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


def _remember(kubectl: Kubectl, name: str) -> None:
    """Keep the uid that this management cluster's containers carry, for when it is gone."""
    uid = kubectl.cluster_uid()
    path = uids_path(name)
    known = path.read_text().split() if path.exists() else []
    if uid not in known:
        path.write_text("\n".join([*known, uid]) + "\n")


def _apply_managers(
    kubectl: Kubectl, image: str, args: tuple[str, ...], *, single: bool
) -> None:
    providers = SINGLE if single else PROVIDERS
    unwanted = [p for p in (*PROVIDERS, *SINGLE) if p not in providers]
    kept = {provider.namespace for provider in providers}
    for provider in unwanted:
        # Its Lease would be fought over, and its webhooks would not answer any more.
        kubectl(
            "delete", "deployment", f"{provider.name}-controller-manager", "-n",
            provider.namespace, "--ignore-not-found",
        )
        if provider.namespace not in kept:
            for kind in ("mutating", "validating"):
                name = f"{provider.namespace}-{kind}-webhook-configuration"
                kubectl("delete", f"{kind}webhookconfiguration", name, "--ignore-not-found")
    objects = [obj for provider in providers for obj in manager_objects(provider, image, args)]
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
        list(pool.map(wait, [(p.namespace, f"{p.name}-controller-manager") for p in providers]))
    _await_admission(kubectl)


def _await_admission(kubectl: Kubectl) -> None:
    """Ready pods are not enough: their Services have to lead to them, too."""
    example = (project_root() / "examples" / "quick-start.yaml").read_text()
    # Objects that exist and do not change would not be asked about.
    unknown = example.replace("quick-start", "capd-admission-probe")
    deadline = time.monotonic() + 30
    while True:
        try:
            kubectl("create", "--dry-run=server", "-f", "-", stdin=unknown)
            return
        except CommandError as error:
            if "failed calling webhook" not in str(error) or time.monotonic() > deadline:
                raise EngineError(f"admission does not answer: {error}") from error
            time.sleep(0.2)
