"""Public time: moments, periods and steps, in seconds since 1970 UTC. Knows no record.

A text without a zone is UTC. Steps of fixed length begin at whole multiples of their length, weeks
on Monday, months and years on their first day.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DomainError

ZONE = "UTC"
SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
"""Units of a step of fixed length."""
MONTHS = {"mo": 1, "y": 12}
"""Units of a step that follows the calendar."""
FIRST, LAST = -62_135_596_800.0, 253_402_300_800.0
"""The years 1 to 9999, which every reader knows."""
MOST_STEPS = 20_000
"""Of one timeline."""

_STEP = re.compile(r"\s*([0-9]{1,6})\s*(s|min|h|d|w|mo|y)\s*")
_MONDAY = 4 * 86_400
"""The first Monday since 1970."""
_USUAL = ("1min", "15min", "1h", "6h", "1d", "1w", "1mo", "1y")

Float = NDArray[np.float64]


def moment(value: Any) -> float:
    """Seconds since 1970 UTC of a date or time in ISO 8601, a Python date, or a number of seconds.

    Raises:
        DomainError: none of these.

    >>> moment("2024-01-01"), moment("2024-01-01T01:00+01:00")
    (1704067200.0, 1704067200.0)
    """
    try:
        if isinstance(value, np.datetime64):
            value = value.astype("datetime64[us]").item()
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime):
            zoned = value.replace(tzinfo=UTC) if value.tzinfo is None else value
            return (zoned - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
        seconds = float(value)
    except (TypeError, ValueError):
        raise _no_time(value) from None
    if not FIRST <= seconds < LAST:
        raise _no_time(value)
    return seconds


def period(value: Any) -> tuple[float, float]:
    """Start and end (exclusive) in seconds, of a pair of moments or a text with a comma in it.

    Raises:
        DomainError: not two moments, the first before the second.

    >>> period("2024-01-01,2024-01-02")
    (1704067200.0, 1704153600.0)
    """
    ends = value.split(",") if isinstance(value, str) else list(value)
    if len(ends) != 2:
        raise DomainError(f"period {value!r}: give two moments, such as 2024-01-01,2025-01-01")
    start, end = map(moment, ends)
    if not start < end:
        raise DomainError(
            f"period from {words(start)} to {words(end)}: the end must be after the start"
        )
    return start, end


def fixed_step(value: Any) -> float:
    """Seconds of a step of fixed length, such as ``15min``, ``1h``, ``1d`` or ``1w``.

    Raises:
        DomainError: no such step.

    >>> fixed_step("15min")
    900.0
    """
    count, unit = _step(value)
    if unit not in SECONDS:
        raise DomainError(f"step {value!r} is not of one length: give s, min, h, d or w")
    return float(count * SECONDS[unit])


def edges(start: float, end: float, every: str) -> Float:
    """Where the steps of a period begin and end, float64 (k + 1,); the outer ones are cut.

    Raises:
        DomainError: no such step, or one that is too short for the period.

    >>> edges(*period("2024-01-31,2024-03-02"), "1mo").size
    4
    """
    count, unit = _step(every)
    if unit in MONTHS:
        first = np.datetime64(int(start), "s").astype("datetime64[M]").astype(int)
        last = np.datetime64(math.ceil(end), "s").astype("datetime64[M]").astype(int)
        width = count * MONTHS[unit]
        months = np.arange(first // width * width, last + width + 1, width)
        borders = months.astype("datetime64[M]").astype("datetime64[s]").astype(np.float64)
    else:
        width, origin = count * SECONDS[unit], _MONDAY if unit == "w" else 0
        steps = (end - start) / width
        if steps <= MOST_STEPS:
            low, high = math.floor((start - origin) / width), math.ceil((end - origin) / width)
            borders = np.arange(low, high + 1, dtype=np.float64) * width + origin
        else:
            raise DomainError(
                f"step {every!r}: {steps:,.0f} steps in the period: give a longer one, so that "
                f"there are at most {MOST_STEPS:,}"
            )
    within = borders[(borders > start) & (borders < end)]
    return np.concatenate([[start], within, [end]])


def usual_step(start: float, end: float, least: float = 0.0, most: int = 400) -> str:
    """The shortest usual step of which a period has at most so many.

    >>> usual_step(*period("2024-01-01,2025-01-01"))
    '1d'
    """
    lengths = {name: _seconds(name) for name in _USUAL}
    fitting = (
        name
        for name, length in lengths.items()
        if length >= least and (end - start) / length <= most
    )
    return next(fitting, _USUAL[-1])


def words(seconds: float) -> str:
    """A moment in ISO 8601, UTC: a date where it is midnight.

    >>> words(1704067200.0), words(1704070800.0)
    ('2024-01-01', '2024-01-01T01:00:00')
    """
    text = str(np.datetime64(round(seconds * 1e6), "us"))
    text = text.removesuffix(".000000")
    return text.removesuffix("T00:00:00")


def stamps(seconds: Any) -> NDArray[np.datetime64]:
    """Moments as NumPy's times to the second, UTC."""
    return np.rint(np.asarray(seconds, dtype=np.float64)).astype("datetime64[s]")


def _step(value: Any) -> tuple[int, str]:
    match = _STEP.fullmatch(str(value))
    if match is None or int(match[1]) == 0:
        raise DomainError(f"step {value!r}: give a number and a unit, such as 15min, 1h, 1d or 1mo")
    return int(match[1]), match[2]


def _seconds(name: str) -> float:
    count, unit = _step(name)
    return count * (SECONDS[unit] if unit in SECONDS else MONTHS[unit] * 31 * SECONDS["d"])


def _no_time(value: Any) -> DomainError:
    return DomainError(f"{value!r} is no time: use ISO 8601, such as 2024-01-01T08:30")
