"""The query that counts records by cell, written in each SQL dialect by sqlglot.

It knows public facts only: the box, the grid, names of columns. Its rows are (cell, count), where
the cell of (x, y, …) is the number ix · 2^bits + iy with ix = ⌊(x − low) / (high − low) · 2^bits⌋,
evaluated in this order as in :meth:`Domain.to_lattice`, so that every engine gets the same cells.

With kinds, the number is kind · 2^(bits · dims) + cell, where a kind is its position in the public
list: each number is one cell of one kind.

The outcome of a record depends on that record alone: a value that is not a number is outside the
box, by a cast that gives NULL where it fails, and no record makes an engine refuse. PostgreSQL has
no such cast: there a column of coordinates must be declared as numbers. A unit is its id in the
engine's text form; a record whose id is missing or empty is dropped like one outside.

With a privacy unit, the query keeps at most K records of each. A unit's records are ordered by a
salted hash of (unit, cell, ordinal of the record among the unit's records in the cell), and by the
cell where two hashes are equal: a function of the unit's own records alone. So one unit adds at
most K records WHATEVER THE SALT, however often an engine evaluates the query; and over a random
salt the K are chosen uniformly, as records of one unit in one cell are alike.

With values, each cell also has the sum of its records' values, each clipped and rounded to a whole
number of steps by itself, as in :meth:`Values.steps`. Records of one unit in one cell are then
numbered in the order of their values.

Where a unit's records of each day, week or month are bounded separately, the id of the unit is
followed by the number of that time. Cycles of time are not written in SQL: such records are read
from a file.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.attributes import OTHER, Kinds, Values
from dpviz.domain.crs import known_crs
from dpviz.domain.units import ChargedPeriod
from dpviz.domain.zones import ZONE, offsets
from dpviz.errors import DataError, ParameterError
from dpviz.lazy import exp, sqlglot
from dpviz.private.load.dialects import (
    as_axes,
    as_column,
    as_number,
    as_seconds,
    as_text,
    as_unit,
    sql,
)
from dpviz.private.load.selection import checked_bits, checked_bound

MAX_BITS = 63
"""Most bits of a cell number, including its kind: a whole number of 64 bits with a sign."""

Clock = Literal["number", "milliseconds", "time", "instant"]

NEAR = 2 * 86_400.0
"""Changes of clocks further from the period, in seconds, than any clocks differ, do not matter."""

COUNT = """
SELECT cell, COUNT(*) AS {number}{total} FROM (
  SELECT :cell AS cell{steps} FROM source WHERE :inside
) AS records GROUP BY cell
"""

COUNT_BOUNDED = """
WITH dpviz_records AS (
  SELECT :unit AS unit_value, :cell AS cell{steps} FROM source WHERE :inside
),
dpviz_copies AS (
  SELECT *,
    ROW_NUMBER() OVER (PARTITION BY unit_value, cell ORDER BY {order}) AS copy_number
  FROM dpviz_records
),
dpviz_keys AS (
  SELECT *, SUBSTRING(MD5(CONCAT(
    :salt, unit_value, ' ', CAST(cell AS VARCHAR), ' ', CAST(copy_number AS VARCHAR)
    )), 1, 12) AS sort_key
  FROM dpviz_copies
),
dpviz_places AS (
  SELECT *,
    ROW_NUMBER() OVER (PARTITION BY unit_value ORDER BY sort_key, cell, copy_number) AS place
  FROM dpviz_keys
)
SELECT cell, COUNT(*) AS {number}{total} FROM dpviz_places WHERE place <= :most GROUP BY cell
"""

RECORDS = """
SELECT inside, COUNT(*) AS n FROM (
  SELECT CASE WHEN :inside THEN 1 ELSE 0 END AS inside FROM source
) AS records GROUP BY inside
"""


@dataclass(frozen=True)
class CellQuery:
    """The query that counts records by cell, built from public facts only.

    Attributes:
        domain: the public box, in the CRS of the columns.
        columns: the coordinates in the domain's order; or, in 2-D, one column of points, which the
            engine takes apart. The column of the time is the domain's.
        unit: column of the privacy unit; None if a record is the unit.
        clock: declared content of the time column: seconds or milliseconds since 1970, times
            without a zone, or times with their zone.
        charged: with ``unit``, the units of time in each of which its records are bounded.

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
    charged: ChargedPeriod | None = None

    def __post_init__(self) -> None:
        dims = self.domain.without_time.dims
        if len(self.columns) != dims and not self.of_geometry:
            raise DataError(f"{len(self.columns)} columns for {dims} dimensions: name one for each")
        checked_bits(self.bits, self.domain)
        kinds = () if self.domain.kinds is None else self.domain.kinds.names
        if self.domain.dims * self.bits + len(kinds).bit_length() > MAX_BITS:
            raise ParameterError(f"bits={self.bits}: too many for a domain with kinds: give fewer")
        checked_bound(self.unit, self.max_per_unit)

    @property
    def of_geometry(self) -> bool:
        """True if a single column of points holds the coordinates of a 2-D domain."""
        return self.domain.without_time.dims == 2 and len(self.columns) == 1

    @property
    def count_column(self) -> str:
        """Name of the count column; it carries a checksum of the public facts."""
        domain = self.domain
        facts = [domain.lower, domain.upper, domain.crs, self.bits]
        if domain.time is not None:
            facts += [domain.time, domain.step]
        if domain.zone != ZONE or domain.cycle is not None:
            facts += [domain.zone, domain.cycle, domain.span]
        if domain.kinds is not None:
            facts += [domain.kinds.column, domain.kinds.names]
        if self.unit is not None:
            facts += [self.unit, self.max_per_unit]
        return "n_" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]

    def sql(self, relation: Any, dialect: str, salt: str = "") -> str:
        """The query in a dialect, as rows of numbers in no order.

        Its columns are ``cell``, :attr:`count_column`, and with values ``dpviz_total``.
        ``relation`` is a sqlglot expression to select from, ``salt`` a fresh random text, with
        ``unit``. Raises DataError: a domain with a cycle.
        """
        template = COUNT if self.unit is None else COUNT_BOUNDED
        words = {"total": "", "steps": "", "order": "cell"}
        places = self._coordinates(dialect)
        values = {"cell": self._cell(places, dialect), "inside": self._inside(places, dialect)}
        if self.domain.values is not None:
            values["steps"] = self._steps(self.domain.values, dialect)
            words = {
                "total": ", CAST(SUM(dpviz_steps) AS BIGINT) AS dpviz_total",
                "steps": ", :steps AS dpviz_steps",
                "order": "dpviz_steps",
            }
        template = template.format(number=self.count_column, **words)
        if self.unit is not None:
            values["unit"] = self._unit(self.unit, places, dialect)
            values["salt"] = exp.Literal.string(salt)
            values["most"] = exp.Literal.number(self.max_per_unit)
        return _written(template, relation, values, dialect)

    def records_sql(self, relation: Any, dialect: str) -> str:
        """The query for EXACT counts of records outside (0) and inside (1): for owners only.

        A bound per unit chooses from the records inside.
        """
        inside = self._inside(self._coordinates(dialect), dialect)
        return _written(RECORDS, relation, {"inside": inside}, dialect)

    def _coordinates(self, dialect: str) -> list[Any]:
        """Each coordinate as a double.

        Raises:
            DataError: a domain with a cycle, which only the readers of files serve.
        """
        if self.domain.cycle is not None:
            raise DataError(
                f"cycle={self.domain.cycle!r}: an engine counts records by plain time only: export "
                "the rows to one file, or leave it out"
            )
        columns = [as_column(name) for name in self.columns]
        if self.of_geometry:
            srid = known_crs(self.domain.crs).to_epsg() if self.domain.crs else None
            places = as_axes(columns[0], dialect, srid)
        else:
            places = [as_number(each, dialect) for each in columns]
        if self.domain.time is not None:
            seconds = as_seconds(as_column(self.domain.time), dialect, self.clock)
            if self.clock == "time":  # as Offsets.to_moments
                ahead = self._ahead(seconds, "borders", dialect)
                seconds = sql(":x - :ahead", dialect, x=seconds, ahead=ahead)
            places.append(seconds)
        return places

    def _ahead(self, seconds: Any, borders: str, dialect: str) -> Any:
        """Seconds that the zone's clocks are ahead of UTC, for times in the domain's period."""
        zone, (start, end) = offsets(self.domain.zone), self.domain.period
        first, last = np.searchsorted(zone.since, [start - NEAR, end + NEAR])
        limits = getattr(zone, borders)[first:last]
        return _stepped(seconds, limits, zone.ahead[first : last + 1], dialect)

    def _unit(self, column: str, places: list[Any], dialect: str) -> Any:
        """Id of the privacy unit of a record, with the number of its unit of time if charged."""
        unit = as_unit(as_column(column), dialect)
        if self.charged is None:
            return unit
        whole = sql("FLOOR(:x)", dialect, x=places[-1])
        ahead = self._ahead(places[-1], "since", dialect)
        day = sql("FLOOR((:x + :ahead) / :day)", dialect, x=whole, ahead=ahead, day=86_400.0)
        units, numbers = self.charged.units, range(*self.charged.span)
        if units.each != "day":
            borders = [float(units.first_day(each)) for each in numbers[1:]]
            day = _stepped(day, borders, [float(each) for each in numbers], dialect)
        text = "CONCAT(:unit, ' ', CAST(CAST(:day AS BIGINT) AS VARCHAR))"
        return as_text(sql(text, dialect, unit=unit, day=day), dialect)

    def _kind(self, kinds: Kinds, dialect: str) -> Any:
        """Index of a record's kind in the public list; NULL for unlisted kinds."""
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
        """A finite value as steps of its grid, evaluated in the order of :meth:`Values.steps`."""
        steps = "CAST(FLOOR(LEAST(GREATEST(:x, :low), :high) / :grid + :half) AS BIGINT)"
        x = as_number(as_column(values.column), dialect)
        given = {"low": values.low, "high": values.high, "grid": values.grid, "half": 0.5}
        return sql(steps, dialect, x=x, **given)

    def _inside(self, places: list[Any], dialect: str) -> Any:
        """Condition for a record that is complete and inside the box (half open in time).

        NaN and NULL are outside.
        """
        domain = self.domain
        ends = ["<="] * domain.dims
        if domain.time is not None:
            ends[-1] = "<"
        conditions = [
            sql(f":x >= :low AND :x {end} :high", dialect, x=x, low=low, high=high)
            for x, low, high, end in zip(places, domain.lower, domain.upper, ends, strict=True)
        ]
        if domain.kinds is not None:
            kind = self._kind(domain.kinds, dialect)
            conditions.append(sql(":kind >= 0", dialect, kind=kind))
        if domain.values is not None:
            value = as_number(as_column(domain.values.column), dialect)
            finite, most = ":x >= :low AND :x <= :high", sys.float_info.max
            conditions.append(sql(finite, dialect, x=value, low=-most, high=most))
        if self.unit is not None:
            written = as_text(as_column(self.unit), dialect)
            conditions.append(sql(":unit <> ''", dialect, unit=written))
        return exp.and_(*conditions)

    def _cell(self, places: list[Any], dialect: str) -> Any:
        """Cell number: the kind first, then coordinate bits from the most significant on."""
        domain, side = self.domain, 1 << self.bits
        cell = None if domain.kinds is None else self._kind(domain.kinds, dialect)
        if domain.step:  # the middle of a time's step, as in Domain.to_lattice
            middle = "(FLOOR((:x - :low) / :step) + :half) * :step + :low"
            given = {"low": domain.lower[-1], "step": domain.step, "half": 0.5}
            places = [*places[:-1], sql(middle, dialect, x=places[-1], **given)]
        for x, low, high in zip(places, domain.lower, domain.upper, strict=True):
            offset, tiny = sql(":x - :low", dialect, x=x, low=low), (high - low) * 2.0**-60
            if dialect == "postgres" and tiny > 0:  # DuckDB fails to divide 1e-320 by 2
                offset = sql("GREATEST(:offset, :tiny)", dialect, offset=offset, tiny=tiny)
            step = sql(
                "LEAST(CAST(FLOOR(:offset / :width * :side) AS BIGINT), :last)",
                dialect, offset=offset, width=high - low, side=float(side), last=side - 1,
            )  # fmt: skip
            if cell is None:
                cell = step
            else:
                number = ":cell * CAST(:side AS BIGINT) + :step"
                cell = sql(number, dialect, cell=cell, side=side, step=step)
        return cell


def _stepped(x: Any, borders: Sequence[float], values: Sequence[float], dialect: str) -> Any:
    """The value that belongs to the last border that x reaches; before all of them the first."""
    first, *others = (sql(":value", dialect, value=each) for each in values)
    place = exp.case()
    for border, value in reversed([*zip(borders, others, strict=True)]):
        place = place.when(sql(":x >= :border", dialect, x=x, border=border), value)
    return place.else_(first) if others else first


def _written(template: str, relation: Any, values: dict[str, Any], dialect: str) -> str:
    """A template with its values and its source, in one SQL dialect."""
    tree: Any = exp.replace_placeholders(sqlglot.parse_one(template, read="postgres"), **values)
    for from_ in list(tree.find_all(exp.Table)):
        if from_.name == "source":
            from_.replace(exp.alias_(relation.copy(), "source", table=True))
    return str(tree.sql(dialect=dialect, pretty=True))
