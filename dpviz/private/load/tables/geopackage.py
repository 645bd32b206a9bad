"""GeoPackage, points only: GDAL reads it, and SQLite says which cells are not as declared.

A cell has a type of its own in SQLite, whatever its column declares. Of one that is of another,
GDAL makes a 0, false, or the first day of 1970: it is read anew by itself, as in CSV.
"""

from __future__ import annotations

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
from dpviz.private.load.values import numbers, texts


class GeoPackage(VectorFile):
    """One layer of points of a GeoPackage."""

    driver, texts = "GeoPackage", True

    def _reader(self, names: Sequence[str], numeric: Sequence[str]) -> Reader:
        """Times are their text, so that GDAL takes none for one of UTC."""
        for name in numeric:
            if self._types[name].startswith("datetime"):
                numbers(pa.array([], pa.timestamp("ms")), name)  # refused by its declared type
        odd = {name: self._odd_cells(name) for name in names}
        return lambda name, column, keys: _mended(column, keys, odd[name], name, name in numeric)

    def _odd_cells(self, name: str) -> dict[int, Any]:
        """Cells of a column that are not of its declared type, by the row's primary key."""
        odd = _odd(self._types[name], f"t.{quoted(name)}")
        if not odd:
            return {}
        if not self._key:
            raise DataError(f"{self.name} has a table without a primary key: write it again")
        what = f"t.{quoted(self._key)}, t.{quoted(name)} FROM {quoted(self._layer)} AS t"
        with closing(database(self._path)) as db:
            db.text_factory = bytes
            rows = db.execute(f"SELECT {what} NOT INDEXED WHERE {odd}")
            return {key: cell for key, cell in rows if isinstance(key, int)}


def _odd(dtype: str, cell: str) -> str:
    """In SQL, whether a cell is neither null nor of a declared type; nothing for texts.

    Texts and blobs are greater than every number there; a date plus no day is one of the calendar.
    """
    if dtype.startswith("int"):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        return f"{cell} NOT BETWEEN {least} AND {most} OR typeof({cell}) = 'real'"
    if dtype.startswith("float"):
        return f"{cell} >= ''"
    if dtype == "bool":
        return f"{cell} NOT IN (0, 1)"
    return f"date({cell}, '+0 days') IS NOT {cell}" if dtype == "datetime64[D]" else ""


def _mended(
    column: Any, keys: NDArray[np.int64], odd: dict[int, Any], name: str, numeric: bool
) -> Any:
    """A column with its odd cells, each read by itself or missing; stability 1.

    Args:
        column: a pyarrow array (n,), as GDAL reads it.
        keys: of its rows (n,).
        odd: cells by key.
        name: for messages.
        numeric: whether it is wanted as numbers.
    """
    kind = column.type
    if pa.types.is_date(kind):
        column = pc.cast(pc.cast(column, pa.large_string()), pa.large_binary())
    if not odd:
        return column
    there = np.isin(keys, np.array(list(odd), dtype=np.int64))
    cells = [odd[key] for key in keys[there].tolist()]
    if numeric:
        values = numbers(column, name).copy()
        values[there] = numbers(cells, name)
        return arrow.numbers(values)
    anew = pa.nulls(len(cells), kind)  # what is no whole number, or neither true nor false
    if pa.types.is_date(kind):
        anew = texts(cells, name)
    elif pa.types.is_floating(kind):
        anew = pc.cast(arrow.numbers(numbers(cells, name)), kind)
    return pc.replace_with_mask(column, arrow.numbers(there), anew)


def _opened(path: Path, name: str, layer: str | None) -> GeoPackage:
    refuse_computing(path, name)
    return GeoPackage(path, name, layer)


def _layers(path: Path) -> list[str]:
    refuse_computing(path, path.name)
    return layers_of_points(path)


FORMATS = (format_of_points("GeoPackage", ".gpkg", _opened, _layers),)
