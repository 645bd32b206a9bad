"""The public frame of a data set: bounds, columns, CRS and an integer lattice over them.

A domain is public: it is chosen before anyone looks at the records. After loading, every position
is an integer on its lattice, so that splits, containment, areas and duplicates are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.checks import require, texts
from dpviz.domain import calendar
from dpviz.domain.attributes import Kinds, Values
from dpviz.domain.calendar import Calendar, time_arguments
from dpviz.domain.rectangles import OVERLAP, checked_limits, checked_rectangles, numbers_of, rows_of
from dpviz.domain.zones import ZONE, zone_name
from dpviz.errors import DomainError
from dpviz.trees.lattice import Float, Int

LATTICE_BITS = {1: 30, 2: 26, 3: 20, 4: 15}
"""Lattice bits per axis by number of dimensions: 2-D is under a metre on Earth; a cell's code fits
64 bits and its volume an int64 (2·26 = 52, 4·15 = 60)."""


@dataclass(frozen=True)
class Domain:
    """A public box in 1 to 4 dimensions, with a CRS and a lattice of 2^bits steps per axis.

    Args:
        lower: lower limits, one per dimension, in the units of ``crs``.
        upper: upper limits, each above its lower limit.
        columns: names of the coordinate columns, in order.
        crs: the coordinate reference system, as any text that pyproj understands.
        step: makes the last of three axes time, in seconds since 1970 UTC: seconds of one step, to
            whose middle times are moved, or 0 to keep times. None: no axis is time.
        kinds: public list of kinds, and their column.
        values: public clip of a record's value, and its column.
        zone: IANA time zone of times that state none.
        cycle: ``day`` or ``week``: the last axis is the time since its start on the zone's clocks.
        span: with a cycle, the public period of the records, in seconds since 1970 UTC.

    Raises:
        DomainError: reversed, empty, non-finite or mismatched limits.

    >>> nyc = Domain((-74.30, 40.45), (-73.60, 41.00))
    >>> nyc.dims, nyc.bits
    (2, 26)
    >>> Domain((0, 0), (1, -1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dpviz.errors.DomainError: bounds of 'lat' run from 0 to -1: the upper ... above the lower
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    columns: tuple[str, ...] = ()
    crs: str = "EPSG:4326"
    step: float | None = None
    kinds: Kinds | None = None
    values: Values | None = None
    zone: str = ZONE
    cycle: str | None = None
    span: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("crs", "zone", "cycle"):
            require(getattr(self, name), str | None, name, DomainError)
        require(self.kinds, Kinds | None, "kinds", DomainError)
        require(self.values, Values | None, "values", DomainError)
        lower, upper = (
            tuple(numbers_of(each, "bounds", "give numbers, one per dimension").ravel().tolist())
            for each in (self.lower, self.upper)
        )
        columns = texts(self.columns, "columns", DomainError) or default_columns(len(lower))
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "columns", columns)
        if len(lower) not in LATTICE_BITS or len(lower) != len(upper):
            raise DomainError(
                f"bounds have {len(lower)} lower and {len(upper)} upper limits: "
                f"give as many of each, for {min(LATTICE_BITS)} to {max(LATTICE_BITS)} dimensions"
            )
        if len(columns) != len(lower):
            raise DomainError(
                f"{len(columns)} columns for {len(lower)} dimensions: give one column for each"
            )
        places = columns if self.step is None else columns[:-1]
        if len(set(places)) < len(places):
            raise DomainError(
                f"columns {', '.join(map(repr, places))}: give another column for each axis"
            )
        checked_limits(columns, lower, upper, self.side)
        if self.step is None and (self.cycle is not None or self.span is not None):
            raise DomainError(
                "cycle and span need a time axis: give step too, or use Domain.from_bounds"
            )
        if self.step is not None:
            if len(lower) != 3:
                raise DomainError(
                    f"a time axis with {len(lower) - 1} coordinates: give two coordinates"
                )
            span = self.calendar.checked_span((lower[-1], upper[-1]), self.step, self.span)
            object.__setattr__(self, "span", span)
        _ = self.calendar

    @cached_property
    def calendar(self) -> Calendar:
        """Notation of the time axis."""
        return Calendar(self.zone, self.cycle)

    @classmethod
    def from_bounds(
        cls,
        bounds: ArrayLike,
        columns: tuple[str, ...] = (),
        crs: str = "EPSG:4326",
        *,
        period: Any = None,
        time: str | None = None,
        every: str | None = None,
        zone: str | tzinfo | None = None,
        cycle: str | None = None,
        kind: str | None = None,
        kinds: Iterable[str] | None = None,
        value: str | None = None,
        clip: ArrayLike | None = None,
        grid: float | None = None,
    ) -> Domain:
        """A domain from all lower limits, then all upper limits (2-D: west, south, east, north).

        Args:
            bounds: limits of the coordinates.
            columns: names of the coordinate columns, in order.
            crs: coordinate reference system of the bounds.
            period: makes time the third axis: public start and end (exclusive), in ISO 8601 (in the
                zone, if no other is stated), Python dates or seconds since 1970.
            time: with ``period``, the name of the time column; ``time`` by default.
            every: with ``period``, a step such as ``1h``: times are moved to the middle of a step.
            zone: with ``period``, IANA name or ``ZoneInfo`` of times that state none; default UTC.
            cycle: ``day`` or ``week``: makes the time since its start the third axis, for records
                in the period, or in the years 1900 to 2099.
            kind: name of the column of a record's kind, with ``kinds``.
            kinds: public list of kinds; records of other kinds are dropped, or counted as ``other``
                if that is listed.
            value: name of the column of values to sum, with ``clip``.
            clip: public limits of the values, to which they are clipped.
            grid: public step that values are rounded to; by default a power of ten.

        >>> Domain.from_bounds([-74.30, 40.45, -73.60, 41.00]).upper
        (-73.6, 41.0)
        """
        columns = texts(columns, "columns", DomainError)
        for name, word in (("time", time), ("every", every), ("cycle", cycle)):
            require(word, str | None, name, DomainError)
        remedy = "give all lower limits, then all upper limits (2-D: west,south,east,north)"
        flat = numbers_of(bounds, "bounds", remedy).ravel()
        if flat.size % 2 or flat.size // 2 not in LATTICE_BITS:
            raise DomainError(f"bounds hold {flat.size} numbers: {remedy}")
        half = flat.size // 2
        if (period is not None or cycle is not None) and half != 2:
            raise DomainError(f"a time axis with {half} coordinates: give two coordinates")
        listed = Kinds.of(kind, kinds)
        values, limits = Values.of(value, clip, grid), tuple(flat.tolist())
        place = cls(limits[:half], limits[half:], columns, crs, kinds=listed, values=values)
        if period is None and cycle is None:
            for name, option in (("time", time), ("every", every), ("zone", zone)):
                if option is not None:
                    remedy = f"give one, or leave {name} out"
                    raise DomainError(f"{name}={option!r} without a period or a cycle: {remedy}")
            return place
        axis = Calendar(zone_name(zone), cycle)
        span = None if period is None else Calendar(axis.zone).period(period)
        start, end = span if span is not None and cycle is None else (0.0, axis.length)
        return cls(
            (*place.lower, start),
            (*place.upper, end),
            (*place.columns, "time" if time is None else time),
            crs,
            0.0 if every is None else calendar.fixed_step(every),
            listed,
            values,
            axis.zone,
            cycle,
            None if cycle is None else span,
        )

    @cached_property
    def without_time(self) -> Domain:
        """The domain of the coordinates alone: without the axis of time, if there is one."""
        if self.step is None:
            return self
        low, high = self.lower[:-1], self.upper[:-1]
        return Domain(low, high, self.columns[:-1], self.crs, kinds=self.kinds, values=self.values)

    @cached_property
    def without_kinds(self) -> Domain:
        """The same domain for records of one kind."""
        return self if self.kinds is None else replace(self, kinds=None)

    @cached_property
    def counts_only(self) -> Domain:
        """The same domain for records without kinds and values."""
        bare = self.kinds is None and self.values is None
        return self if bare else replace(self, kinds=None, values=None)

    @property
    def time(self) -> str | None:
        """The column of the time; None where no axis is time."""
        return None if self.step is None else self.columns[-1]

    @property
    def period(self) -> tuple[float, float]:
        """Start and end (exclusive) of the axis of time, in seconds since 1970 UTC or in a cycle.

        Raises:
            DomainError: no axis is time.
        """
        if self.step is None:
            raise DomainError("this release has no time: leave the period out")
        return self.lower[-1], self.upper[-1]

    def on_axis(self, moments: Float) -> Float:
        """Places on the time axis (n,) of moments in seconds since 1970 UTC, each by itself.

        With a cycle, moments outside the period become −1, which is outside the axis.
        """
        if self.cycle is None or self.span is None:
            return moments
        outside = (moments < self.span[0]) | (moments >= self.span[1])
        return np.where(outside, -1.0, self.calendar.on_axis(moments))

    def query_boxes(self, rects: ArrayLike, period: Any = None) -> Float:
        """Rectangles (q, 4) or (4,) as boxes (q, 6) over a period, by default the whole one.

        Without a period, boxes of six numbers each are returned as they are.

        Raises:
            DomainError: no axis is time, or no such period.
        """
        every = self.period  # refuses a domain without time
        start, end = every if period is None else self.calendar.period(period)
        remedy = "give 4 numbers each, beside a period"
        flat = numbers_of(rects, "rectangles", remedy)
        whole = period is None and flat.shape[-1:] == (2 * self.dims,)
        flat = rows_of(flat, 2 * self.dims if whole else 4, remedy)
        if whole:
            return flat
        if end <= self.lower[-1] or start >= self.upper[-1]:
            asked, covered = (
                " to ".join(map(self.calendar.text, ends)) for ends in ((start, end), every)
            )
            raise DomainError(
                f"the period from {asked} lies outside that of the domain, {covered}: {OVERLAP}"
            )
        low, high = (np.full((len(flat), 1), each) for each in (start, end))
        return np.hstack([flat[:, :2], low, flat[:, 2:], high])

    @property
    def dims(self) -> int:
        """Number of dimensions."""
        return len(self.lower)

    @property
    def bits(self) -> int:
        """Lattice bits per axis; each axis has 2^bits steps."""
        return LATTICE_BITS[self.dims]

    @property
    def side(self) -> int:
        """Lattice steps per axis, 2^bits."""
        return 1 << self.bits

    @property
    def bounds(self) -> tuple[float, ...]:
        """All lower limits, then all upper limits."""
        return self.lower + self.upper

    def to_lattice(self, points: ArrayLike) -> tuple[Int, NDArray[np.bool_]]:
        """Lattice cells of the points that lie inside, and which points those are.

        The box is closed (points on an upper limit are in the last cell), a period half open. A
        cell is ⌊(x − lower) / (upper − lower) · 2^bits⌋, evaluated in this order everywhere, so
        that a database that does the same arithmetic gets the same cells.

        Args:
            points: shape (n, dims); NaN and infinite coordinates count as outside.

        Returns:
            Cells, int64 of shape (m, dims) for the m points inside; the mask, bool of shape (n,).
        """
        points = numbers_of(points, "points", f"give {self.dims} coordinates each")
        if points.ndim != 2 or points.shape[1] != self.dims:
            raise DomainError(
                f"points have shape {('n', *points.shape[1:])}: expected (n, {self.dims}), "
                f"the columns {', '.join(self.columns)}"
            )
        inside = self.contains(points)
        return self.cells(points if inside.all() else points[inside]), inside

    def cells(self, points: Float) -> Int:
        """Lattice cells of points (m, dims) that all lie inside, int64 of the same shape."""
        cells = np.empty(points.shape[::-1], dtype=np.int64).T  # each axis contiguous in memory
        for axis in range(self.dims):
            column, low, high = points[:, axis], self.lower[axis], self.upper[axis]
            if self.step and axis == self.dims - 1:
                column = (np.floor((column - low) / self.step) + 0.5) * self.step + low
            scaled = column - low
            scaled /= high - low
            scaled *= self.side
            cells[:, axis] = scaled
            np.minimum(cells[:, axis], self.side - 1, out=cells[:, axis])
        return cells

    def contains(self, points: Float) -> NDArray[np.bool_]:
        """True for points (n, dims) in the closed box and before the end of the period."""
        inside = np.ones(len(points), dtype=np.bool_)
        for axis in range(self.dims):
            column = points[:, axis]
            inside &= (column >= self.lower[axis]) & (column <= self.upper[axis])
        if self.step is not None:
            inside &= points[:, -1] < self.upper[-1]
        return inside

    def to_coordinates(self, lattice: ArrayLike) -> Float:
        """Coordinates of lattice lines (not cell centres): shape (..., dims) in CRS units."""
        lattice = numbers_of(lattice, "lattice lines", f"give {self.dims} each")
        low, high = np.array(self.lower), np.array(self.upper)
        fraction = lattice / self.side
        # Interpolated from both ends, so that the last line is exactly the upper limit.
        return np.asarray(low * (1 - fraction) + high * fraction, dtype=np.float64)

    def boxes(self, rects: ArrayLike) -> tuple[Int, Int]:
        """Query rectangles snapped to the nearest lattice lines and cut to the domain.

        Args:
            rects: shape (q, 2·dims) or (2·dims,): all lower limits, then all upper limits.

        Returns:
            ``lo`` ≤ ``hi``, int64 (q, dims) each; one thinner than half a step may be empty.

        Raises:
            DomainError: a rectangle that is not finite, inside out, or wholly outside the domain.
        """
        low, high = checked_rectangles(rects, self.lower, self.upper)
        span = np.subtract(self.upper, self.lower)
        scaled_low = np.clip((low - self.lower) / span, 0, 1) * self.side
        scaled_high = np.clip((high - self.lower) / span, 0, 1) * self.side
        return np.rint(scaled_low).astype(np.int64), np.rint(scaled_high).astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a release header."""
        time: dict[str, Any] = {}
        if self.step is not None:
            cycle = (
                {} if self.cycle is None else {"cycle": self.cycle, "span": list(self.span or ())}
            )
            time = {"time": {"step": self.step, "zone": self.zone, **cycle}}
        return {
            "lower": list(self.lower),
            "upper": list(self.upper),
            "columns": list(self.columns),
            "crs": self.crs,
            "bits": self.bits,
            **time,
            **({} if self.kinds is None else {"kinds": self.kinds.to_dict()}),
            **({} if self.values is None else {"values": self.values.to_dict()}),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Domain:
        """The inverse of :meth:`to_dict`."""
        time, kinds, clip = (values.get(name) for name in ("time", "kinds", "values"))
        domain = cls(
            tuple(values["lower"]),
            tuple(values["upper"]),
            tuple(values["columns"]),
            values["crs"],
            None if time is None else float(time["step"]),
            None if kinds is None else Kinds.of(kinds["column"], kinds["names"]),
            None if clip is None else Values(**clip),
            **({} if time is None else time_arguments(time)),
        )
        if domain.bits != values["bits"]:
            raise DomainError(
                f"lattice of {values['bits']} bits, this version reads {domain.bits}: update dpviz"
            )
        return domain


def default_columns(dims: int) -> tuple[str, ...]:
    """Default column names: a place, or a pickup and a drop-off."""
    names = {1: ("x",), 2: ("lon", "lat"), 4: ("plon", "plat", "dlon", "dlat")}
    return names.get(dims, tuple(f"x{axis}" for axis in range(dims)))
