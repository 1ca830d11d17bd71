"""How many unhealthy Machines are too many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capi_core.api.healthcheck import RemediationTrigger
from capi_core.reconcilers.machinehealthcheck.limits import (
    Allowance,
    allowance,
    parse_range,
    scaled,
)

COUNTS = st.tuples(st.integers(0, 500), st.integers(0, 500)).map(sorted)


def ask(expected: int, healthy: int, **trigger: int | str) -> Allowance:
    """The allowance, with all Machines that are not healthy unhealthy."""
    found = RemediationTrigger.model_validate(trigger)
    return allowance(found, expected=expected, healthy=healthy, unhealthy=expected - healthy)


@pytest.mark.parametrize(
    ("limit", "expected", "healthy", "more"),
    [
        (2, 5, 3, 0), (2, 5, 2, None), (0, 5, 5, 0), (0, 5, 4, None), ("40%", 5, 3, 0),
        ("40%", 5, 2, None), ("50%", 5, 4, 1), ("100%", 3, 0, 0), (9, 3, 0, 6), ("10%", 0, 0, 0),
    ],
)
def test_at_most(limit: int | str, expected: int, healthy: int, more: int | None) -> None:
    found = ask(expected, healthy, unhealthyLessThanOrEqualTo=limit)
    assert (found.more if found.allowed else None) == more


@pytest.mark.parametrize(
    ("text", "bad", "more"),
    [("[2-4]", 1, None), ("[2-4]", 2, 2), ("[2-4]", 4, 0), ("[2-4]", 5, None), ("[0-0]", 0, 0)],
)
def test_range(text: str, bad: int, more: int | None) -> None:
    # A range wins over a limit.
    found = ask(9, 9 - bad, unhealthyInRange=text, unhealthyLessThanOrEqualTo=0)
    assert (found.more if found.allowed else None) == more


def test_messages() -> None:
    assert ask(3, 1, unhealthyLessThanOrEqualTo="40%").verdict.message == (
        "Remediation is not allowed, the number of not started or unhealthy machines exceeds "
        "maxUnhealthy (total: 3, unhealthy: 2, maxUnhealthy: 40%)"
    )
    assert ask(3, 1, unhealthyInRange="[3-5]").verdict.message == (
        "Remediation is not allowed, the number of not started or unhealthy machines does not "
        "fall within the range (total: 3, unhealthy: 2, unhealthyRange: [3-5])"
    )
    good = ask(3, 3).verdict
    assert (good.status, good.reason, good.message) == ("True", "RemediationAllowed", "")


@pytest.mark.parametrize("trigger", [{"unhealthyInRange": "[5-3]"}, {"unhealthyInRange": "3-5"},
                                     {"unhealthyLessThanOrEqualTo": "many"}])
def test_limits_that_are_none_forbid_and_say_so(trigger: dict[str, str]) -> None:
    found = ask(3, 3, **trigger)
    assert not found.allowed
    assert found.verdict.reason == "TooManyUnhealthy"
    assert next(iter(trigger.values())) in found.verdict.message


@given(counts=COUNTS)
def test_without_limits_everything_may_be_replaced(counts: list[int]) -> None:
    healthy, expected = counts
    found = ask(expected, healthy)
    assert found.allowed
    assert found.more == healthy


@given(counts=COUNTS, percent=st.integers(0, 100))
def test_a_share_is_never_exceeded(counts: list[int], percent: int) -> None:
    healthy, expected = counts
    found = ask(expected, healthy, unhealthyLessThanOrEqualTo=f"{percent}%")
    bad = expected - healthy
    assert found.allowed is (bad * 100 <= percent * expected)
    if found.allowed:
        # As many more as it says, and not one above.
        assert (bad + found.more) * 100 <= percent * expected < (bad + found.more + 1) * 100


@given(counts=COUNTS, ends=st.tuples(st.integers(0, 600), st.integers(0, 600)))
def test_a_range_allows_what_is_inside(counts: list[int], ends: tuple[int, int]) -> None:
    healthy, expected = counts
    low, high = ends
    text = f"[{low}-{high}]"
    found = ask(expected, healthy, unhealthyInRange=text)
    assert found.allowed is (low <= expected - healthy <= high)
    assert found.more >= 0
    assert parse_range(text) == ((low, high) if low <= high else None)


@given(counts=COUNTS, limit=st.integers(0, 600))
def test_one_more_healthy_machine_never_forbids(counts: list[int], limit: int) -> None:
    healthy, expected = counts
    now = ask(expected, healthy, unhealthyLessThanOrEqualTo=limit)
    better = ask(expected, min(healthy + 1, expected), unhealthyLessThanOrEqualTo=limit)
    assert better.allowed >= now.allowed
    assert better.more >= now.more


def test_scaled() -> None:
    assert (scaled(3, 10), scaled("25%", 10)) == (3, 2)
    assert (scaled("x", 10), scaled("%", 10)) == (None, None)
