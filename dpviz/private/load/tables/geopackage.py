"""GeoPackage, points only: GDAL reads it, and SQLite says which cells are not as declared.

A cell has a type of its own in SQLite, whatever its column declares. Of one that is of another,
GDAL makes a 0, false, or the first day of 1970; it cuts a text at a NUL, and keeps of some numbers
what a float32 or a float64 holds. Such cells are read anew, each by itself, as in CSV.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.files.foreign import database, quoted, refuse_computing
from dpviz.lazy import pa, pc
from dpviz.private.load.tables.vector import (
    Reader,
    VectorFile,
    format_of_points,
    layers_of_points,
)
from dpviz.private.load.values import numbers
from dpviz.private.load.words import texts


class GeoPackage(VectorFile):
    """One layer of points of a GeoPackage."""

    driver, texts = "GeoPackage", True

    def _reader(self, names: Sequence[str], numeric: Sequence[str]) -> Reader:
        """Times are their text, so that GDAL takes none for one of UTC."""
        for name in numeric:
            if self._types[name].startswith("datetime"):
                numbers(pa.array([], pa.timestamp("ms")), name)  # refused by its declared type
        with closing(database(self._path)) as db:
            db.text_factory = bytes
            if db.execute("PRAGMA encoding").fetchone() != (b"UTF-8",):  # it may lose letters
                raise DataError(f"{self.name} holds texts in UTF-16: write it again in UTF-8")
            types = {name: self._type(db, name) for name in names}
            odd = {name: self._odd_cells(db, name, types[name]) for name in names}
        text = {name for name in names if name not in numeric and _is_text(types[name])}
        return lambda name, column, keys: _mended(
            column, keys, odd[name], name, name in numeric, name in text
        )

    def _type(self, db: sqlite3.Connection, name: str) -> str:
        """That of GDAL, but of a column that may hold whole numbers among others."""
        declared = db.execute(f"PRAGMA table_info({quoted(self._layer)})").fetchall()
        numeric = {
            column.decode() for _, column, kind, *_ in declared if kind.upper() == b"NUMERIC"
        }
        return "numeric" if name in numeric else self._types[name]

    def _odd_cells(self, db: sqlite3.Connection, name: str, dtype: str) -> dict[int, Any]:
        """Cells of a column that GDAL does not give as they are, by the row's primary key."""
        if not self._key:
            raise DataError(f"{self.name} has a table without a primary key: write it again")
        cell = f"t.{quoted(name)}"
        what = f"t.{quoted(self._key)}, {cell} FROM {quoted(self._layer)} AS t"
        rows = db.execute(f"SELECT {what} NOT INDEXED WHERE {_odd(dtype, cell)}")
        return {key: cell for key, cell in rows if isinstance(key, int)}


_FLOAT32 = 2.0**29 + 1
"""What splits a float64 in two, of which the first is rounded to the 24 bits of a float32."""


def _odd(dtype: str, cell: str) -> str:
    """In SQL, whether a cell is neither null nor one that GDAL gives as it is.

    Texts and blobs are greater than every number there; a date plus no day is one of the calendar;
    SQLite writes a number as text with 15 digits.
    """
    if dtype.startswith("int"):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        return f"{cell} NOT BETWEEN {least} AND {most} OR typeof({cell}) = 'real'"
    if dtype == "float32":
        large = f"{_FLOAT32} * {cell}"
        return (
            f"{cell} >= '' OR {cell} <> 0 AND abs({cell}) NOT BETWEEN 2e-38 AND 3e38 "
            f"OR {large} - ({large} - {cell}) <> {cell}"
        )
    if dtype == "float64":
        return f"{cell} >= ''"
    if dtype == "numeric":
        whole = f"typeof({cell}) = 'integer' AND {cell} NOT BETWEEN {-(2**53)} AND {2**53}"
        return f"{cell} >= '' OR {whole}"
    if dtype == "bool":
        return f"{cell} NOT IN (0, 1)"
    if dtype == "datetime64[D]":
        return f"date({cell}, '+0 days') IS NOT {cell}"
    return f"typeof({cell}) = 'real' OR instr(CAST({cell} AS BLOB), x'00') > 0"


def _is_text(dtype: str) -> bool:
    """Whether the cells of a column, where they are no coordinates, are read as text."""
    return not dtype.startswith(("int", "float", "bool"))


def _mended(
    column: Any,
    keys: NDArray[np.int64],
    odd: dict[int, Any],
    name: str,
    numeric: bool,
    text: bool,
) -> Any:
    """A column with its odd cells, each read by itself or missing; stability 1.

    Args:
        column: a pyarrow array (n,), as GDAL reads it.
        keys: of its rows (n,).
        odd: cells by key.
        name: for messages.
        numeric: whether it is wanted as numbers.
        text: whether it is to be text, whatever it holds.
    """
    if pa.types.is_date(column.type):
        column = pc.cast(column, pa.large_string())
    if text:
        column = texts(column, name)
    elif pa.types.is_floating(column.type):
        column = pc.cast(column, pa.float64())
    if not odd:
        return column
    there = np.isin(keys, np.array(list(odd), dtype=np.int64))
    cells = [odd[key] for key in keys[there].tolist()]
    if numeric:
        values = numbers(column, name).copy()
        values[there] = numbers(cells, name)
        return arrow.numbers(values)
    anew = texts(cells, name) if text else pa.nulls(len(cells), column.type)
    if pa.types.is_floating(column.type):  # what is no number is no id of a column of them
        anew = pa.array([each if isinstance(each, float) else None for each in cells], pa.float64())
    return pc.replace_with_mask(column, arrow.numbers(there), anew)


def _opened(path: Path, name: str, layer: str | None) -> GeoPackage:
    refuse_computing(path, name)
    return GeoPackage(path, name, layer)


def _layers(path: Path) -> list[str]:
    refuse_computing(path, path.name)
    return layers_of_points(path)


FORMATS = (format_of_points("GeoPackage", ".gpkg", _opened, _layers),)
