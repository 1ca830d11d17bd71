"""May unhealthy Machines be replaced now, and how many more? Pure.

When many Machines fail at once the cause is rarely the Machines, and replacing them makes it
worse. So everything that is not known to be healthy counts, Machines that are still starting too.
"""

import re
from dataclasses import dataclass

from capi_core.api.healthcheck import RemediationTrigger
from capi_core.conditions import Verdict
from capi_core.reconcilers.machinedeployment.rollout import resolve

_RANGE = re.compile(r"\[([0-9]+)-([0-9]+)\]")
_PERCENT = re.compile(r"[0-9]+%")
_ALL = "100%"


@dataclass(frozen=True, slots=True)
class Allowance:
    """Whether Machines may be replaced.

    Attributes:
        verdict: of the condition RemediationAllowed.
        more: how many further Machines may become unhealthy.
    """

    verdict: Verdict
    more: int = 0

    @property
    def allowed(self) -> bool:
        """Whether Machines may be replaced."""
        return self.verdict.status == "True"


def allowance(
    trigger: RemediationTrigger, *, expected: int, healthy: int, unhealthy: int
) -> Allowance:
    """What ``trigger`` says to these numbers of Machines.

    Args:
        expected: all of them.
        healthy: those with a Node that nothing counts against.
        unhealthy: those that should be replaced; only told.
    """
    counts = f"total: {expected}, unhealthy: {unhealthy}"
    not_healthy = expected - healthy
    head = "Remediation is not allowed, the number of not started or unhealthy machines"
    if text := trigger.unhealthy_in_range:
        limits = parse_range(text)
        if limits is None:
            return _refused(f"Remediation is not allowed, unhealthyInRange {text} is no range")
        if limits[0] <= not_healthy <= limits[1]:
            return _granted(limits[1] - not_healthy)
        return _refused(f"{head} does not fall within the range ({counts}, unhealthyRange: {text})")
    value = trigger.unhealthy_less_than_or_equal_to
    limit = scaled(_ALL if value is None else value, expected)
    if limit is None:
        return _refused(
            f"Remediation is not allowed, unhealthyLessThanOrEqualTo {value} is neither a number "
            "nor a percentage"
        )
    if not_healthy <= limit:
        return _granted(limit - not_healthy)
    told = _ALL if value is None else value
    return _refused(f"{head} exceeds maxUnhealthy ({counts}, maxUnhealthy: {told})")


def _granted(more: int) -> Allowance:
    return Allowance(Verdict("True", "RemediationAllowed"), more)


def _refused(message: str) -> Allowance:
    return Allowance(Verdict("False", "TooManyUnhealthy", message))


def parse_range(text: str) -> tuple[int, int] | None:
    """Both ends of ``[3-5]``; None when it is no range, or none that anything falls into."""
    match = _RANGE.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        return None
    return int(match[1]), int(match[2])


def scaled(value: int | str, total: int) -> int | None:
    """A number, or a percentage of ``total`` rounded down; None for anything else."""
    if isinstance(value, str) and not _PERCENT.fullmatch(value):
        return None
    return resolve(value, total, round_up=False)
