"""One management cluster for the tier, made as users make theirs and taken down at the end."""

from collections.abc import Iterator

import pytest

from capd_py.container.identity import MANAGEMENT
from capd_py.dev.down import take_down
from capd_py.dev.up import bring_up
from capd_py.images.versions import DEFAULT_VERSION
from tests.support.management import NAME, Management, docker


@pytest.fixture(scope="session")
def management() -> Iterator[Management]:
    """A fresh management cluster; one that an earlier run left is removed first."""
    take_down(name=NAME)
    volumes = docker("volume", "ls", "-q").split()
    uid = ""
    try:
        made = Management(bring_up(version=DEFAULT_VERSION, name=NAME))
        uid = made.uid
        yield made
    finally:
        take_down(name=NAME)
        assert docker("ps", "-aq", "--filter", f"label={MANAGEMENT}={uid}") == ""
        assert NAME not in docker("ps", "-a", "--format", "{{.Names}}")
        assert set(docker("volume", "ls", "-q").split()) <= set(volumes)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here is e2e and may take minutes."""
    for item in items:
        if "tests/e2e/" in item.nodeid:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(600))
