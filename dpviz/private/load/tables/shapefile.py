"""Shapefile, points only: GDAL reads it, and its cells are what the bytes of the .dbf say.

A .dbf is a table of texts of fixed width, whatever its columns declare.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpviz.errors import DataError
from dpviz.files import arrow
from dpviz.lazy import pa, pc
from dpviz.private.load.tables.dbf import code_page, decoded, digits, fields
from dpviz.private.load.tables.vector import Reader, VectorFile, format_of_points
from dpviz.private.load.values import numbers
from dpviz.private.load.words import texts

_WHOLE = r"^[-+]?[0-9]+(?:[.,]0*)?$"


class Shapefile(VectorFile):
    """The points of a Shapefile."""

    driver, texts = "Shapefile", False

    def _reader(self, names: Sequence[str], numeric: Sequence[str]) -> Reader:
        """A feature that is marked as deleted is none, so each says its row of the .dbf."""
        every = [column.name for column in self.columns]
        written = fields(self._path) if names else []
        page = code_page(self._path) if names else None
        field = {name: written[every.index(name)] for name in names}
        return lambda name, column, rows: _as_written(
            column, field[name].written(rows), page, name, name in numeric
        )


def _as_written(column: Any, written: Any, page: str | None, name: str, numeric: bool) -> Any:
    """The cells of a column, null where they are not of its type; stability 1.

    Args:
        column: a pyarrow array (n,), as GDAL reads it.
        written: the same cells of the .dbf, a large_string array of bytes.
        page: of the texts.
        name: for messages.
        numeric: whether it is wanted as numbers.
    """
    kind = column.type
    real = pa.types.is_floating(kind)
    if not (real or pa.types.is_integer(kind) or pa.types.is_date(kind) or kind == pa.bool_()):
        return decoded(written, page)
    cells = pc.ascii_trim_whitespace(written)
    if real or pa.types.is_integer(kind):
        values = numbers(texts(cells, name), name)
        if numeric:
            return arrow.numbers(values)
        if real:
            return digits(pc.if_else(arrow.numbers(values == values), cells, None))
        whole = pc.match_substring_regex(cells, _WHOLE)
        same = pc.and_(whole, arrow.numbers(values == numbers(column, name)))
    elif pa.types.is_date(kind):
        same = pc.equal(pc.strftime(column, "%Y%m%d"), cells)
    else:
        same = pc.is_in(cells, pa.array(list("TtYyFfNn")))
    return pc.if_else(same, column, None)


def _opened(path: Path, name: str, layer: str | None) -> Shapefile:
    if not any(path.with_suffix(ending).exists() for ending in (".shx", ".SHX")):
        raise DataError(f"{name} is one of a Shapefile's files: zip its .shp, .shx, .dbf and .prj")
    return Shapefile(path, name, layer)


FORMATS = (format_of_points("Shapefile", ".shp", _opened),)
