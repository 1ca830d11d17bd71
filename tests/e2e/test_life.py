"""A cluster that runs: what it costs at rest, how a user reaches it, what it survives."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from capd_py.dev.kubectl import Kubectl
from capd_py.engine.daemon import restart_engine
from capi_core.api.meta import JsonObject
from tests.support.management import (
    KINDS,
    MANAGERS,
    NAME,
    Management,
    Workload,
    docker,
    eventually,
    with_workload,
)

_CLUSTER = "life"
_IDLE_SECONDS = 120.0
_IDLE_CORES = 0.02
_MEMORY_MIB = 600
_RESTART_SECONDS = 120.0
_SAMPLE = (
    "for p in $(pgrep -f '[p]ython3 -m capi_core.manager'); do "
    "awk '{print $14 + $15}' /proc/$p/stat; "
    "awk '/^Pss:/ {print $2}' /proc/$p/smaps_rollup; done"
)


@dataclass(frozen=True)
class Life:
    """The cluster that this module's tests share."""

    management: Management
    kubectl: Kubectl
    kubeconfig: Path


@pytest.fixture(scope="module")
def life(management: Management) -> Iterator[Life]:
    """One control plane and one worker, Ready; deleted at the end."""
    ready, done = asyncio.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    found: list[Life] = []

    async def hold(cluster: Workload) -> None:
        kubectl = await cluster.ready()
        found.append(Life(management, kubectl, kubectl.kubeconfig))
        ready.set()
        await done.wait()

    task = loop.create_task(with_workload(management, _CLUSTER, hold, workers=1))
    waiting = loop.create_task(ready.wait())
    loop.run_until_complete(asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED))
    if task.done():
        task.result()
    yield found[0]
    done.set()
    loop.run_until_complete(task)
    loop.close()


def test_the_users_kubeconfig_works_on_this_host(life: Life) -> None:
    config = yaml.safe_load(life.kubeconfig.read_text())
    server = config["clusters"][0]["cluster"]["server"]
    assert re.fullmatch(r"https://127\.0\.0\.1:\d+", server)
    assert len(Kubectl(life.kubeconfig).get("nodes")["items"]) == 2
    assert life.kubeconfig.stat().st_mode & 0o077 == 0


def test_idle_costs_nothing(life: Life) -> None:
    """Nobody writes, and the managers hardly compute, while nothing changes."""
    _settle(life)
    versions = _versions(life)
    before, _ = _usage()
    time.sleep(_IDLE_SECONDS)  # the time over which rest is measured
    after, memory = _usage()
    cores = (after - before) / 100 / _IDLE_SECONDS
    print(f"idle: {cores * 100:.2f} % of a core, {memory:.0f} MiB together")
    assert _versions(life) == versions
    assert cores < _IDLE_CORES
    assert memory < _MEMORY_MIB


def _settle(life: Life) -> None:
    """Wait until nothing has been written for five seconds."""
    deadline = time.monotonic() + 60
    last, since = _versions(life), time.monotonic()
    while time.monotonic() - since < 5:
        assert time.monotonic() < deadline, "objects are still written after a minute"
        time.sleep(0.5)
        if (now := _versions(life)) != last:
            last, since = now, time.monotonic()


def _versions(life: Life) -> dict[str, str]:
    items = life.management.kubectl.get(KINDS, "-n", _CLUSTER)["items"]
    return {
        f"{item['kind']}/{item['metadata']['name']}": item["metadata"]["resourceVersion"]
        for item in items
    }


def _usage() -> tuple[int, float]:
    """Ticks of CPU and MiB of memory of all managers; shared pages are counted once."""
    numbers = [int(n) for n in docker("exec", f"{NAME}-control-plane", "sh", "-c", _SAMPLE).split()]
    assert len(numbers) == 2 * len(MANAGERS)
    return sum(numbers[::2]), sum(numbers[1::2]) / 1024


async def test_the_cluster_comes_back_after_the_engine_restarts(life: Life) -> None:
    addresses = _addresses()
    await asyncio.to_thread(restart_engine)
    start = time.monotonic()
    await eventually(
        lambda: Kubectl(life.kubeconfig)("get", "--raw", "/readyz", timeout=5),
        lambda text: text == "ok",
        "the API through the load balancer",
        timeout=_RESTART_SECONDS,
    )
    answers = time.monotonic() - start
    await eventually(
        lambda: life.kubectl.get("nodes")["items"],
        lambda nodes: len(nodes) == 2 and all(_is_ready(node) for node in nodes),
        "Ready nodes",
        timeout=_RESTART_SECONDS - answers,
    )
    print(f"API after {answers:.1f} s, nodes Ready after {time.monotonic() - start:.1f} s")
    assert _addresses() == addresses
    await eventually(
        lambda: life.management.kubectl.get("cluster", _CLUSTER, "-n", _CLUSTER),
        lambda cluster: any(
            c["type"] == "Available" and c["status"] == "True"
            for c in cluster["status"]["conditions"]
        ),
        "an Available cluster, told by managers that came back",
        timeout=120.0,
    )


def _addresses() -> dict[str, str]:
    names = docker(
        "ps", "--filter", f"label=io.x-k8s.kind.cluster={_CLUSTER}", "--format", "{{.Names}}"
    ).split()
    found = json.loads(docker("inspect", *names))
    return {
        item["Name"]: network["IPAddress"]
        for item in found
        for network in item["NetworkSettings"]["Networks"].values()
    }


def _is_ready(node: JsonObject) -> bool:
    conditions = node["status"]["conditions"]
    taints = [taint["key"] for taint in node["spec"].get("taints") or []]
    fresh = not any(key.startswith("node.kubernetes.io/") for key in taints)
    return fresh and any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
