"""The fake engine keeps the contract that Docker keeps."""

import subprocess
from collections.abc import Sequence

import pytest

from capd_py.container.fake import FakeRuntime
from capd_py.container.runtime import Container, Executed
from tests.contract.runtime import *  # noqa: F403
from tests.contract.runtime import MISSING, Bench


def on_this_host(container: Container, command: Sequence[str], stdin: bytes) -> Executed:
    """Commands of the contract touch nothing, so they may run here."""
    if command[0] == "sleep":
        raise TimeoutError
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=30)
    return Executed(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def bench() -> Bench:
    """The fake engine with one image."""
    runtime = FakeRuntime()
    runtime.images = {"node:1"}
    runtime.on_execute = on_this_host
    assert MISSING not in runtime.images
    return Bench(runtime, "node:1", "net", ("sleep", "60"))
