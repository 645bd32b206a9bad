"""Sequences from files: of symbols, or of places with a person and a time."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.private.load.cells import Cells, cell_sequences, grid_cells
from dpviz.private.load.points import bound_contributions, read_records, unit_numbers
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.sequences.alphabet import Alphabet
from dpviz.trees.lattice import Int

CITY = "city"
"""The built-in sequences: a week of 5,000 invented people, on a grid."""

HOUR = 3600.0


def alphabet_of(text: str) -> Alphabet:
    """A public alphabet from ``a,b,c``, a range ``1..17``, or a file with one symbol per line.

    Raises:
        ParameterError: nothing in it, or a symbol twice.
        DataError: the file cannot be read.

    >>> alphabet_of("1..3").names
    ('1', '2', '3')
    """
    found = re.fullmatch(r"(-?\d{1,9})\.\.(-?\d{1,9})", text.strip())
    if found:
        first, last = map(int, found.groups())
        return Alphabet(tuple(map(str, range(first, last + 1))))
    if "," in text or not Path(text).is_file():
        return Alphabet(tuple(word.strip() for word in text.split(",") if word.strip()))
    try:
        lines = Path(text).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise DataError(
            f"{Path(text).name} is no readable text: give one symbol per line"
        ) from None
    return Alphabet(tuple(line.strip() for line in lines if line.strip()))


def read_sequences(
    source: str | os.PathLike[str],
    alphabet: Alphabet,
    *,
    column: str | None = None,
    unit: str | None = None,
    max_per_unit: int = 1,
    drop_unknown: bool = False,
    public: bool = False,
    name: str | None = None,
) -> SequenceData:
    """Sequences of symbols from a file into a handle.

    Args:
        source: Parquet with a list column of words or whole numbers; or text with one sequence per
            line, symbols between spaces or commas.
        alphabet: public.
        column: the list column; by default the only one.
        unit: (Parquet) the column of the privacy unit; by default a sequence is the unit.
        max_per_unit: with ``unit``, sequences kept of each, at random.
        drop_unknown: leave out symbols that the alphabet lacks, instead of refusing them.
        public: whether the owner declares every sequence public.
        name: the owner's name for the data set, also in the ledger; by default the file's.

    Raises:
        DataError: the file cannot be read as sequences over this alphabet.
    """
    path = Path(source)
    if not path.is_file():
        raise DataError(f"no file {path.name!r}: check the name")
    if path.suffix.lower() in (".parquet", ".pq"):
        start, words, keys = _from_parquet(path, column, unit)
    elif unit is not None:
        raise DataError(f"{path.name}: a privacy unit needs a Parquet file with its column")
    else:
        start, words = _from_text(path)
        keys = None
    codes = _coded(words, alphabet)
    if drop_unknown:
        kept = codes >= 0
        start = np.concatenate([[0], np.cumsum(kept)])[start]
        codes = codes[kept]
    sequences = Sequences(start, codes)
    if keys is not None:
        rows = bound_contributions(keys, max_per_unit)
        sequences = Sequences.of([sequences[row] for row in rows.tolist()])
    return SequenceData(
        path.stem if name is None else name,
        alphabet,
        sequences,
        public=public,
        unit=_unit(unit, max_per_unit),
        max_per_unit=1 if unit is None else max_per_unit,
    )


def read_places(
    source: str | os.PathLike[str],
    domain: Domain,
    *,
    person: str,
    time: str,
    side: int = 8,
    gap: float = 12 * HOUR,
    max_per_unit: int = 5,
    columns: Sequence[str] | None = None,
    neighbours: bool = False,
    public: bool = False,
    name: str | None = None,
    cells: Cells | None = None,
) -> SequenceData:
    """Places with a person and a time, as sequences of cells.

    Args:
        source: any file of points.
        domain: the public rectangle; places outside are left out.
        person: the column of the privacy unit.
        time: the column of the time.
        side: cells along each axis of a public grid.
        gap: seconds after which a new sequence begins.
        max_per_unit: sequences kept of each person, at random.
        columns: of the coordinates.
        neighbours: only steps to a cell that touches; records are cut at others.
        public: whether the owner declares every record public.
        name: the owner's name for the data set, also in the ledger; by default the file's.
        cells: in place of a grid, of the same rectangle: leaves of a release.

    Raises:
        DataError: the file cannot be read as places in time, or the cells are of another rectangle.
    """
    path = Path(source)
    cells = cells or grid_cells(domain, side)
    _same_rectangle(cells, domain)
    records = read_records(path, domain, columns=columns, unit=person, time=time)
    when = np.asarray(records.time)
    if when.dtype.kind == "M":
        missing = np.isnat(when)
        when = when.astype("datetime64[us]").astype(np.int64) / 1e6
        when[missing] = np.nan
    people = np.asarray(records.unit)
    sequences, who = cell_sequences(records.points, people, when, cells, gap)
    rows = bound_contributions(who, max_per_unit)
    return SequenceData(
        path.stem if name is None else name,
        cells.alphabet(neighbours=neighbours),
        Sequences.of([sequences[row] for row in rows.tolist()]),
        public=public,
        unit=_unit(person, max_per_unit),
        max_per_unit=max_per_unit,
        facts={"cells": cells.to_dict()},
    )


def city_sequences(
    side: int = 8,
    gap: float = 12 * HOUR,
    *,
    neighbours: bool = False,
    max_per_unit: int = 5,
    public: bool = True,
    cells: Cells | None = None,
) -> SequenceData:
    """The built-in sequences: synthetic and public.

    Args:
        side: cells along each axis.
        gap: seconds after which a new sequence begins.
        neighbours: only steps to a cell that touches; records are cut at others.
        max_per_unit: sequences kept of each person where they are treated as sensitive.
        public: False treats them as an owner treats sensitive ones, to rehearse it.
        cells: in place of a grid, of the city's rectangle: leaves of a release.

    Raises:
        DataError: the cells are of another rectangle.
    """
    from dpviz.datasets import DATASETS

    data = DATASETS["persons"]
    table = data.table()
    seconds = table["time"].astype("datetime64[us]").astype(np.int64) / 1e6
    points = np.column_stack([table[each] for each in data.domain.columns])
    cells = cells or grid_cells(data.domain, side)
    _same_rectangle(cells, data.domain)
    sequences, who = cell_sequences(points, table["person"], seconds, cells, gap)
    alphabet, facts = cells.alphabet(neighbours=neighbours), {"cells": cells.to_dict()}
    if public:
        everyone = SequenceData(CITY, alphabet, sequences, public=True, facts=facts)
        everyone.synthetic = True
        return everyone
    rows = bound_contributions(who, max_per_unit)
    return SequenceData(
        CITY,
        alphabet,
        Sequences.of([sequences[row] for row in rows.tolist()]),
        unit=_unit("person", max_per_unit),
        max_per_unit=max_per_unit,
        facts=facts,
    )


def _same_rectangle(cells: Cells, domain: Domain) -> None:
    if cells.domain.bounds != domain.bounds or cells.domain.crs != domain.crs:
        raise DataError(
            f"the cells are of the rectangle {cells.domain.bounds}, the places of {domain.bounds}: "
            "give the same one to both"
        )


def _unit(unit: str | None, bound: int) -> str:
    return "one sequence" if unit is None else f"one {unit} with at most {bound} sequences"


def _coded(words: NDArray[Any], alphabet: Alphabet) -> Int:
    distinct, place = np.unique(words, return_inverse=True)
    return alphabet.codes(str(word) for word in distinct.tolist())[place]


def _from_text(path: Path) -> tuple[Int, NDArray[Any]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path.name} is no readable text: give UTF-8") from None
    rows = [re.split(r"[\s,;]+", line.strip()) for line in lines if line.strip()]
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return start, np.array([word for row in rows for word in row], dtype=np.str_)


def _from_parquet(
    path: Path, column: str | None, unit: str | None
) -> tuple[Int, NDArray[Any], Int | None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
        lists = [
            field.name
            for field in schema
            if pa.types.is_list(field.type) or pa.types.is_large_list(field.type)
        ]
        if column is None and len(lists) != 1:
            raise DataError(
                f"{path.name} has {len(lists)} list columns: name the one with the sequences"
            )
        chosen = lists[0] if column is None else column
        missing = [each for each in (chosen, unit) if each and each not in schema.names]
        if missing:
            raise DataError(f"{path.name} has no column {missing[0]!r}: check the name")
        if chosen not in lists:
            raise DataError(f"column {chosen!r} of {path.name} holds no lists: choose another")
        table = file.read([chosen, *([unit] if unit else [])])
        found = table[chosen].combine_chunks()
        if found.null_count or found.values.null_count:
            raise DataError(f"column {chosen!r} of {path.name} holds nulls: leave such rows out")
        kind = found.values.type
        if not (
            pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_dictionary(kind)
        ):
            raise DataError(f"column {chosen!r} of {path.name}: symbols are words or whole numbers")
        start = found.offsets.to_numpy().astype(np.int64)
        words = found.values.to_numpy(zero_copy_only=False)[start[0] : start[-1]]
        keys = None if unit is None else unit_numbers(table[unit], unit)
    except (pa.ArrowException, OSError, MemoryError):
        raise DataError(f"{path.name}: not a readable Parquet file, or damaged") from None
    if words.dtype.kind == "O":
        words = words.astype(np.str_)
    return start - start[0], words, keys
