"""One real API server for the tier, and a namespace of its own for each test."""

import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from capd_py.container.fake import FakeRuntime
from capd_py.images import binaries
from capi_core.api.crd import load_crds
from tests.support.apiserver import ApiServer, run_apiserver
from tests.support.cluster import Api, new_api


@pytest.fixture(scope="session")
def apiserver() -> Iterator[ApiServer]:
    """A running API server without any CRD."""
    programs = binaries()
    with run_apiserver(programs.kube_apiserver, programs.etcd) as server:
        yield server


@pytest.fixture(scope="session")
def server(apiserver: ApiServer) -> ApiServer:
    """The API server with all CRDs established."""
    kubeconfig = apiserver.directory / "admin.kubeconfig"
    kubeconfig.write_text(apiserver.kubeconfig)
    _kubectl(kubeconfig, "apply", "--server-side", "-f", "-", stdin=load_crds())
    _kubectl(kubeconfig, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    return apiserver


def _kubectl(kubeconfig: Path, *args: str, stdin: object = None) -> None:
    body = json.dumps({"apiVersion": "v1", "kind": "List", "items": stdin}) if stdin else None
    subprocess.run(
        [str(binaries().kubectl), "--kubeconfig", str(kubeconfig), *args],
        input=body, text=True, capture_output=True, check=True, timeout=90,
    )


@pytest.fixture
async def api(server: ApiServer) -> AsyncIterator[Api]:
    """A fresh namespace."""
    async with new_api(server) as fresh:
        yield fresh


@pytest.fixture
def runtime() -> FakeRuntime:
    """A container engine in memory."""
    return FakeRuntime()
