"""The query that counts records by cell: one template, written to each SQL dialect by sqlglot.

It knows public facts only: the box, the grid, names of columns. Its rows are (cell, count), where
the cell of (x, y, …) is the number ix · 2^bits + iy with ix = ⌊(x − low) / (high − low) · 2^bits⌋,
evaluated in this order as in :meth:`Domain.to_lattice`, so that every engine gets the same cells.

With kinds, the number of a cell has the place of the kind in their public list before it, as
kind · 2^(bits · dims) + cell, so that what is one cell here is one cell of one kind.

A record's fate depends on that record alone: what is no number is outside of the box, by a cast
that gives nothing where it fails, and no record makes an engine refuse. PostgreSQL has no such
cast: there a column of coordinates must be declared as numbers. A unit is its id as the engine
writes it as text; a record whose id is missing or empty is dropped like one outside.

With a privacy unit, the query keeps at most K records of each. A record's place in the order of its
unit is a salted hash of (unit, cell, how many-th of the unit's records in the cell): a function of
the unit's own records alone, also where two have one hash: then their cells decide. So one unit
adds at most K records WHATEVER THE SALT, however often an engine evaluates the query; and over a
random salt the K are chosen uniformly, as records of one unit in one cell are alike.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from dpviz.domain import Domain
from dpviz.domain.attributes import OTHER, Values
from dpviz.domain.calendar import MONDAY
from dpviz.domain.crs import known_crs
from dpviz.domain.zones import ZONE, Offsets
from dpviz.errors import DataError, ParameterError
from dpviz.lazy import exp
from dpviz.private.load.cell_templates import (
    COUNT,
    COUNT_BOUNDED,
    RECORDS,
    WITH_VALUES,
    filled,
    less_offsets,
)
from dpviz.private.load.dialects import (
    LARGEST,
    as_column,
    as_double,
    as_number,
    as_seconds,
    as_text,
    as_unit,
    point_axes,
)
from dpviz.private.load.selection import checked_bits, checked_bound

MOST_BITS = 62
"""Of the number of a cell with its kind."""

MOST_CHANGES = 40
"""Of a zone's clocks in a period: each is a line of the query, several times."""


Clock = Literal["number", "milliseconds", "time", "instant"]


