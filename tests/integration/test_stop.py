"""A manager's process that is told to stop hands its Lease over and ends."""

import asyncio
import signal
import sys
import time
from pathlib import Path

import pytest

from capi_core.runtime.election import LEASES
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, until

_NAME = "controller-leader-election-capi"


async def _start(kubeconfig: Path, namespace: str) -> asyncio.subprocess.Process:
    options = [
        f"--provider={CORE}", f"--kubeconfig={kubeconfig}", f"--namespace={namespace}",
        "--webhook-port=0", "--health-addr=0", "--metrics-addr=0",
    ]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "capi_core.manager", *options,
        env={"POD_NAMESPACE": namespace, "PATH": ""}, stderr=asyncio.subprocess.DEVNULL,
    )


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_frees_the_lease_at_once(
    server: ApiServer, api: Api, tmp_path: Path, name: signal.Signals
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(server.kubeconfig)

    async def holder() -> str:
        return (await api.get(LEASES, _NAME))["spec"]["holderIdentity"]

    process = await _start(kubeconfig, api.namespace)
    try:
        await until(holder, what="the Lease to be held", timeout=30.0)
        start = time.monotonic()
        process.send_signal(name)
        assert await asyncio.wait_for(process.wait(), 10) == 0
        assert time.monotonic() - start < 3
        assert await holder() == ""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
