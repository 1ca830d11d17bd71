"""Go's durations."""

import pytest

from capd_py.reconcilers.duration import InvalidDuration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5m0s", 300), ("1h30m", 5400), ("1.5h", 5400), ("300ms", 0.3), ("10us", 1e-5),
     ("10µs", 1e-5), ("7ns", 7e-9), ("0", 0), ("0s", 0), ("", 0), (None, 0),
     ("2h3m4s5ms", 7384.005)],
)
def test_durations(text: str | None, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["5", "5 m", "m", "5min", "soon", "-5m", "5m!", "1h 30m", "5m5"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidDuration, match="not a duration"):
        parse_duration(text)
