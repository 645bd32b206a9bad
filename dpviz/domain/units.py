"""Days, weeks and months on the clocks of a zone: the units of a calendar of charges.

A moment is in exactly one unit, that of the date which its whole second has on those clocks: a day
has 23 or 25 hours where clocks change, and midnight belongs to the day that it begins. Knows no
record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain.zones import offsets
from dpviz.errors import DomainError
from dpviz.trees.lattice import Int

EACH = ("day", "week", "month")
"""Units, the shortest first; weeks begin on Monday, as 1970-01-05 was."""

Span = tuple[int, int]
"""First unit, and the first one after the last."""


@dataclass(frozen=True)
class TimeUnits:
    """Units of one length on the clocks of a zone, numbered from 1970.

    >>> units = TimeUnits("day", "Europe/Berlin")
    >>> span = units.touched(1709332200.0, 1709335800.0)  # 23:30 to 00:30
    >>> [units.first_day_text(each) for each in span]
    ['2024-03-01', '2024-03-03']
    """

    each: str
    zone: str

    def __post_init__(self) -> None:
        if self.each not in EACH:
            raise DomainError(f"unit of time {self.each!r}: choose one of {', '.join(EACH)}")
        offsets(self.zone)

    @classmethod
    def of(cls, text: str) -> TimeUnits:
        """Parse the text that ``str`` writes."""
        each, _, zone = text.partition(" ")
        return cls(each, zone)

    def __str__(self) -> str:
        return f"{self.each} {self.zone}"

    def of_moments(self, moments: ArrayLike) -> Int:
        """The unit of each moment in seconds since 1970 UTC, int64 (n,); all must be finite."""
        # Whole seconds add up exactly: no moment before a border is rounded to the next day.
        clocks = offsets(self.zone).to_clocks(np.floor(np.asarray(moments, dtype=np.float64)))
        return self.of_days(clocks.astype(np.int64) // 86_400)

    def of_days(self, days: Any) -> Int:
        """The unit that each day is in, by its number since 1970."""
        number = np.asarray(days, dtype=np.int64)
        if self.each == "day":
            return number
        if self.each == "week":
            return (number - 4) // 7
        return number.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)

    def first_day(self, unit: int) -> int:
        """Number of the first day of a unit."""
        if self.each == "month":
            return int(np.datetime64(unit, "M").astype("datetime64[D]").astype(np.int64))
        return unit if self.each == "day" else 7 * unit + 4

    def touched(self, start: float, end: float) -> Span:
        """All units that a half-open period in seconds since 1970 UTC touches: rounded outward.

        Clocks that are put back just after midnight show the day before again, so each change in
        the period counts.
        """
        inside = [each for each in offsets(self.zone).since if start < each < end]
        moments = [start, *inside, *(each - 1 for each in inside), np.nextafter(end, start)]
        units = self.of_moments(np.maximum(moments, start))
        return int(units.min()), int(units.max()) + 1

    def first_day_text(self, unit: int | None) -> str:
        """First day of a unit in ISO 8601; empty for None."""
        return "" if unit is None else str(np.datetime64(self.first_day(unit), "D"))


@dataclass(frozen=True)
class ChargedPeriod:
    """Period of the records that a release reads, in the units of its calendar.

    Attributes:
        units: unit of time and zone.
        column: column of the time that decides the unit of a record.
        start, end: the half-open public period, in seconds since 1970 UTC.
    """

    units: TimeUnits
    column: str
    start: float
    end: float

    @property
    def span(self) -> Span:
        """The units that are charged."""
        return self.units.touched(self.start, self.end)

    @property
    def days(self) -> list[str]:
        """First day of the first unit, and of the first one after the last."""
        return [*map(self.units.first_day_text, self.span)]


def unit_of_time(unit: str, each: str) -> str:
    """The privacy unit of a person's records in one unit of time, in words.

    >>> unit_of_time("one person", "day")
    "one person's records of one day"
    """
    return f"{unit}'s records of one {each}"