@dataclass(frozen=True)
class CellQuery:
    """The query that counts records by cell, built from public facts only.

    Attributes:
        domain: the public box, in the CRS of the columns.
        columns: the coordinates in the domain's order; or, in 2-D, one column of points, which the
            engine takes apart. The column of the time is the domain's.
        bits: grid bits per axis.
        unit: column of the privacy unit; None if a record is the unit.
        max_per_unit: with ``unit``, max contributions per unit.
        clock: what the column of the time is declared to hold: seconds or milliseconds since 1970,
            times (UTC where no zone is known), or times with their zone.

    Raises:
        DataError: the number of columns does not match the domain, an invalid bound, or a bound
            without a unit.
        ParameterError: bits out of range.
    """

    domain: Domain
    columns: tuple[str, ...]
    bits: int
    unit: str | None = None
    max_per_unit: int = 1
    clock: Clock = "number"

    def __post_init__(self) -> None:
        dims = self.domain.place.dims
        if len(self.columns) != dims and not self.of_geometry:
            raise DataError(f"{len(self.columns)} columns for {dims} dimensions: name one for each")
        checked_bits(self.bits, self.domain)
        kinds = () if self.domain.kinds is None else self.domain.kinds.names
        if self.domain.dims * self.bits + len(kinds).bit_length() > MOST_BITS:
            raise ParameterError(f"bits={self.bits}: too many beside kinds, give fewer grid bits")
        changes = len(self._offsets.since)
        if changes > MOST_CHANGES:
            raise ParameterError(
                f"time zone {self.domain.zone}: its clocks change {changes} times in the period: "
                f"give one of at most {MOST_CHANGES} changes (20 years), or a file in its place"
            )
        checked_bound(self.unit, self.max_per_unit)

    @property
    def of_geometry(self) -> bool:
        """True if a single column of points holds the coordinates of a 2-D domain."""
        return self.domain.place.dims == 2 and len(self.columns) == 1

    @property
    def _offsets(self) -> Offsets:
        """UTC offsets of the time zone within the span or period of the domain."""
        domain = self.domain
        if domain.time is None:
            return Offsets((), (0.0,))
        return domain.calendar.offsets.within(*(domain.span or domain.period))

    @property
    def _srid(self) -> int | None:
        """The number of the domain's CRS in PostGIS, if it has one."""
        return known_crs(self.domain.crs).to_epsg() if self.domain.crs else None

    @property
    def count_column(self) -> str:
        """Name of the counts in the result: it carries a check of the public facts."""
        domain = self.domain
        facts = [domain.lower, domain.upper, domain.crs, self.bits]
        if domain.time is not None:
            facts += [domain.time, domain.step]
        if domain.zone != ZONE or domain.cycle is not None:
            facts += [domain.zone, domain.cycle, domain.span]
        if domain.kinds is not None:
            facts += [domain.kinds.column, domain.kinds.names]
        if domain.values is not None:
            facts += list(domain.values.to_dict().values())
        if self.unit is not None:
            facts += [self.unit, self.max_per_unit]
        return "n_" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]

    def sql(self, relation: Any, dialect: str, salt: str = "", *, sums: bool = False) -> str:
        """The query in a dialect, as rows ``cell`` and :attr:`count_column`, in no order.

        Args:
            relation: a sqlglot expression to select from, such as :func:`table`.
            dialect: one of :data:`DIALECTS`.
            salt: a fresh random text, with ``unit``.
            sums: of the values, in steps, in place of the records: with the same salt, of those
                that the other query counts.
        """
        template = COUNT if self.unit is None else COUNT_BOUNDED
        beside = dict.fromkeys(WITH_VALUES, "") if self.domain.values is None else WITH_VALUES
        total = "CAST(SUM(amount) AS BIGINT)" if sums else "COUNT(*)"
        template = template.format(total=total, number=self.count_column, **beside)
        places = self._coordinates(dialect)
        cell = self._with_kind(self._cell(places, dialect), dialect)
        values = {"cell": cell, "inside": exp.and_(*self._inside(places, dialect))}
        if self.domain.values is not None:
            values["amount"] = self._steps(self.domain.values, dialect)
        if self.unit is not None:
            values["unit"] = as_unit(as_column(self.unit), dialect)
            values["salt"] = exp.Literal.string(salt)
            values["most"] = exp.Literal.number(self.max_per_unit)
        return str(filled(template, relation, values).sql(dialect=dialect, pretty=True))

    def records_sql(self, relation: Any, dialect: str) -> str:
        """The query in a dialect that counts the records outside (0) and inside (1), before any
        bound: EXACT, for owners.

        Args:
            relation: as for :meth:`sql`.
            dialect: as for :meth:`sql`.
        """
        inside = exp.and_(*self._inside(self._coordinates(dialect), dialect))
        tree = filled(RECORDS, relation, {"inside": inside})
        return str(tree.sql(dialect=dialect, pretty=True))

    def _coordinates(self, dialect: str) -> list[Any]:
        """Each coordinate as a double."""
        values = [as_column(name) for name in self.columns]
        if self.of_geometry and dialect == "duckdb":
            values = [as_number(each, dialect) for each in point_axes(values[0])]
        elif self.of_geometry:
            place = exp.cast(values[0], "geometry") if dialect == "postgres" else values[0]
            point, one = place, exp.Literal.number(1)
            if dialect == "postgres":  # a multipoint of one is that point
                point = exp.func("ST_GeometryN", place.copy(), one)
            values = [exp.func(name, point.copy()) for name in ("ST_X", "ST_Y")]
            if dialect == "postgres":  # ST_X of anything but a point is an error
                kinds = map(exp.Literal.string, ("ST_Point", "ST_MultiPoint"))
                is_point = exp.and_(
                    exp.In(this=exp.func("ST_GeometryType", place.copy()), expressions=[*kinds]),
                    exp.EQ(this=exp.func("ST_NumGeometries", place.copy()), expression=one.copy()),
                )
                here = exp.In(
                    this=exp.func("ST_SRID", place.copy()),
                    expressions=[exp.Literal.number(each) for each in (0, self._srid or 0)],
                )  # a column that declares no CRS may hold places of many
                is_point = exp.and_(is_point, here) if self._srid else is_point
                values = [exp.case().when(is_point.copy(), value) for value in values]
            values = [exp.cast(value, "double") for value in values]
        else:
            values = [as_number(value, dialect) for value in values]
        if self.domain.time is not None:
            values.append(self._time(as_column(self.domain.time), dialect))
        return values

    def _time(self, column: Any, dialect: str) -> Any:
        """The place of a record's time on its axis, as :meth:`Domain.on_axis` has it."""
        domain, seconds = self.domain, as_seconds(column, dialect, self.clock)
        start, end = domain.span or domain.period
        moved = self._offsets
        if self.clock == "time":  # clocks of the zone
            seconds = less_offsets(seconds, moved.borders, moved.ahead)
        if domain.cycle is None:
            return seconds
        clocks = less_offsets(seconds, moved.since, [-each for each in moved.ahead])
        passed = exp.paren(exp.Sub(this=exp.Floor(this=clocks), expression=as_double(MONDAY)))
        length = as_double(domain.calendar.length)
        share = exp.Div(this=passed.copy(), expression=length.copy(), typed=False, safe=False)
        begun = exp.Mul(this=exp.Floor(this=share), expression=length)
        within = exp.and_(
            exp.GTE(this=seconds.copy(), expression=as_double(start)),
            exp.LT(this=seconds.copy(), expression=as_double(end)),
        )
        some = exp.Is(this=seconds.copy(), expression=exp.Null())
        place = exp.paren(exp.Sub(this=passed, expression=begun))
        other = exp.case().when(exp.not_(some), as_double(-1.0))
        return exp.case().when(within, place).else_(other)

    def _kind(self, dialect: str) -> Any:
        """The place of a record's kind in the public list; NULL for none of them."""
        kinds = self.domain.kinds
        assert kinds is not None
        written = as_text(as_column(kinds.column), dialect)
        place = exp.case()
        for number, name in enumerate(kinds.names):
            same = exp.EQ(this=written.copy(), expression=exp.Literal.string(name))
            place = place.when(same, exp.Literal.number(number))
        if OTHER in kinds.names:
            some = exp.NEQ(this=written.copy(), expression=exp.Literal.string(""))
            place = place.when(some, exp.Literal.number(kinds.number(OTHER)))
        return exp.cast(place, "bigint")

    def _steps(self, values: Values, dialect: str) -> Any:
        """A record's value in steps, as in :meth:`Values.steps`."""
        value = as_number(as_column(values.column), dialect)
        ignore = dialect == "duckdb"  # its own LEAST, as for cells; nothing here is missing
        for cut, end in ((exp.Greatest, values.low), (exp.Least, values.high)):
            value = cut(this=value, expressions=[as_double(end)], ignore_nulls=ignore)
        grid, half = as_double(values.grid), as_double(0.5)
        share = exp.Div(this=value, expression=grid, typed=False, safe=False)
        return exp.cast(exp.Floor(this=exp.Add(this=share, expression=half)), "bigint")

    def _with_kind(self, cell: Any, dialect: str) -> Any:
        """The number of a cell of one kind."""
        if self.domain.kinds is None:
            return cell
        step = exp.cast(exp.Literal.number(1 << self.domain.dims * self.bits), "bigint")
        kind = exp.Mul(this=self._kind(dialect), expression=step)
        return exp.Add(this=kind, expression=exp.paren(cell))

    def _inside(self, places: list[Any], dialect: str) -> list[Any]:
        """Conditions on a record: inside the box (half open in time), with all that it needs.

        NaN and NULL are outside.
        """
        domain = self.domain
        conditions = [
            condition
            for x, low, high in zip(places, domain.lower, domain.upper, strict=True)
            for condition in _between(x, low, high)
        ]
        if domain.time is not None:
            end = as_double(domain.upper[-1])
            conditions[-1] = exp.LT(this=places[-1].copy(), expression=end)
        if domain.kinds is not None:
            number = exp.Literal.number(0)
            conditions.append(exp.GTE(this=self._kind(dialect), expression=number))
        if domain.values is not None:
            value, most = as_number(as_column(domain.values.column), dialect), float(LARGEST)
            conditions += _between(value, -most, most)
        if self.unit is not None:
            written = as_text(as_column(self.unit), dialect)
            conditions.append(exp.NEQ(this=written, expression=exp.Literal.string("")))
        return conditions

    def _cell(self, places: list[Any], dialect: str) -> Any:
        """The number of the cell, from the most significant coordinate on."""
        side = 1 << self.bits
        cell: Any = None
        if self.domain.step:
            places = [*places[:-1], self._middle(places[-1], self.domain.step)]
        for x, low, high in zip(places, self.domain.lower, self.domain.upper, strict=True):
            offset = exp.paren(exp.Sub(this=x.copy(), expression=as_double(low)))
            tiny = (high - low) * 2.0**-60
            if dialect == "postgres" and tiny > 0:  # it refuses to divide 1e-320 by 2
                offset = exp.Greatest(
                    this=offset, expressions=[as_double(tiny)], ignore_nulls=False
                )
            share = exp.Div(this=offset, expression=as_double(high - low), typed=False, safe=False)
            scaled = exp.Mul(this=share, expression=as_double(float(side)))
            step = exp.cast(exp.Floor(this=scaled), "bigint")
            last = exp.Literal.number(side - 1)
            # Nothing is missing here; DuckDB's own LEAST is the one that ignores what is.
            step = exp.Least(this=step, expressions=[last], ignore_nulls=dialect == "duckdb")
            if cell is not None:
                width = exp.cast(exp.Literal.number(side), "bigint")
                step = exp.Add(this=exp.Mul(this=cell, expression=width), expression=step)
            cell = exp.paren(step) if cell is not None else step
        return cell

    def _middle(self, seconds: Any, step: float) -> Any:
        """The middle of the step that a time lies in, as in :meth:`Domain.to_lattice`."""
        low = as_double(self.domain.lower[-1])
        offset = exp.paren(exp.Sub(this=seconds.copy(), expression=low.copy()))
        share = exp.Div(this=offset, expression=as_double(step), typed=False, safe=False)
        middle = exp.paren(exp.Add(this=exp.Floor(this=share), expression=as_double(0.5)))
        scaled = exp.Mul(this=middle, expression=as_double(step))
        return exp.paren(exp.Add(this=scaled, expression=low))


def _between(x: Any, low: float, high: float) -> list[Any]:
    """Conditions that x is in a closed interval."""
    return [
        exp.GTE(this=x.copy(), expression=as_double(low)),
        exp.LTE(this=x.copy(), expression=as_double(high)),
    ]
