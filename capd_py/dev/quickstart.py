"""The quick start: applies the example and tells its six steps as they happen."""

import asyncio
import time
from pathlib import Path

from rich.console import Console
from rich.status import Status

from capd_py.dev.kubectl import Kubectl
from capd_py.dev.network import apply_network
from capd_py.dev.progress import STEPS, View, watching
from capd_py.dev.up import project_root
from capd_py.engine import EngineError

NAMESPACE, CLUSTER = "default", "quick-start"
_LIMIT_SECONDS = 300.0


def run_quickstart(kubeconfig: Path, console: Console) -> Path:
    """Apply the example, tell the steps, return the workload cluster's kubeconfig.

    Raises:
        EngineError: it was refused, or not Ready within five minutes.
    """
    kubectl = Kubectl(kubeconfig)
    path = asyncio.run(_follow(kubectl, console))
    workload = Kubectl(path)
    console.print(workload("get", "nodes", "-o", "wide"), highlight=False, markup=False)
    console.print(f"export KUBECONFIG={path}", highlight=False, soft_wrap=True)
    return path


async def _follow(kubectl: Kubectl, console: Console) -> Path:
    example = project_root() / "examples" / "quick-start.yaml"
    async with watching(kubectl.kubeconfig, NAMESPACE, CLUSTER) as view:
        start = time.monotonic()
        await asyncio.to_thread(kubectl, "apply", "-n", NAMESPACE, "-f", str(example))
        try:
            with console.status("applied") as status:
                async with asyncio.timeout(_LIMIT_SECONDS):
                    return await _tell(view, kubectl, console, status, start)
        except TimeoutError as error:
            raise EngineError(
                f"not Ready within {_LIMIT_SECONDS:.0f} s; waiting for: {view.waiting_for()}",
                f"kubectl --kubeconfig {kubectl.kubeconfig} describe cluster {CLUSTER}",
            ) from error


async def _tell(
    view: View, kubectl: Kubectl, console: Console, status: Status, start: float
) -> Path:
    told, network = 0, None
    while True:
        view.changed.clear()
        done = view.steps_done()
        while told < len(STEPS) and done[told]:
            told += 1
            seconds = time.monotonic() - start
            console.print(f"{seconds:6.1f} s  {told}. {STEPS[told - 1]}", highlight=False)
        if told >= len(STEPS) - 1 and network is None:
            network = asyncio.create_task(apply_network(kubectl.kubeconfig, NAMESPACE, CLUSTER))
        if told == len(STEPS) and network is not None:
            return await network
        status.update(f"waiting for: {view.waiting_for()[:200]}")
        await view.changed.wait()
