"""Durations as Go writes them and metav1.Duration fields hold them: ``5m0s``, ``1h30m``."""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")


class InvalidDuration(ValueError):
    """Not a duration."""


def parse_duration(text: str | None) -> float:
    """Seconds; 0 when there is no text.

    Raises:
        InvalidDuration: it is not a duration.
    """
    if not text or text == "0":
        return 0.0
    parts = _PART.findall(text)
    if "".join(number + unit for number, unit in parts) != text:
        raise InvalidDuration(f"{text} is not a duration such as 5m or 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
