"""Cycles of time, day and week: their length and notation. Knows no record."""

from __future__ import annotations

import re
from typing import Any

from dpviz.errors import DomainError

CYCLES = {"day": 86_400.0, "week": 604_800.0}
"""Seconds of each."""
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_CLOCK = re.compile(
    r"\s*(?:(?P<day>mon|tue|wed|thu|fri|sat|sun)\s+)?"
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}(?:\.[0-9]+)?))?\s*",
    re.IGNORECASE,
)
_HANDS = ("hour", "minute", "second")


def of_cycle(value: Any, cycle: str) -> float:
    """A time of a cycle: a day and a clock, or seconds since its beginning.

    >>> of_cycle("Tue 01:00", "week"), of_cycle("08:30", "day")
    (90000.0, 30600.0)
    """
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    try:
        if match is None:
            seconds = float(value)
        elif (match["day"] is not None) != (cycle == "week"):
            raise ValueError
        else:
            day = 0 if match["day"] is None else DAYS.index(match["day"].title())
            hour, minute, second = (float(match[name] or 0) for name in _HANDS)
            seconds = day * 86_400.0 + hour * 3_600 + minute * 60 + second
            if minute >= 60 or second >= 60 or hour * 3_600 + minute * 60 + second > 86_400:
                raise ValueError
        if not 0 <= seconds <= CYCLES[cycle]:
            raise ValueError
    except (TypeError, ValueError):
        example = "Tue 08:30" if cycle == "week" else "08:30"
        raise DomainError(
            f"{value!r} is not a time of a {cycle}: use one such as {example}"
        ) from None
    return seconds
