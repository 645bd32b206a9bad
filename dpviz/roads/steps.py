"""Time steps in which trips start: a public period in public steps. Sees no record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.domain.calendar import Calendar, step_words
from dpviz.domain.zones import OF_ZONES, ZONE, zone_name
from dpviz.errors import DomainError
from dpviz.trees.lattice import Float, Int

MAX_STEPS = 1_000
"""Most steps of one release."""

MAX_COUNTS = 2_000_000
"""Most counts (edges × steps) of one release, so that its file can be read again."""


@dataclass(frozen=True)
class Steps:
    """Consecutive half-open time steps: a time is in one of them, or in none.

    Attributes:
        column: column of the time at which a trip starts.
        period: start and end (exclusive) on the axis: seconds since 1970 UTC, or of a cycle.
        every: the length of a step, see :meth:`Calendar.edges`; the outer ones may be cut.
        zone: time zone of times that state none; steps of a day and longer begin on its clocks.
        cycle: the axis is the time since the last beginning of a ``day`` or ``week``.
        span: with a cycle, the period of the trips.
    """

    column: str
    period: tuple[float, float]
    every: str
    zone: str = ZONE
    cycle: str | None = None
    span: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        start, end = self.period
        if not start < end or (self.cycle and not 0 <= start < end <= self.calendar.length):
            raise DomainError(
                "period of trips: give an end after the start, both within the cycle if any"
            )
        whole = self.period if self.cycle is None else (0.0, self.calendar.length)
        object.__setattr__(self, "span", self.calendar.checked_span(whole, 0.0, self.span))
        if len(self) > MAX_STEPS:
            raise DomainError(
                f"step {self.every!r}: {len(self):,} steps in the period: give a longer one, so "
                f"that there are at most {MAX_STEPS:,}"
            )

    @classmethod
    def of(
        cls,
        time: str | None,
        period: Any = None,
        every: str | None = None,
        zone: str | tzinfo | None = None,
        cycle: str | None = None,
    ) -> Steps | None:
        """Build steps from the data owner's options; None if there are none.

        Args:
            period: start and end (exclusive), see :meth:`Calendar.period`.
            every: a step, such as ``1h``.
            zone: UTC by default.
            cycle: ``day`` or ``week``; then the period may be left out.

        >>> steps = Steps.of("start", "2024-03-04,2024-03-06", "1d")
        >>> steps.of_moments(np.array([1709510400.0, 1709596800.0, 1709683200.0])).tolist()
        [0, 1, -1]
        """
        given = {"period": period, "every": every, "zone": zone, "cycle": cycle}
        if time is None:
            for name, value in given.items():
                if value is not None:
                    raise DomainError(f"{name}={value!r} without a time: name its column too")
            return None
        if period is None and cycle is None:
            raise DomainError(f"time={time!r} without a period: give both, or neither")
        if every is None:
            raise DomainError(f"time={time!r} without a step: give every, such as 1h")
        axis = Calendar(zone_name(zone), cycle)
        span = None if period is None else Calendar(axis.zone).period(period)
        if span is not None and cycle is None:
            return cls(time, span, every, axis.zone)
        return cls(time, (0.0, axis.length), every, axis.zone, cycle, span)

    @cached_property
    def calendar(self) -> Calendar:
        """Calendar of the axis: its time zone and cycle."""
        return Calendar(self.zone, self.cycle)

    @cached_property
    def edges(self) -> Float:
        """Boundaries of the steps on the axis, float64 (k + 1,)."""
        edges = self.calendar.edges(*self.period, self.every)
        edges.flags.writeable = False
        return edges

    def __len__(self) -> int:
        return len(self.edges) - 1

    def of_moments(self, moments: Float) -> Int:
        """The step of each moment in seconds since 1970 UTC, int64 (n,); −1 for none.

        Each moment by itself; NaN is in no step.
        """
        moments = np.where(np.isfinite(moments), moments, np.nan)
        place = np.asarray(self.calendar.on_axis(moments), dtype=np.float64)
        within = (place >= self.period[0]) & (place < self.period[1])
        if self.cycle is not None and self.span is not None:
            within &= (moments >= self.span[0]) & (moments < self.span[1])
        step = np.searchsorted(self.edges, place, side="right") - 1
        return np.where(within, step, -1).astype(np.int64)

    def restricted_to(self, period: Any) -> Steps:
        """The steps of a part of the period; what lies outside the period is ignored."""
        start, end = self.calendar.period(period)
        if end <= self.period[0] or start >= self.period[1]:
            asked, covered = (
                " to ".join(map(self.calendar.text, ends)) for ends in ((start, end), self.period)
            )
            raise DomainError(
                f"the period from {asked} lies outside that of the trips, {covered}: "
                "give one that overlaps"
            )
        start, end = max(start, self.period[0]), min(end, self.period[1])
        for each in (start, end):
            at = int(np.searchsorted(self.edges, each))
            if self.edges[at] != each:
                low, high = map(self.calendar.text, self.edges[at - 1 : at + 1].tolist())
                raise DomainError(
                    f"{self.calendar.text(each)} is within a step of {step_words(self.every)}: "
                    f"counts of a part of a step are not released, give {low} or {high}"
                )
        return replace(self, period=(start, end))

    def rows(self, within: Steps) -> slice:
        """Rows of the steps that ``within``, a part of this axis, covers."""
        first = int(np.searchsorted(self.edges, within.period[0]))
        return slice(first, first + len(within))

    def step_limits(self, step: int) -> tuple[str, str]:
        """Start and end of a step, as an owner writes them."""
        start, end = map(self.calendar.text, self.edges[step : step + 2].tolist())
        return start, end

    def options(self) -> dict[str, str]:
        """Return the options that state these steps, as :meth:`of` takes them."""
        span = None if self.span == OF_ZONES else self.span
        ends = self.period if self.cycle is None else span
        axis = Calendar(self.zone)
        names = {"cycle": self.cycle, "zone": None if self.zone == ZONE else self.zone}
        period = None if ends is None else ",".join(map(axis.text, ends))
        given = {"time": self.column, "period": period, **names, "every": self.every}
        return {name: value for name, value in given.items() if value is not None}

    def require_room(self, edges: int) -> None:
        """Refuse a release of more counts than its file may hold."""
        if len(self) * edges > MAX_COUNTS:
            raise DomainError(
                f"{len(self):,} steps of {edges:,} edges: give a longer step, so that there are at "
                f"most {MAX_COUNTS // edges:,}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a release header."""
        cycle = {} if self.cycle is None else {"cycle": self.cycle, "span": list(self.span or ())}
        plain = {"column": self.column, "period": list(self.period), "every": self.every}
        return {**plain, "zone": self.zone, **cycle}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Steps:
        """The inverse of :meth:`to_dict`."""
        start, end = values["period"]
        span = values.get("span")
        return cls(
            values["column"],
            (float(start), float(end)),
            values["every"],
            values.get("zone", ZONE),
            values.get("cycle"),
            None if span is None else (float(span[0]), float(span[1])),
        )
