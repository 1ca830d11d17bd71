"""Docker keeps the contract of a container engine."""

from collections.abc import AsyncIterator

import pytest

from capd_py.container.docker import DockerRuntime
from capd_py.reconcilers.host import DEFAULT_NETWORK, load_balancer_image
from capi_core.api.docker import DockerCluster
from tests.contract.runtime import *  # noqa: F403
from tests.contract.runtime import Bench

pytestmark = pytest.mark.e2e


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """The local engine, which has the load balancer's image; nothing is left on it."""
    runtime = DockerRuntime()
    image = load_balancer_image(DockerCluster())
    made = Bench(runtime, image, DEFAULT_NETWORK, ("sleep", "600"))
    try:
        yield made
    finally:
        await made.clean()
        await runtime.close()
