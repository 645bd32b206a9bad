"""Public time, in seconds since 1970 UTC: zones, cycles, periods, steps. Knows no record.

A text without a zone is in the calendar's, UTC by default. Steps of fixed length begin at whole
multiples of their length on the clocks of that zone, weeks on Monday, months and years on their
first day.

A cycle repeats: a time of it is the seconds since its last beginning on the clocks of the zone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.cycles import CYCLES, DAYS, of_cycle
from dpviz.domain.zones import OF_ZONES, ZONE, Offsets, offsets
from dpviz.errors import DomainError
from dpviz.trees.lattice import Float

SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
"""Units of a step of fixed length, the shortest first."""
MONTHS = {"mo": 1, "y": 12}
"""Units of a step that follows the calendar."""
FIRST, LAST = -62_135_596_800.0, 253_402_300_800.0
"""The years 1 to 9999, which every reader knows."""
MAX_STEPS = 20_000
"""Largest number of steps of one timeline."""
_STEP = re.compile(r"\s*([0-9]{1,6})\s*(s|min|h|d|w|mo|y)\s*")
MONDAY = 4.0 * 86_400
"""The first Monday since 1970."""
_ANCHOR = datetime(2001, 1, 1)
_UNIT_NAMES = {
    "s": "second", "min": "minute", "h": "hour",
    "d": "day", "w": "week", "mo": "month", "y": "year",
}  # fmt: skip
_DEFAULT_STEPS = ("1min", "15min", "1h", "6h", "1d", "1w", "1mo", "1y")


@dataclass(frozen=True)
class Calendar:
    """Notation of a domain's time axis: in a time zone, or as a cycle on its clocks.

    >>> Calendar("Europe/Berlin").moment("2024-07-01"), Calendar(cycle="week").moment("Tue 01:00")
    (1719784800.0, 90000.0)
    """

    zone: str = ZONE
    cycle: str | None = None

    def __post_init__(self) -> None:
        _ = self.offsets
        if self.cycle is not None and self.cycle not in CYCLES:
            raise DomainError(f"cycle {self.cycle!r}: choose one of {', '.join(CYCLES)}")

    @property
    def offsets(self) -> Offsets:
        """Offsets of the zone's clocks from UTC."""
        return offsets(self.zone)

    @property
    def length(self) -> float:
        """Seconds of the cycle; endless without one."""
        return math.inf if self.cycle is None else CYCLES[self.cycle]

    def checked_span(
        self, ends: tuple[float, float], step: float, span: tuple[float, float] | None
    ) -> tuple[float, float] | None:
        """Check the ends of a time axis and return its span: in a cycle, the period of its records.

        Raises DomainError: a period that is not a whole number of steps, so that their lengths
        differ; a cycle that is not whole; or years for which the zone is unknown.
        """
        period = ends
        if self.cycle is not None:
            if ends != (0.0, self.length):
                raise DomainError(f"a cycle always covers a whole {self.cycle}: leave bounds out")
            period = span = OF_ZONES if span is None else span
        low, high = OF_ZONES
        known = low <= period[0] < period[1] <= high
        if not known and (self.zone != ZONE or self.cycle is not None):
            raise DomainError(
                f"time zone {self.zone}: clocks are known for periods from {moment_text(low)} "
                f"to {moment_text(high)}: give one between them"
            )
        steps = (ends[1] - ends[0]) / step if step else 0.0
        if not steps.is_integer():
            later = self.text(ends[0] + math.ceil(steps) * step) if self.cycle is None else ""
            raise DomainError(
                f"the period from {' to '.join(map(self.text, ends))} is not a whole number of "
                f"steps of {step:g} s: give another step"
                + (f", or end it at {later}" if later else "")
            )
        return span

    def moment(self, value: Any) -> float:
        """A place on the axis; in a cycle ``Tue 08:30``, ``08:30`` or seconds."""
        if self.cycle is None:
            return moment(value, self.zone)
        return of_cycle(value, self.cycle)

    def period(self, value: Any) -> tuple[float, float]:
        """Start and end (exclusive) of a pair on the axis, or of a text with a comma in it.

        >>> Calendar().period("2024-01-01,2024-01-02")
        (1704067200.0, 1704153600.0)
        """
        ends = value.split(",") if isinstance(value, str) else value
        ends = list(ends) if isinstance(ends, Iterable) else [ends]
        if len(ends) != 2:
            example = "2024-01-01,2025-01-01" if self.cycle is None else self.example
            raise DomainError(f"period {value!r}: give two moments, such as {example}")
        start, end = map(self.moment, ends)
        if not start < end:
            raise DomainError(
                f"period from {self.text(start)} to {self.text(end)}: the end must be after the "
                "start"
                + ("" if self.cycle is None else "; split a period that wraps around into two")
            )
        return start, end

    @property
    def example(self) -> str:
        """A part of the cycle."""
        return "Mon 08:00,Fri 18:00" if self.cycle == "week" else "08:00,18:00"

    def text(self, seconds: float) -> str:
        """Text of a position on the axis, in the notation that :meth:`moment` reads.

        >>> Calendar(cycle="week").text(604800), Calendar("Asia/Tokyo").text(0)
        ('Sun 24:00', '1970-01-01T09:00:00+09:00')
        """
        if self.cycle is None:
            return moment_text(seconds, self.zone)
        end = seconds >= self.length
        day, within = divmod(seconds - 1 if end else seconds, SECONDS["d"])
        minutes, rest = divmod(round(within + end), 60)
        clock = f"{int(minutes // 60):02}:{int(minutes % 60):02}"
        clock += f":{rest:02.0f}" if rest else ""
        return f"{DAYS[int(day)]} {clock}" if self.cycle == "week" else clock

    def edges(self, start: float, end: float, every: str) -> Float:
        """Edges of the steps of a part of the axis, float64 (k + 1,).

        The outer ones are cut. Steps of a day and longer follow the clocks of the zone, so that a
        day there may have 23 or 25 hours; shorter ones are of one length.

        Raises DomainError: an invalid step, or one that is too short, or longer than the cycle.

        >>> Calendar().edges(*Calendar().period("2024-01-31,2024-03-02"), "1mo").size
        4
        """
        if self.cycle is not None:
            if fixed_step(every) > self.length:
                raise DomainError(
                    f"step {every!r} is longer than a {self.cycle}: give a shorter one"
                )
            every = every.replace("1w", "7d")
        count, unit = _step(every)
        steps = (end - start) / _seconds(every)
        if steps > MAX_STEPS:
            raise DomainError(
                f"step {every!r}: {steps:,.0f} steps in the period: give a longer one, so that "
                f"there are at most {MAX_STEPS:,}"
            )
        by_clocks = self.cycle is None and self.zone != ZONE and unit in ("d", "w", *MONTHS)
        first_moment, last_moment = start, end
        if by_clocks:
            start, end = self.offsets.to_clocks([start, end]).tolist()
        if unit in MONTHS:
            first = np.datetime64(int(start), "s").astype("datetime64[M]").astype(int)
            last = np.datetime64(math.ceil(end), "s").astype("datetime64[M]").astype(int)
            width = count * MONTHS[unit]
            months = np.arange(first // width * width, last + width + 1, width)
            borders = months.astype("datetime64[M]").astype("datetime64[s]").astype(np.float64)
        else:
            width, origin = count * SECONDS[unit], MONDAY if unit == "w" else 0
            low, high = math.floor((start - origin) / width), math.ceil((end - origin) / width)
            borders = np.arange(low, high + 1, dtype=np.float64) * width + origin
        borders = self.offsets.to_moments(borders) if by_clocks else borders
        within = borders[(borders > first_moment) & (borders < last_moment)]
        return np.concatenate([[first_moment], within, [last_moment]])

    def default_step(self, start: float, end: float, least: float = 0.0, most: int = 400) -> str:
        """Shortest common step that divides a part of the axis into at most ``most`` steps.

        >>> Calendar().default_step(*Calendar().period("2024-01-01,2025-01-01"))
        '1d'
        """
        fitting = (
            name
            for name, length in ((name, _seconds(name)) for name in _DEFAULT_STEPS)
            if length >= least and (end - start) / length <= most
        )
        step = next(fitting, _DEFAULT_STEPS[-1])
        return "1d" if self.cycle is not None and step in ("1w", "1mo", "1y") else step

    def stamps(self, seconds: Any) -> NDArray[Any]:
        """Places on the axis to the second: times in UTC, or what has passed of the cycle."""
        whole = np.rint(np.asarray(seconds, dtype=np.float64))
        return whole.astype("datetime64[s]" if self.cycle is None else "timedelta64[s]")

    def clocks(self, seconds: float) -> datetime:
        """Clock time at a place on the axis; a cycle begins on 2001-01-01, a Monday."""
        if self.cycle is None:
            seconds = float(self.offsets.to_clocks(seconds))
            return datetime(1970, 1, 1) + timedelta(seconds=seconds)
        return _ANCHOR + timedelta(seconds=seconds)

    def from_clocks(self, shown: datetime) -> float:
        """The inverse of :meth:`clocks`."""
        if self.cycle is None:
            since = (shown - datetime(1970, 1, 1)).total_seconds()
            return float(self.offsets.to_moments(since))
        return (shown - _ANCHOR).total_seconds()

    def on_axis(self, moments: Float) -> Float:
        """Places on the axis (n,) of moments in seconds since 1970 UTC: whole seconds of a cycle.

        NaN stays NaN. Each by itself, in arithmetic that the SQL template repeats.
        """
        if self.cycle is None:
            return moments
        passed = np.floor(self.offsets.to_clocks(moments)) - MONDAY
        return np.asarray(passed - np.floor(passed / self.length) * self.length)


def time_arguments(time: dict[str, Any]) -> dict[str, Any]:
    """Zone, cycle and span from a header's entry for the time axis."""
    span = time.get("span")
    ends = None if span is None else (float(span[0]), float(span[1]))
    return {"zone": time.get("zone", ZONE), "cycle": time.get("cycle"), "span": ends}


def moment(value: Any, zone: str = ZONE) -> float:
    """Seconds since 1970 UTC of an ISO 8601 date or time, a Python date or a number of seconds.

    ``zone``: time zone of a time that states none.

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
            since = (zoned - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
            seconds = since if value.tzinfo else float(offsets(zone).to_moments(since))
        else:
            seconds = float(value)
    except (TypeError, ValueError):
        raise _no_time(value) from None
    if not FIRST <= seconds < LAST:
        raise _no_time(value)
    return seconds


def fixed_step(value: Any) -> float:
    """Seconds of a step of fixed length, such as ``15min``, ``1h``, ``1d`` or ``1w``.

    >>> fixed_step("15min")
    900.0
    """
    count, unit = _step(value)
    if unit not in SECONDS:
        raise DomainError(f"step {value!r} has no fixed length: give s, min, h, d or w")
    return float(count * SECONDS[unit])


def step_text(seconds: float) -> str:
    """A length of time in its largest whole unit, as :func:`fixed_step` reads it.

    >>> step_text(1_209_600.0), step_text(5_400.0)
    ('2w', '90min')
    """
    unit = next((each for each in reversed(SECONDS) if seconds % SECONDS[each] == 0.0), "s")
    text = f"{seconds / SECONDS[unit]:.15g}{unit}"
    _ = _step(text)
    return text


def step_words(step: str) -> str:
    """A step as people read it.

    >>> step_words("6h"), step_words("1mo"), step_words("15min")
    ('6 hours', '1 month', '15 minutes')
    """
    count, unit = _step(step)
    return f"{count} {_UNIT_NAMES[unit]}{'' if count == 1 else 's'}"


def duration_text(seconds: float) -> str:
    """A length of time in its largest whole unit.

    >>> [duration_text(seconds) for seconds in (3600.0, 5400.0, 86_400.0, 0.5)]
    ['1 hour', '90 minutes', '1 day', '0.5 seconds']
    """
    try:
        return step_words(step_text(seconds))
    except DomainError:
        return f"{seconds:g} seconds"


def rounded_duration(seconds: float) -> str:
    """A duration rounded to two digits, in a unit that it exceeds more than twice.

    >>> rounded_duration(5_000.0), rounded_duration(180_000.0), rounded_duration(3_000_000.0)
    ('83 minutes', '2.1 days', '5 weeks')
    """
    units = sorted(SECONDS.items(), key=lambda each: -each[1])
    unit, length = next((each for each in units if seconds > 2 * each[1]), units[-1])
    return f"{float(f'{seconds / length:.2g}'):g} {_UNIT_NAMES[unit]}s"


def moment_text(seconds: float, zone: str = ZONE) -> str:
    """A moment in ISO 8601 in a zone: a date where it is midnight there.

    >>> moment_text(1704067200.0), moment_text(1704070800.0)
    ('2024-01-01', '2024-01-01T01:00:00')
    """
    shown = seconds if zone == ZONE else float(offsets(zone).to_clocks(seconds))
    text = str(np.datetime64(round(shown * 1e6), "us"))
    text = text.removesuffix(".000000")
    if text.endswith("T00:00:00") and moment(text, zone) == seconds:
        return text.removesuffix("T00:00:00")
    return text if zone == ZONE else text + _ahead(shown - seconds)


def _ahead(offset: float) -> str:
    """An offset in ISO 8601."""
    hours, rest = divmod(round(abs(offset)), 3_600)
    seconds = f":{rest % 60:02}" if rest % 60 else ""
    return f"{'-' if offset < 0 else '+'}{hours:02}:{rest // 60:02}{seconds}"


def _step(value: Any) -> tuple[int, str]:
    match = _STEP.fullmatch(str(value))
    if match is None or int(match[1]) == 0:
        raise DomainError(f"step {value!r}: give a number and a unit, such as 15min, 1h, 1d or 1mo")
    return int(match[1]), match[2]


def _seconds(name: str) -> float:
    count, unit = _step(name)
    return count * (SECONDS[unit] if unit in SECONDS else MONTHS[unit] * 31 * SECONDS["d"])


def _no_time(value: Any) -> DomainError:
    return DomainError(f"{value!r} is not a time: use ISO 8601, such as 2024-01-01T08:30")
