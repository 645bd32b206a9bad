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

Sums of values, cycles of time, and local times of a zone other than UTC are not written in SQL:
such records are read from a file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from dpviz.domain import Domain
from dpviz.domain.attributes import OTHER, Kinds
from dpviz.domain.crs import known_crs
from dpviz.domain.zones import ZONE
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


COUNT = """
SELECT cell, COUNT(*) AS {number} FROM (
  SELECT :cell AS cell FROM source WHERE :inside
) AS records GROUP BY cell
"""

COUNT_BOUNDED = """
WITH dpviz_records AS (
  SELECT :unit AS unit_value, :cell AS cell FROM source WHERE :inside
),
dpviz_copies AS (
  SELECT unit_value, cell,
    ROW_NUMBER() OVER (PARTITION BY unit_value, cell ORDER BY cell) AS copy_number
  FROM dpviz_records
),
dpviz_keys AS (
  SELECT unit_value, cell, copy_number, SUBSTRING(MD5(CONCAT(
    :salt, unit_value, ' ', CAST(cell AS VARCHAR), ' ', CAST(copy_number AS VARCHAR)
    )), 1, 12) AS sort_key
  FROM dpviz_copies
),
dpviz_places AS (
  SELECT cell,
    ROW_NUMBER() OVER (PARTITION BY unit_value ORDER BY sort_key, cell, copy_number) AS place
  FROM dpviz_keys
)
SELECT cell, COUNT(*) AS {number} FROM dpviz_places WHERE place <= :most GROUP BY cell
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
        """The query in a dialect, as rows ``cell`` and :attr:`count_column`, in no order.

        ``relation`` is a sqlglot expression to select from, ``salt`` a fresh random text, with
        ``unit``. Raises DataError: a domain with values or a cycle, or local times of a zone other
        than UTC.
        """
        template = COUNT if self.unit is None else COUNT_BOUNDED
        template = template.format(number=self.count_column)
        places = self._coordinates(dialect)
        values = {"cell": self._cell(places, dialect), "inside": self._inside(places, dialect)}
        if self.unit is not None:
            values["unit"] = as_unit(as_column(self.unit), dialect)
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
        """Each coordinate as a double."""
        self._require_plain()
        columns = [as_column(name) for name in self.columns]
        if self.of_geometry:
            srid = known_crs(self.domain.crs).to_epsg() if self.domain.crs else None
            places = as_axes(columns[0], dialect, srid)
        else:
            places = [as_number(each, dialect) for each in columns]
        if self.domain.time is not None:
            places.append(as_seconds(as_column(self.domain.time), dialect, self.clock))
        return places

    def _require_plain(self) -> None:
        """Refuse a domain that only the readers of files serve."""
        domain = self.domain
        for wrong, what in (
            (domain.values is not None, f"values={domain.values and domain.values.column!r}"),
            (domain.cycle is not None, f"cycle={domain.cycle!r}"),
            (self.clock == "time" and domain.zone != ZONE, f"zone={domain.zone!r}, local times"),
        ):
            if wrong:
                raise DataError(
                    f"{what}: an engine counts records by place, kind and UTC time only: export "
                    "the rows to one file, or leave it out"
                )

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


def _written(template: str, relation: Any, values: dict[str, Any], dialect: str) -> str:
    """A template with its values and its source, in one SQL dialect."""
    tree: Any = exp.replace_placeholders(sqlglot.parse_one(template, read="postgres"), **values)
    for from_ in list(tree.find_all(exp.Table)):
        if from_.name == "source":
            from_.replace(exp.alias_(relation.copy(), "source", table=True))
    return str(tree.sql(dialect=dialect, pretty=True))
