"""The quick start on real Docker: Ready in time, whoever is killed or deleted on the way."""

import json
from pathlib import Path

import pytest

from capd_py.dev.kubectl import Kubectl
from capd_py.dev.progress import STEPS
from capd_py.engine.daemon import PROBE_IMAGE
from capi_core.api.meta import JsonObject
from tests.support.management import (
    EXAMPLE,
    Management,
    Workload,
    docker,
    eventually,
    with_workload,
)

_READY_SECONDS = 40.0
# The target is for an idle machine of two cores; CI shares its own.
_NOISE = 1.5
each_step = pytest.mark.parametrize("step", range(1, len(STEPS) + 1))


async def test_three_nodes_are_ready_in_time_and_run_a_pod(management: Management) -> None:
    async def check(cluster: Workload) -> None:
        for number in range(1, 6):
            print(f"{await cluster.step(number):6.1f} s  {number}. {STEPS[number - 1]}")
        workload = await cluster.ready()
        print(f"{cluster.seconds:6.1f} s  6. {STEPS[5]}")
        assert cluster.seconds < _READY_SECONDS * _NOISE
        nodes = workload.get("nodes")["items"]
        assert len(nodes) == 3
        assert all(node["spec"]["providerID"].startswith("docker:////") for node in nodes)
        await _run_pod(workload)
        proxies = workload("logs", "-n", "kube-system", "-l", "k8s-app=kube-proxy", "--tail=-1")
        assert "Sync failed" not in proxies
        _look(management, cluster.namespace)
        _look_into_workers(management, cluster)
        print(f"{await cluster.delete():6.1f} s  deleted")

    await with_workload(management, "ready", check, change=_equip_workers)


def _equip_workers(obj: JsonObject) -> None:
    """Give workers an image, a file of the host's and a failure domain."""
    if obj["kind"] == "DockerMachineTemplate" and obj["metadata"]["name"].endswith("-md-0"):
        mount = {"hostPath": "/etc/os-release", "containerPath": "/host-release", "readOnly": True}
        obj["spec"]["template"]["spec"] = {"preLoadImages": [PROBE_IMAGE], "extraMounts": [mount]}
    if obj["kind"] == "MachineDeployment":
        obj["spec"]["template"]["spec"]["failureDomain"] = "fd1"


def _look_into_workers(management: Management, cluster: Workload) -> None:
    machines = management.kubectl.get("dockermachines", "-n", cluster.namespace)["items"]
    workers = [item for item in machines if item["status"].get("failureDomain") == "fd1"]
    assert len(workers) == 2
    for worker in workers:
        node = worker["spec"]["providerID"].rpartition("/")[2]
        assert PROBE_IMAGE.split(":")[0] in docker("exec", node, "crictl", "images")
        assert docker("exec", node, "cat", "/host-release") == Path("/etc/os-release").read_text()
        (container,) = json.loads(docker("inspect", node))
        assert container["Config"]["Labels"]["io.x-k8s.cluster.failureDomain"] == "fd1"
        mode = [m["RW"] for m in container["Mounts"] if m["Destination"] == "/host-release"]
        assert mode == [False]


async def _run_pod(workload: Kubectl) -> None:
    images = workload.get("nodes")["items"][0]["status"]["images"]
    # The one image on every node that runs without arguments and without a registry.
    pause = next(name for image in images for name in image["names"] if "/pause:" in name)
    workload("create", "deployment", "probe", f"--image={pause}", "--replicas=2")
    await eventually(
        lambda: workload.get("deployment", "probe"),
        lambda d: (d.get("status") or {}).get("availableReplicas") == 2,
        "two pods on the workers",
    )


def _look(management: Management, namespace: str) -> None:
    """What users look at: upstream's columns, and events in describe."""
    columns = {
        "clusters": "NAME CLUSTERCLASS AVAILABLE CP DESIRED CP AVAILABLE CP UP-TO-DATE W DESIRED "
        "W AVAILABLE W UP-TO-DATE PHASE AGE VERSION",
        "machines": "NAME CLUSTER NODE NAME FAILURE DOMAIN READY AVAILABLE UP-TO-DATE PHASE AGE "
        "VERSION",
        "kcp": "NAME CLUSTER AVAILABLE DESIRED CURRENT READY AVAILABLE UP-TO-DATE INITIALIZED AGE "
        "VERSION",
        "dockermachines": "NAME CLUSTER FAILURE DOMAIN PROVISIONED AGE",
    }
    for kind, expected in columns.items():
        table = management.kubectl("get", kind, "-n", namespace)
        assert table.splitlines()[0].split() == expected.split()
    for kind, reason in (
        ("cluster", "InfrastructureReady"),
        ("machine", "SuccessfulSetNodeRef"),
        ("dockermachine", "BootstrapCompleted"),
    ):
        assert reason in management.kubectl("describe", kind, "-n", namespace)


async def test_one_apply_is_enough_with_a_resource_set(management: Management) -> None:
    async def check(cluster: Workload) -> None:
        management.kubectl("apply", "-n", cluster.namespace, "-f", str(EXAMPLE.parent / "cni.yaml"))
        print(f"Ready after {await cluster.step(6):.1f} s")
        applied = management.kubectl.get("clusterresourceset", "podroutes", "-n", cluster.namespace)
        conditions = {c["type"]: c["status"] for c in applied["status"]["conditions"]}
        assert conditions["ResourcesApplied"] == "True"
        await cluster.delete()

    await with_workload(management, "one-apply", check, workers=1)


@each_step
async def test_killed_managers_go_on_where_they_were(management: Management, step: int) -> None:
    async def check(cluster: Workload) -> None:
        await (cluster.ready() if step == len(STEPS) else cluster.step(step))
        management.kill_managers()
        await cluster.ready()
        assert len(management.names("machines", cluster.namespace)) == 2
        assert len(management.names("dockermachines", cluster.namespace)) == 2
        assert len(management.names("machinesets", cluster.namespace)) == 1
        assert len(management.containers(cluster.name)) == 3
        print(f"killed at step {step}, Ready after {cluster.seconds:.1f} s")

    await with_workload(management, f"kill-{step}", check, workers=1)


@each_step
async def test_deletion_at_any_step_leaves_nothing(management: Management, step: int) -> None:
    async def check(cluster: Workload) -> None:
        if step == len(STEPS):
            await cluster.ready()
        else:
            await cluster.step(step)
        assert docker("ps", "-q") != ""
        print(f"deleted at step {step} in {await cluster.delete():.1f} s")

    await with_workload(management, f"delete-{step}", check, workers=1)
