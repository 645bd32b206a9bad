"""Sources that outgrow memory: an engine aggregates them to (cell, count) rows; DuckDB is built in.

The query groups records by the cell of a public grid of 2^bits steps per axis. Each record goes to
its cell by itself, so that the index of cells has the sensitivity of the index of records; what is
lost is the position within a cell.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.index import PointIndex

GRID_BITS = {1: 24, 2: 16, 3: 12, 4: 10}
"""Steps per axis are 2^bits, by number of dimensions: public, and never changed by the data."""

MAX_CELLS = 50_000_000
"""More occupied cells than this do not fit comfortably in memory."""


def cell_counts_query(
    relation: Any, columns: Sequence[str], domain: Domain, bits: int, dialect: str = "duckdb"
) -> str:
    """SQL that counts the records of each cell inside the domain, as rows `cell, n`.

    The cell of (x, y, …) is the number ix · 2^bits + iy, with ix = ⌊(x − low) / (high − low) ·
    2^bits⌋ as in :meth:`Domain.to_lattice`. Constants are cast from text, since some engines read
    a literal such as 0.1 as a decimal and then put records into other cells.

    Args:
        relation: a sqlglot expression to select from.
        columns: names of the coordinates; always quoted.
        domain: the public box, in the CRS of the columns.
        bits: grid bits per axis.
        dialect: any dialect of sqlglot.
    """
    from sqlglot import exp

    def double(value: float) -> Any:
        return exp.cast(exp.Literal.string(repr(value)), "double")

    cell: Any = None
    inside = []
    for name, low, high in zip(columns, domain.lower, domain.upper, strict=True):
        x = exp.cast(exp.column(exp.to_identifier(name, quoted=True)), "double")
        inside += [exp.GTE(this=x, expression=double(low))]
        inside += [exp.LTE(this=x.copy(), expression=double(high))]
        offset = exp.paren(exp.Sub(this=x.copy(), expression=double(low)))
        fraction = exp.Div(this=offset, expression=double(high - low), typed=False, safe=False)
        scaled = exp.Mul(this=fraction, expression=double(float(1 << bits)))
        step = exp.cast(exp.Floor(this=scaled), "bigint")
        last = exp.Literal.number((1 << bits) - 1)
        step = exp.Least(this=step, expressions=[last])
        shifted = None if cell is None else exp.Mul(this=cell, expression=_whole(1 << bits))
        cell = step if shifted is None else exp.paren(exp.Add(this=shifted, expression=step))
    query = (
        exp.select(exp.alias_(cell, "cell"), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(relation)
        .where(*inside)
        .group_by(cell.copy())
    )
    return str(query.sql(dialect=dialect))


def parquet_folder_index(
    folder: Path, domain: Domain, columns: Sequence[str] | None = None, bits: int | None = None
) -> PointIndex:
    """The index of all Parquet files in a folder, aggregated by DuckDB within 3 GB of memory.

    Raises:
        DataError: no such files or columns, or more cells than fit.
    """
    import duckdb
    from sqlglot import exp

    from dpviz.private.points import recognised_columns
    from dpviz.private.tables import Column
    from dpviz.private.tables.base import listed, parsing, pick

    if next(folder.rglob("*.parquet"), None) is None:
        raise DataError(
            f"no Parquet file in the folder {folder.name}: give one with .parquet files"
        )
    bits = GRID_BITS[domain.dims] if bits is None else bits
    pattern = exp.Literal.string(str(folder / "**" / "*.parquet"))
    relation = exp.func("read_parquet", pattern)
    with (
        parsing(folder.name, "a folder of Parquet"),
        tempfile.TemporaryDirectory(prefix="dpviz-") as spill,  # by default in the current folder
        duckdb.connect() as engine,
    ):
        engine.execute(f"SET temp_directory = {exp.Literal.string(spill).sql(dialect='duckdb')}")
        engine.execute("SET memory_limit = '3GB'")
        star = exp.select("*").from_(relation.copy()).sql(dialect="duckdb")
        described = engine.execute(f"DESCRIBE {star}").fetchall()
        existing = [Column(str(row[0]), "other") for row in described]
        names = columns or recognised_columns(existing, domain)
        if names is None or len(names) != domain.dims:
            raise DataError(
                f"name {domain.dims} columns of {folder.name}: it has {listed(existing)}"
            )
        pick(existing, names, folder.name)
        query = cell_counts_query(relation, names, domain, bits)
        rows = engine.execute(f"{query} LIMIT {MAX_CELLS + 1}").fetchnumpy()
    if len(rows["n"]) > MAX_CELLS:
        raise DataError(f"over {MAX_CELLS:,} cells at {bits} bits per axis: give fewer bits")
    cell = np.asarray(rows["cell"], dtype=np.int64)
    mask, places = (1 << bits) - 1, range(domain.dims - 1, -1, -1)
    cells = np.column_stack([(cell >> (bits * place)) & mask for place in places])
    return PointIndex.from_cells(domain, cells << (domain.bits - bits), rows["n"])


def _whole(value: int) -> Any:
    from sqlglot import exp

    return exp.cast(exp.Literal.number(value), "bigint")
