"""Shapefile, points only: GDAL reads it, and what its .dbf says is held against the bytes there.

A .dbf is a table of texts of fixed width, whatever its columns declare.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.lazy import pa, pc
from dpviz.private.load.tables.vector import Reader, VectorFile, format_of_points
from dpviz.private.load.values import numbers, texts


class Shapefile(VectorFile):
    """The points of a Shapefile."""

    driver, texts = "Shapefile", False

    def _reader(self, names: Sequence[str], numeric: Sequence[str]) -> Reader:
        """A feature that is marked as deleted is none, so each says its row of the .dbf."""
        every = [column.name for column in self.columns]
        written = _fields(self._path) if names else []
        fields = {name: written[every.index(name)] for name in names}
        return lambda name, column, rows: _as_written(
            column, fields[name], rows, name, name in numeric
        )


def _as_written(
    column: Any, field: NDArray[np.bytes_], rows: NDArray[np.int64], name: str, numeric: bool
) -> Any:
    """A column as GDAL reads it, null where its cells say something else; stability 1.

    Args:
        column: a pyarrow array (n,).
        field: the cells of the whole .dbf.
        rows: where of them each cell is (n,).
        name: for messages.
        numeric: whether it is wanted as numbers.
    """
    kind = column.type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not (number or pa.types.is_date(kind) or pa.types.is_boolean(kind)):
        return column
    there = rows < len(field)
    raw = np.zeros(len(rows), field.dtype)  # where the .dbf is cut short
    raw[there] = field[rows[there]]
    text = pc.cast(pa.array(raw), pa.string(), safe=False)  # bytes that need not be UTF-8
    cells = pc.ascii_trim_whitespace(text)
    if number:
        values = numbers(texts(cells, name), name)
        if numeric or pa.types.is_floating(kind):
            return arrow.numbers(values)
        same = arrow.numbers(values == numbers(column, name))
    elif pa.types.is_date(kind):
        same = pc.equal(pc.strftime(column, "%Y%m%d"), cells)
    else:
        same = pc.is_in(cells, pa.array(list("TtYyFfNn")))
    return pc.if_else(same, column, None)


def _fields(path: Path) -> list[NDArray[np.bytes_]]:
    """The cells of each column of the .dbf beside a .shp, (rows,) texts of a fixed width."""
    beside = [path.with_suffix(ending) for ending in (".dbf", ".DBF")]
    table = np.memmap(next(each for each in beside if each.exists()), np.uint8, "r")
    first, width = (int.from_bytes(table[at : at + 2].tobytes(), "little") for at in (8, 10))
    stated = int.from_bytes(table[4:8].tobytes(), "little")
    rows = min(stated, (len(table) - first) // width)
    columns, start = [], first + 1
    for at in range(32, first - 31, 32):
        if table[at] == _NO_MORE:
            break
        size = int(table[at + 16])
        # Of no rows, all but the first would start beyond the file's end, which is an error.
        columns.append(np.ndarray((rows,), f"S{size}", table, start if rows else 0, (width,)))
        start += size
    return columns


_NO_MORE = 0x0D
"""What stands after the columns in the header of a .dbf."""


def _opened(path: Path, name: str, layer: str | None) -> Shapefile:
    if not any(path.with_suffix(ending).exists() for ending in (".shx", ".SHX")):
        raise DataError(f"{name} is one of a Shapefile's files: zip its .shp, .shx, .dbf and .prj")
    return Shapefile(path, name, layer)


FORMATS = (format_of_points("Shapefile", ".shp", _opened),)
