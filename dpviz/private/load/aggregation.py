"""Load sources larger than memory: an engine counts their records by cell.

Each record is assigned to its cell by itself, so that the index of cells has the sensitivity of
the index of records; only the position within a cell is lost.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.index import Layers, PointIndex
from dpviz.private.load.cellquery import CellQuery, Clock
from dpviz.private.load.columns import shown
from dpviz.private.load.engines.base import Engine, Rows, rows_with_progress
from dpviz.private.load.folder import Footers, size_of
from dpviz.private.load.names import recognised_columns
from dpviz.private.load.notation import MILLISECONDS, Notation
from dpviz.private.load.projection import crs_name, same_crs
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import Column, column_list, pick, refuse_other_types
from dpviz.private.load.tally import Fact, Tally
from dpviz.trees.lattice import Codes, Int, morton

BLOCK = 1 << 22
"""Number of cells interleaved at once, to limit memory."""

MAX_CELLS = 50_000_000
"""More occupied cells than this do not fit comfortably in memory."""


Counted = tuple[Engine, Any, str]
"""An engine, a relation in it, and the relation's name for messages."""


@contextmanager
def folder_relation(
    folder: Path, footers: Footers, domain: Domain, chosen: Selection
) -> Iterator[Counted]:
    """All Parquet files in a folder, in DuckDB.

    Raises DataError: a column is of several types, or of geometry without points.
    """
    from dpviz.private.load.engines.duck import Duck

    if footers.mixed:
        raise DataError(footers.mixed)
    with closing(Duck(size=size_of(footers.files))) as engine:
        relation = engine.parquet(footers.files)
        existing = engine.columns(relation)
        for name in _columns(existing, chosen.columns, domain.without_time, folder.name):
            refuse_other_types(folder.name, {*footers.shapes.get(name, ())})
        yield engine, relation, folder.name


def engine_layers(
    engine: Engine, relation: Any, name: str, domain: Domain, chosen: Selection
) -> Layers:
    """The indexes of a relation's records inside the domain, counted by the engine.

    ``chosen``: columns (in 2-D also one column of points), bits, unit; its progress is called while
    the engine works, and cancels the query by raising an exception. Raises DataError: no such
    columns, or more cells than fit.
    """
    query = _query(engine, relation, name, domain, chosen)
    # A fixed salt for public data only: otherwise it would reveal which records were dropped.
    salt = "" if chosen.public else secrets.token_hex(16)
    text = f"{query.sql(relation, engine.dialect, salt)}\nLIMIT {MAX_CELLS + 1}"
    layers = layers_of_rows(rows_with_progress(engine, text, chosen.progress), domain, query.bits)
    if layers.cells > MAX_CELLS:
        raise too_many(query.bits)
    if chosen.progress:
        chosen.progress(1.0, f"counting in {engine.title}")
    return layers


def _query(
    engine: Engine, relation: Any, name: str, domain: Domain, chosen: Selection
) -> CellQuery:
    """Make the query that counts a relation by cell, from the relation's schema alone."""
    existing, unit = engine.columns(relation), chosen.unit
    if chosen.crs not in (None, domain.crs):
        raise DataError(
            f"{name}: a folder or a table must be in the CRS of the domain: give the domain in "
            f"{shown(chosen.crs)}"
        )
    named, others = _names(existing, domain, chosen, name)
    pick(existing, [*named, *others], name)
    if unit is not None and Column(unit, "nested") in existing:
        # Two ids may have the same text form: two people would then share one bound.
        raise DataError(
            f"column {shown(unit)} of {name} holds lists or structs: an id must be a number or text"
        )
    numbers = set() if domain.values is None else {domain.values.column}
    for column in existing:
        if column.floating and column.name in (unit, domain.kinds and domain.kinds.column):
            raise DataError(
                f"column {shown(column.name)} of {name} holds floats: an id or a kind is a whole "
                "number or a text, write it as one"
            )
    clock = _clock(existing, domain, engine, chosen.notation)
    bits, most = chosen.grid_bits(domain), chosen.max_per_unit
    query = CellQuery(domain, named, bits, unit, most, clock, chosen.charged)
    if query.of_geometry:
        _check_points(existing, named[0], domain, engine)
    else:
        numbers |= {*named}
    _refuse_other_types(existing, numbers, engine)
    return query


def _check_points(existing: Sequence[Column], name: str, domain: Domain, engine: Engine) -> None:
    """Raise unless a column holds points in the CRS of the domain that SQL can read.

    Spark has no ST_X, so none of its columns count as geometry.
    """
    column = next(each for each in existing if each.name == name)
    if column.kind != "geometry":
        raise DataError(
            f"{engine.title} cannot read points from column {shown(name)}: name two columns of "
            "coordinates"
        )
    if column.crs is not None and not same_crs(column.crs, domain.crs):
        stated = crs_name(column.crs)
        raise DataError(
            f"column {shown(name)} is in {stated}, the domain in {domain.crs}: give the domain in "
            f"{stated} (crs, --crs)"
        )


