"""Read sequences from files: symbols, or places with a person and a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.datasets import DATASETS
from dpviz.datasets.geography import CITY
from dpviz.domain import Domain
from dpviz.domain.crs import known_crs
from dpviz.errors import DataError, ParameterError
from dpviz.files.foreign import PACKED
from dpviz.lazy import pa
from dpviz.private.handle import unit_in_words
from dpviz.private.load.bounding import bounded, slots_of
from dpviz.private.load.columns import shown
from dpviz.private.load.items import Form, bounded_items, known_items, read_items
from dpviz.private.load.notation import PLAIN, Notation
from dpviz.private.load.points import read_records
from dpviz.private.load.selection import Selection, checked_bound
from dpviz.private.load.source import File, source_of
from dpviz.private.load.tables.archive import zipped_text
from dpviz.private.load.tables.base import TEXTS, Table, pick
from dpviz.private.load.tables.delimited import DelimitedText
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.tally import Fact, Tally
from dpviz.private.load.visits import cell_sequences
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.releases.sequences.cells import Cells
from dpviz.sequences.alphabet import Alphabet

HOUR = 3600.0
"""Seconds of an hour, the unit of a session gap."""

TABLE = (".csv", ".tsv")
"""Endings of text that has a header line."""

SEQUENCE, SYMBOL = "sequence", "symbol"
"""Columns of sequences with a row for each symbol."""


_UNKNOWN = (
    "a sequence holds a symbol outside the alphabet: add it to the public alphabet, or leave such "
    "symbols out"
)


def read_sequences(
    source: Any,
    alphabet: Alphabet,
    *,
    columns: Sequence[str] | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    drop_unknown: bool = False,
    public: bool = False,
    name: str | None = None,
    table: str | None = None,
    counts: Tally | None = None,
) -> SequenceData:
    """Read sequences of symbols into a handle.

    Stability, from parse to handle: one sequence more or less in the source is at most one more or
    less here; with a unit, one unit more or less changes at most ``max_per_unit`` sequences.

    Arguments are those of :func:`dpviz.load`. Text named .txt has one sequence per line and no
    header, unless a column or a unit is named. ``counts`` receives their outcomes.
    """
    source = source_of(source, table)
    checked_bound(unit, max_per_unit)
    counts = Tally() if counts is None else counts
    if columns is not None and len(columns) != 1:
        raise DataError(f"{len(columns)} columns for sequences: name the one that holds the lists")
    column = columns[0] if columns else None
    header = (
        column is not None
        or unit is not None
        or (isinstance(source, File) and has_header(source.path))
    )
    opened = open_table(source, header=header)
    items = read_items(opened, _form(opened, column, unit), alphabet.names, unit, counts)
    items = known_items(items, drop_unknown, counts, _UNKNOWN if public else "")
    items = bounded_items(items, max_per_unit, counts, public=public)
    facts = {"column": column, "drop_unknown": drop_unknown}
    return SequenceData(
        source.name if name is None else name,
        alphabet,
        Sequences(items.start, items.item),
        public=public,
        unit=unit_in_words(unit, max_per_unit, "sequences"),
        max_per_unit=max_per_unit,
        facts={each: value for each, value in facts.items() if value},
    )


def has_header(path: Path) -> bool:
    """True if the name of a file, or its name in a zip, means text with a header line.

    The first line is not read for this: it may be a record.
    """
    if path.suffix.lower() in PACKED:
        path = Path(path.stem)
    elif path.suffix.lower() == ".zip" and path.is_file():
        path = Path(zipped_text(path) or "")
    return path.suffix.lower() in TABLE


def _form(table: Table, column: str | None, unit: str | None) -> Form:
    """Form of the symbols, by the names and declared types of the columns."""
    existing = [each.name for each in table.columns]
    if not table.declares:  # records must not decide the columns
        if column is None:
            raise DataError(
                f"{table.name} does not declare its columns: name the one of lists "
                f"with columns=… (--column), such as {SEQUENCE}, or give Parquet"
            )
        return Form(column)
    wanted = [each for each in (column, unit) if each]
    if existing:
        pick(table.columns, wanted, table.name, first_line=table.first_line)
    if column is not None:
        kind = next((each.kind for each in table.columns if each.name == column), "list")
        if kind not in ("list", *TEXTS):
            raise DataError(
                f"column {shown(column)} of {table.name} holds no lists: choose another"
            )
        return Form(column)
    if existing == ["line"]:
        return Form("line")
    if {SEQUENCE, SYMBOL} <= set(existing):
        return Form(SYMBOL, SEQUENCE)
    if isinstance(table, DelimitedText):
        raise DataError(
            f"{table.name} is a table: name its column of sequences with columns=… (--column), or "
            f"give columns {SEQUENCE} and {SYMBOL}; a file of one sequence per line is named .txt"
        )
    lists = [each.name for each in table.columns if each.kind == "list"]
    if len(lists) != 1:
        raise DataError(
            f"{table.name} has {len(lists)} list columns: name the one with the sequences"
        )
    return Form(lists[0])


def read_places(
    source: Any,
    domain: Domain,
    *,
    unit: str | None,
    time: str | None = None,
    side: int = 8,
    gap: float = 12.0,
    max_per_unit: int | None = 5,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
    neighbours: bool = False,
    public: bool = False,
    name: str | None = None,
    table: str | None = None,
    notation: Notation = PLAIN,
    counts: Tally | None = None,
) -> SequenceData:
    """Read places with a person and a time, as sequences of cells.

    Stability, from parse to handle: one person more or less changes at most ``max_per_unit``
    sequences; the places of a sequence and its cuts depend on that person's places alone.

    Arguments are those of :func:`dpviz.load`. A bound of None, for public data, keeps every
    sequence, and a sequence is the unit. ``counts`` receives their outcomes.

    Raises DomainError: the domain's CRS is unknown, unless it is "", a plane of its own.
    """
    if unit is None or time is None:
        raise DataError("places become sequences by person and time: name both (unit, time)")
    source = source_of(source, table)
    checked_bound(unit, 1 if max_per_unit is None else max_per_unit)
    if domain.crs:
        known_crs(domain.crs)
    counts = Tally() if counts is None else counts
    cells = Cells(domain, side)
    chosen = Selection(domain, columns, crs, unit, public=public, time=time, notation=notation)
    records = read_records(source, chosen, counts)
    when, people = np.asarray(records.time), np.asarray(records.unit)
    sequences, who = cell_sequences(records.points, people, when, cells, seconds_of(gap))
    rows, of_unit = np.arange(len(who)), dict[str, Any]()
    if max_per_unit is not None:
        ids = records.ids  # in the order of ``who``
        rows = bounded(who, ids, max_per_unit, slots_of(sequences), public=public)
        words = unit_in_words(unit, max_per_unit, "sequences")
        of_unit = {"unit": words, "max_per_unit": max_per_unit}
    counts.add(Fact.SEQUENCES, len(who))
    counts.add(Fact.OVER, len(who) - len(rows))
    counts.add(Fact.LOADED, len(rows))
    return SequenceData(
        source.name if name is None else name,
        cells.alphabet(neighbours=neighbours),
        sequences.take(rows),
        public=public,
        facts={"cells": cells.to_dict(), "session": {"time": time, "gap": float(gap)}},
        **of_unit,
    )


def seconds_of(gap: float) -> float:
    """Convert a session gap in hours to seconds."""
    if not gap > 0:
        raise ParameterError(f"gap={gap:g}: give the session gap in hours, a number above 0")
    return gap * HOUR


def city_sequences(
    side: int = 8,
    gap: float = 12.0,
    *,
    neighbours: bool = False,
    max_per_unit: int = 5,
    public: bool = True,
) -> SequenceData:
    """The built-in sequences: synthetic and public.

    Arguments are those of :func:`dpviz.load`; not ``public`` treats them as an owner treats
    sensitive ones, to rehearse it.
    """
    data = DATASETS["persons"]
    made = read_places(
        pa.table(data.table()),
        data.domain,
        unit="person",
        time="time",
        side=side,
        gap=gap,
        max_per_unit=None if public else max_per_unit,
        columns=data.domain.columns,
        neighbours=neighbours,
        public=public,
        name=CITY,
    )
    made.facts["session"] = {"gap": float(gap)}
    made.synthetic = public
    return made
