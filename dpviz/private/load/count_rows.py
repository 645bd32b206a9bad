"""Read rows of (cell, count): find their columns, check their public facts, index them.

They are EXACT COUNTS, as SENSITIVE as the records; no message holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.lazy import pa, pc
from dpviz.private.handle import DataHandle
from dpviz.private.index import MAX_RECORDS, Layers
from dpviz.private.load.aggregation import MAX_CELLS, layers_of_rows, too_many
from dpviz.private.load.cellquery import CellQuery
from dpviz.private.load.columns import is_text, plain
from dpviz.private.load.engines.base import Rows
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import Table

_COUNT = re.compile(r"n|count|n_[0-9a-f]{8}")
_RESULTS = (".csv", ".tsv", ".txt", ".parquet", ".pq")
"""Endings of files that may hold the result of a query."""


def are_counts(path: Path, names: Sequence[str]) -> bool:
    """True if a file or folder has the columns of a query result, by its name and schema."""
    return (path.is_dir() or path.suffix.lower() in _RESULTS) and _columns(names) is not None


def result_handle(tables: Iterable[Table], chosen: Selection, path: Path) -> DataHandle:
    """A handle on the result of one query, in one file or several."""
    chosen.of_counts(path.name)
    return counted_handle(tables, chosen, path.name, path.stem, one_query=True)


def counted_handle(
    tables: Iterable[Table], chosen: Selection, title: str, name: str, *, one_query: bool = False
) -> DataHandle:
    """A handle on tables of cells and counts; a cell may occur in several rows.

    Raises DataError: other columns, other public facts, or rows that no query of these facts gives.

    Args:
        tables: each with a column of cells and one of counts.
        chosen: the public facts that they were counted with.
        one_query: the rows are the result of a single query, so that with a unit no cell may occur
            twice: the bounds of several queries would add up.
    """
    cells, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for table in tables:
        columns = _columns([column.name for column in table.columns])
        if columns is None:
            raise DataError(
                f"{title} has other columns than cell and n: give the result of dpviz.cell_sql"
            )
        _check_facts(columns[1], chosen, title)
        for block in table.blocks(columns):
            for column, collected in zip(columns, (cells, counts), strict=True):
                collected.append(_whole_numbers(block.columns[column], column, title))
    rows = np.concatenate(cells), np.concatenate(counts)
    if one_query and chosen.unit is not None and len(np.unique(rows[0])) < len(rows[0]):
        raise DataError(
            f"{title}: a cell occurs twice, as in the results of several queries, whose bounds for "
            f"each {chosen.unit} would add up: run one query over all records"
        )
    layers = _checked_layers(rows, chosen, title)
    return chosen.handle(layers, name, chosen.grid_bits(chosen.box(title)))


def _columns(names: Sequence[str]) -> tuple[str, str] | None:
    """The columns of cells and counts in a table; None if it has other columns."""
    lowered = {name.strip().lower(): name for name in names}
    counts = [name for key, name in lowered.items() if _COUNT.fullmatch(key)]
    if len(names) != 2 or "cell" not in lowered or len(counts) != 1:
        return None
    return lowered["cell"], counts[0]


def _check_facts(count: str, chosen: Selection, title: str) -> None:
    """Refuse counts made with other public facts than the declared ones.

    ``count``: name of the column of counts, which carries a checksum of the facts. Raises
    DataError: they were counted with other facts, or without a bound for each unit.
    """
    domain, unit = chosen.box(title), chosen.unit
    bits = chosen.grid_bits(domain)
    query = CellQuery(domain, domain.without_time.columns, bits, unit, chosen.max_per_unit)
    if "_" in count and count.strip().lower() != query.count_column:
        raise DataError(
            f"{title} was counted with other public facts: give the bounds, CRS, bits "
            f"(now {bits}), unit and bound that dpviz.cell_sql was given"
        )
    if unit is not None and "_" not in count:
        raise DataError(
            f"{title} does not say that it was bounded for each {unit}: "
            f"run the query of dpviz.cell_sql(…, unit={unit!r}) and keep its column names"
        )


def _whole_numbers(column: Any, name: str, file: str) -> Any:
    """Convert a column of cells or counts to whole numbers."""
    column = plain(column)
    if is_text(column.type):
        column = pc.ascii_trim_whitespace(pc.cast(column, pa.large_string()))
        column = pc.if_else(pc.equal(column, ""), None, column)
    if column.null_count:
        raise DataError(f"{file}: column {name} has missing values: give the query's whole result")
    try:
        return arrow.number_array(column.cast(pa.int64()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"{file}: column {name} does not hold whole numbers: give the query's result unchanged"
        ) from None


def _checked_layers(rows: Rows, chosen: Selection, file: str) -> Layers:
    """Check that the public facts allow these rows, and index them."""
    (cell, count), domain = rows, chosen.box(file)
    bits = chosen.grid_bits(domain)
    if len(cell) > MAX_CELLS:
        raise too_many(bits)
    kinds = 1 if domain.kinds is None else len(domain.kinds.names)
    most = kinds << domain.dims * bits
    if len(cell) and not (cell.min() >= 0 and cell.max() < most):
        limit = f"2^{domain.dims * bits}" if kinds == 1 else f"{kinds} · 2^{domain.dims * bits}"
        raise DataError(
            f"{file}: a cell is not a number from 0 to {limit} − 1: "
            f"give the bits that it was counted with (now {bits} per axis)"
        )
    if (count < 0).any():
        raise DataError(f"{file}: a count is below 0: give the query's result unchanged")
    if float(count.sum(dtype=np.float64)) >= MAX_RECORDS:
        raise DataError(f"{file}: the counts add up to more than 2^53: give fewer records")
    return layers_of_rows(rows, domain, bits)
