"""Interface for other engines: they count records by cell, and dpviz adds the counts up.

The rows are (cell, count), as in :mod:`dpviz.private.load.cellquery`: EXACT COUNTS, as SENSITIVE as
the records. An engine makes them by the query of :func:`cell_sql`, where it speaks SQL, or by
:func:`cell_counts` over its partitions, where it runs Python.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.checks import require, texts
from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.lazy import pa
from dpviz.private.handle import DataHandle
from dpviz.private.index import PointIndex
from dpviz.private.load.cellquery import CellQuery
from dpviz.private.load.count_rows import counted_handle
from dpviz.private.load.data import load
from dpviz.private.load.dialects import checked_dialect, table
from dpviz.private.load.selection import Selection, checked_bits
from dpviz.private.load.tables.memory import MemoryTable
from dpviz.trees.lattice import unmorton

TITLE = "a table of cells and counts"


def cell_sql(
    relation: str,
    domain: Domain,
    *,
    columns: Sequence[str] | None = None,
    bits: int | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    dialect: str = "duckdb",
) -> str:
    """The query that counts records by cell; its result is a source of :func:`dpviz.load`.

    Args:
        relation: name of a table or view: ``table``, ``schema.table``.
        domain: the public box, in the CRS of the columns.
        columns: columns of the coordinates; by default those of the domain.
        bits: bits of the public grid, which has 2^bits steps per axis; 16 in 2-D by default.
        unit: column of the privacy unit; the query then keeps at most ``max_per_unit`` records of
            each, chosen at random by a fresh salt: write a new query for each count.
        max_per_unit: see ``unit``.
        dialect: ``duckdb``, ``postgres`` or ``spark``. Coordinates must be declared as numbers,
            times as seconds since 1970 UTC, and ids as texts or whole numbers.

    Raises:
        DpvizError: an invalid name, dialect, bits or bound; or a domain that SQL does not serve.
    """
    query = _query(domain, columns, bits, unit, max_per_unit)
    return query.sql(table(relation), checked_dialect(dialect), secrets.token_hex(16))


def _query(
    domain: Domain,
    columns: Sequence[str] | None,
    bits: int | None,
    unit: str | None,
    max_per_unit: int,
) -> CellQuery:
    """Check the public facts and make their query."""
    require(domain, Domain, "domain", DataError)
    require(unit, str | None, "unit", DataError)
    if domain.values is not None:
        raise DataError("counts per cell hold no sums: leave the values out of the domain")
    names = domain.without_time.columns if columns is None else texts(columns, "columns", DataError)
    return CellQuery(domain, names, checked_bits(bits, domain), unit, max_per_unit)


def cell_counts(
    frame: Any,
    domain: Domain,
    *,
    columns: Sequence[str] | None = None,
    bits: int | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
) -> pa.Table:
    """EXACT COUNTS by cell of one part of the records; run it where that part is stored.

    SENSITIVE: only for :func:`from_counts`; never show it.

    Args:
        frame: a part in memory, as :func:`dpviz.load` takes it.
        domain: see :func:`cell_sql`, also for the other arguments.
        columns: columns of the coordinates.
        bits: bits of the public grid, per axis.
        unit: column of the privacy unit. ALL RECORDS OF A UNIT MUST BE IN ONE PART (shuffle by the
            unit first): the bound is kept within a part, and parts do not know of each other.
        max_per_unit: see ``unit``.

    Returns:
        Columns ``cell`` and the counts, whose name carries a check of the public facts.

    Raises:
        DataError: see :func:`dpviz.load`; or a domain with values.
    """
    query = _query(domain, columns, bits, unit, max_per_unit)
    part = load(
        frame,
        domain,
        columns=columns,
        bits=query.bits,
        unit=unit,
        max_per_unit=max_per_unit,
        name="part",
    )
    indexes = part._layers.counts
    cell = np.concatenate(
        [_cell_numbers(each, query.bits, kind) for kind, each in enumerate(indexes)]
    )
    weights = np.concatenate([each.weights for each in indexes])
    return pa.table({"cell": arrow.numbers(cell), query.count_column: arrow.numbers(weights)})


def from_counts(
    tables: Any,
    domain: Domain,
    *,
    name: str,
    bits: int | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    public: bool = False,
) -> DataHandle:
    """A handle on records that another engine has counted by cell.

    The guarantee holds only if the caller ensures that

    - each record is in ONE table, and adds 1 to ONE cell;
    - with ``unit``, each unit adds at most ``max_per_unit`` over all tables together: the queries
      of :func:`cell_sql` and the tables of :func:`cell_counts` keep that bound, each by itself;
    - domain, bits, unit and bound were chosen without looking at the records.

    Args:
        tables: one, or many: anything that Arrow reads (pyarrow, pandas, polars, a DuckDB
            relation, an Ibis table), with the columns ``cell`` and ``n``, or those of
            :func:`cell_sql` and :func:`cell_counts`. Counts of a cell add up.
        domain: the public box.
        name: public name of the data set, under which the ledger pays.
        bits: bits of the public grid, per axis; 16 in 2-D by default.
        unit: the privacy unit; a record by default.
        max_per_unit: most records that one unit adds.
        public: True if the owner declares every record public.

    Raises:
        DataError: other columns, counts with other public facts, or rows that are no counts.

    >>> import pyarrow as pa
    >>> box = Domain((0, 0), (1, 1), columns=("x", "y"))
    >>> days = [pa.table({"x": [0.1, 0.9], "y": [0.2, 0.8]}), pa.table({"x": [0.1], "y": [0.2]})]
    >>> from_counts([cell_counts(day, box) for day in days], box, name="visits")
    DataHandle('visits', sensitive, 2-D)
    """
    require(domain, Domain, "domain", DataError)
    require(unit, str | None, "unit", DataError)
    chosen = Selection(
        domain, unit=unit, max_per_unit=max_per_unit, public=public, name=name, bits=bits
    )
    every = [tables] if _is_table(tables) else tables
    return counted_handle((MemoryTable(_arrow(each), TITLE) for each in every), chosen, TITLE, name)


def _is_table(value: Any) -> bool:
    many = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    return hasattr(value, "__arrow_c_stream__") or not many


def _arrow(part: Any) -> pa.Table:
    if not hasattr(part, "__arrow_c_stream__"):
        raise DataError(f"{TITLE} must be tables: give pyarrow, pandas or polars tables")
    return pa.table(part)


def _cell_numbers(index: PointIndex, bits: int, kind: int) -> NDArray[np.int64]:
    """Numbers of the cells of one kind, as in :mod:`dpviz.private.load.cellquery`."""
    dims = index.domain.dims
    steps = unmorton(index.codes >> np.uint64(dims * (index.domain.bits - bits)), dims)
    cell = np.full(len(steps), kind, dtype=np.int64)
    for axis in range(dims):
        cell <<= bits
        cell |= steps[:, axis]
    return cell