def engine_tally(
    engine: Engine, relation: Any, name: str, domain: Domain, chosen: Selection
) -> tuple[Tally, tuple[str, ...], Layers]:
    """Return a relation's tally of records, its coordinate columns and its indexes."""
    query, facts = _query(engine, relation, name, domain, chosen), Tally()
    inside, number = engine.rows(query.records_sql(relation, engine.dialect))
    within = int(number[inside == 1].sum())
    layers = engine_layers(engine, relation, name, domain, chosen)
    total = sum(index.total for index in layers.counts)
    for fact, records in (
        (Fact.READ, number.sum()),
        (Fact.NOT_INSIDE, number.sum() - within),
        (Fact.OVER, within - total),
        (Fact.LOADED, total),
    ):
        facts.add(fact, records)
    return facts, query.columns, layers


def layers_of_rows(rows: Rows, domain: Domain, bits: int) -> Layers:
    """The indexes of (cell, count) rows, by kind.

    ``rows``: cell numbers, which begin with the kind, counts, and sums if any, in any order.
    """
    cell, *columns = rows
    width = domain.dims * bits
    kinds = 1 if domain.kinds is None else len(domain.kinds.names)
    every = [rows]
    if kinds > 1:
        kind, cell = cell >> width, cell & ((1 << width) - 1)
        every = [tuple(each[kind == at] for each in (cell, *columns)) for at in range(kinds)]
    plain, counts, sums = domain.counts_only, [], []
    for cell, number, *totals in every:
        codes = _codes(cell, domain, bits)
        sums += [PointIndex.of_sums(plain, codes, total, bits) for total in totals]
        counts.append(PointIndex.from_codes(plain, codes, number, bits))  # overwrites codes
    return Layers(tuple(counts), tuple(sums))


def _codes(cell: Int, domain: Domain, bits: int) -> Codes:
    """Morton codes of cells, numbered as in the query."""
    mask, places = (1 << bits) - 1, range(domain.dims - 1, -1, -1)
    codes = np.empty(len(cell), dtype=np.uint64)
    for start in range(0, len(cell), BLOCK):
        block = slice(start, start + BLOCK)
        steps = np.column_stack([(cell[block] >> (bits * place)) & mask for place in places])
        codes[block] = morton(steps)
    return codes


def too_many(bits: int) -> DataError:
    """The error for a grid that is too fine for the data."""
    return DataError(f"over {MAX_CELLS:,} cells at {bits} bits per axis: give fewer bits")


def _clock(existing: Sequence[Column], domain: Domain, engine: Engine, notation: Notation) -> Clock:
    """Declared type of the time column.

    Raises DataError: a column of text, which each engine parses by other rules, or of a type that
    holds no times; or a notation, which applies to text only.
    """
    for option, value in notation.declared.items():
        if notation.per_second is None or option != "time_format":
            raise DataError(
                f"{option}={value!r} applies to text, which {engine.title} would read by other "
                "rules: give columns of numbers and times, or one file"
            )
    kind = next((each.kind for each in existing if each.name == domain.time), "number")
    if kind == "number" or (kind == "other" and engine.dialect == "spark"):
        return "milliseconds" if notation.time_format == MILLISECONDS else "number"
    if notation.time_format is None and kind == "time":
        return "time"
    if notation.time_format is None and kind == "instant":
        return "instant"
    raise DataError(
        f"column {shown(domain.time)} is not declared as a time in {engine.title}: give a table or "
        "files with a timestamp, a date, or seconds since 1970, or with milliseconds that a time "
        "format declares"
    )


def _refuse_other_types(existing: Sequence[Column], named: set[str], engine: Engine) -> None:
    """Raise if a numeric column has another declared type: engines parse text differently."""
    for column in existing:
        if column.name in named and column.kind != "number":
            raise DataError(
                f"column {shown(column.name)} is not declared as a number in {engine.title}: "
                "choose another, or write it as one"
            )


def _names(
    existing: Sequence[Column], domain: Domain, chosen: Selection, name: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the columns to read: the coordinates and any others."""
    named = _columns(existing, chosen.columns, domain.without_time, name)
    kind = None if domain.kinds is None else domain.kinds.column
    value = None if domain.values is None else domain.values.column
    others = (chosen.unit, domain.time, kind, value)
    return named, tuple(each for each in others if each is not None)


def _columns(
    existing: Sequence[Column], columns: Sequence[str] | None, domain: Domain, name: str
) -> tuple[str, ...]:
    """The coordinate columns: as declared, or else recognised by their names."""
    if columns is not None:
        return tuple(columns)
    points = [column.name for column in existing if column.kind == "geometry"]
    if domain.dims == 2 and len(points) == 1:
        return (points[0],)
    names = recognised_columns(existing, domain)
    if names is None:
        raise DataError(f"name {domain.dims} columns of {name}: it has {column_list(existing)}")
    return names
