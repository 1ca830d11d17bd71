"""The steps of a DockerMachine that wait for one another say for which."""

import pytest

from capd_py.reconcilers.dockermachine.scope import (
    BOOTSTRAP,
    CGROUPS,
    IMAGES,
    PROVISIONED,
    STEPS,
    DockerMachineScope,
)
from capi_core.api.docker import DockerMachine
from tests.unit.status.build import condition


def scope(*reached: str, failed: bool = False) -> DockerMachineScope:
    """A DockerMachine that has come so far."""
    found = [condition(step, "True") for step in reached]
    if failed:
        found.append(condition(BOOTSTRAP, "False", "Failed"))
    obj = DockerMachine.parse({"metadata": {"name": "d"}, "status": {"conditions": found}})
    return DockerMachineScope(obj, None, {})


@pytest.mark.parametrize(
    ("reached", "expected"),
    [
        ((), ("", "WaitingForContainer", "WaitingForContainer", "WaitingForContainer")),
        ((PROVISIONED,), ("", "", "WaitingForCGroups", "WaitingForCGroups")),
        ((PROVISIONED, CGROUPS), ("", "", "", "WaitingForPreloadedImages")),
        ((PROVISIONED, CGROUPS, IMAGES), ("", "", "", "")),
    ],
)
def test_a_step_waits_for_the_first_that_is_not_done(
    reached: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    found = scope(*reached)
    assert tuple(found.awaited_by(step) for step in STEPS) == expected


def test_what_has_ended_waits_for_nothing() -> None:
    assert scope(CGROUPS, IMAGES, BOOTSTRAP).awaited_by(BOOTSTRAP) == ""
    assert scope(failed=True).awaited_by(BOOTSTRAP) == ""
    assert scope(failed=True).awaited_by(CGROUPS) == "WaitingForContainer"
