"""Workers on real Docker: scaled both ways, rolled under a budget that is never broken."""

import asyncio
import json
import time

from capd_py.dev.kubectl import Kubectl
from capi_core.api.meta import JsonObject
from capi_core.runtime.store import Key, key_of
from tests.support.management import Management, Workload, eventually, with_workload

_NAME = "workers"
_DEPLOYMENT = f"{_NAME}-md-0"
_PROBE = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "probe"}}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "probe"}},
                "template": {
                    "metadata": {"labels": {"app": "probe"}},
                    "spec": {"containers": [{"name": "pause", "image": ""}]},
                },
            },
        },
    ],
}


async def test_workers_scale_and_roll(management: Management) -> None:
    async def check(cluster: Workload) -> None:
        workload = await cluster.ready()
        await _scale(management, cluster, 3)
        _deploy(workload)
        await _available(workload, 2)
        await _roll(management, cluster, workload)
        await _block_and_release(management, cluster, workload)
        await _scale(management, cluster, 1)
        assert len(management.containers(_NAME)) == 3
        assert len(workload.get("nodes")["items"]) == 2

    await with_workload(management, _NAME, check, workers=1)


async def _scale(management: Management, cluster: Workload, replicas: int) -> None:
    start = time.monotonic()
    management.kubectl(
        "scale", "machinedeployment", _DEPLOYMENT, "-n", _NAME, f"--replicas={replicas}"
    )
    await cluster.until(
        lambda view: len(view.machines.all()) == replicas + 1 and view.steps_done()[5],
        f"{replicas} Ready workers",
    )
    print(f"scaled to {replicas} in {time.monotonic() - start:.1f} s")


def _deploy(workload: Kubectl) -> None:
    images = workload.get("nodes")["items"][0]["status"]["images"]
    body: JsonObject = json.loads(json.dumps(_PROBE))
    (container,) = body["items"][1]["spec"]["template"]["spec"]["containers"]
    container["image"] = next(n for image in images for n in image["names"] if "/pause:" in n)
    workload("apply", "-f", "-", stdin=json.dumps(body))


async def _available(workload: Kubectl, wanted: int) -> None:
    await eventually(
        lambda: workload.get("deployment", "probe"),
        lambda d: (d.get("status") or {}).get("availableReplicas") == wanted,
        f"{wanted} available pods",
    )


async def _roll(management: Management, cluster: Workload, workload: Kubectl) -> None:
    """Another infrastructure template replaces every worker, one at a time."""
    before = {key.name for key in _workers(cluster)}
    template = {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "DockerMachineTemplate",
        "metadata": {"name": f"{_NAME}-md-1", "namespace": _NAME},
        "spec": {
            "template": {"spec": {"extraMounts": [{"hostPath": "/etc", "containerPath": "/h"}]}}
        },
    }
    management.kubectl("apply", "-f", "-", stdin=json.dumps(template))
    ref = {"spec": {"template": {"spec": {"infrastructureRef": {"name": f"{_NAME}-md-1"}}}}}
    start = time.monotonic()
    management.kubectl(
        "patch", "machinedeployment", _DEPLOYMENT, "-n", _NAME, "--type=merge",
        f"--patch={json.dumps(ref)}",
    )
    seen: list[int] = []
    watching = asyncio.create_task(_watch_budget(workload, seen))
    try:
        await cluster.until(
            lambda view: not before & {key.name for key in _workers(cluster)}
            and len(view.machines.all()) == 4
            and view.steps_done()[5],
            "three new workers",
            timeout=240.0,
        )
    finally:
        watching.cancel()
    print(f"rolled three workers in {time.monotonic() - start:.1f} s")
    assert seen
    assert min(seen) >= 1, f"the budget was broken: {seen}"
    await _available(workload, 2)


async def _block_and_release(
    management: Management, cluster: Workload, workload: Kubectl
) -> None:
    """A budget keeps a Machine from going, its condition says so, until the budget allows it."""
    _allow(workload, minimum=2)
    pods = workload.get("pods", "-n", "default", "-l", "app=probe")["items"]
    node = pods[0]["spec"]["nodeName"]
    machines = [obj for obj in cluster.view.machines.all() if _node_of(obj) == node]
    (name,) = [obj["metadata"]["name"] for obj in machines]
    management.kubectl("delete", "machine", name, "-n", _NAME, "--wait=false")
    await cluster.until(
        lambda view: "disruption budget" in _deleting_message(cluster, name),
        "the Deleting condition to name the budget",
        30.0,
    )
    assert pods[0]["metadata"]["name"] in _deleting_message(cluster, name)
    _allow(workload, minimum=1)
    start = time.monotonic()
    await cluster.until(
        lambda view: view.machines.get(Key(_NAME, name)) is None, "the Machine to go", 60.0
    )
    print(f"gone {time.monotonic() - start:.1f} s after the budget allowed it")
    await cluster.until(lambda view: view.steps_done()[5], "its replacement", 90.0)


def _allow(workload: Kubectl, *, minimum: int) -> None:
    patch = json.dumps({"spec": {"minAvailable": minimum}})
    workload("patch", "pdb", "probe", "-n", "default", "--type=merge", f"--patch={patch}")


def _node_of(machine: JsonObject) -> str:
    return ((machine.get("status") or {}).get("nodeRef") or {}).get("name", "")


def _deleting_message(cluster: Workload, name: str) -> str:
    machine = cluster.view.machines.get(Key(_NAME, name)) or {}
    conditions = (machine.get("status") or {}).get("conditions") or []
    return next((c["message"] for c in conditions if c["type"] == "Deleting"), "")


async def _watch_budget(workload: Kubectl, seen: list[int]) -> None:
    while True:
        deployment = await asyncio.to_thread(workload.get, "deployment", "probe")
        seen.append((deployment.get("status") or {}).get("availableReplicas", 0))
        await asyncio.sleep(0.3)


def _workers(cluster: Workload) -> list[Key]:
    label = "cluster.x-k8s.io/control-plane"
    return [
        key_of(machine)
        for machine in cluster.view.machines.all()
        if label not in (machine["metadata"].get("labels") or {})
    ]
