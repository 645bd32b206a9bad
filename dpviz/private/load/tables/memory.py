"""Tables in memory (pandas, geopandas, polars, pyarrow), with their declared types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.lazy import pa
from dpviz.private.load.columns import plain
from dpviz.private.load.tables.base import (
    BLOCK_ROWS,
    Block,
    Column,
    Kind,
    Table,
    kind_of,
    parsing,
    refuse_other_types,
)
from dpviz.private.load.tables.geometry import Geometry, declared_geometries, typed_columns
from dpviz.private.load.values import numbers


class MemoryTable(Table):
    """Data frame; in a column of Python objects or categories each cell has its own type."""

    def __init__(self, frame: Any, name: str) -> None:
        self.name = name
        self._rows = len(frame)
        with parsing(name, "a table"):
            if hasattr(frame, "get_columns"):  # polars
                frame = frame.to_arrow()
            if not (isinstance(frame, pa.Table) or hasattr(frame, "loc")):
                raise DataError("give a pandas, geopandas or polars data frame, or a pyarrow table")
            names = [str(each) for each in getattr(frame, "column_names", frame.columns)]
            if len(set(names)) < len(names):
                raise DataError("the table has two columns of one name: give them distinct names")
            if isinstance(frame, pa.Table):
                self._columns = dict(zip(names, map(plain, frame.columns), strict=True))
                declared = declared_geometries(frame.schema, frame.schema.metadata)
                self.columns = typed_columns(frame.schema, declared)
            else:
                every = [frame.iloc[:, at] for at in range(len(names))]
                self._columns = dict(zip(names, map(_cells, every), strict=True))
                declared = _geometries(frame)
                kinds: dict[str, Kind] = {each.name: "other" for each in declared}
                kinds.update({each.name: "geometry" for each in declared[:1]})
                cells = self._columns.items()
                self.columns = [Column(name, kinds.get(name) or _kind(of)) for name, of in cells]
        self._geometry = declared[0] if declared else None
        self.crs = self._geometry.crs if self._geometry else None

    def _blocks(self, names: Sequence[str], geometry: bool) -> Iterator[Block]:
        """Yield the rows in blocks."""
        place = self._geometry if geometry else None
        if place is not None:
            refuse_other_types(self.name, {*place.others})
        for start in range(0, max(self._rows, 1), BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self._rows))
            columns = {name: self._columns[name][rows] for name in names}
            places = place.points(self._columns[place.name][rows]) if place else None
            yield Block(rows.stop - rows.start, columns, places)


def array_points(points: Any, domain: Domain) -> NDArray[np.float64]:
    """Coordinates (n, dims) of rows in memory; NaN for cells that are not numbers.

    A row of another length than ``dims`` gives NaN: stability 1.

    Raises:
        DataError: no rows of numbers, or all of another length; the number of rows is private.
    """
    dims, remedy = domain.dims, f"give a number for each of {', '.join(domain.columns)}"
    with parsing("points", "an array"):
        if isinstance(points, np.ma.MaskedArray):
            points = np.ma.filled(points.astype(np.float64), np.nan)
        if isinstance(points, (list, tuple)):  # NumPy would infer one type from all cells
            listed = [_row(each) for each in points]
            if listed and all(len(cells) != dims for cells in listed):
                raise DataError(f"points are not rows of {dims} numbers: {remedy}")
            whole = [cells if len(cells) == dims else [None] * dims for cells in listed]
            columns = [[cells[axis] for cells in whole] for axis in range(dims)]
        else:
            rows = np.asarray(points)
            rows = rows.reshape(0, dims) if rows.shape == (0,) else rows
            if rows.ndim != 2 or rows.shape[1] != dims:
                raise DataError(f"points are not rows of {dims} numbers: {remedy}")
            if rows.dtype.kind in "iuf":
                return rows.astype(np.float64, copy=False)
            if rows.dtype.kind not in "OUS":
                raise DataError(f"points are of type {rows.dtype}: {remedy}")
            columns = rows.T.tolist()
        return np.stack([numbers(cells, "points") for cells in columns]).T


def _row(row: Any) -> list[Any]:
    """Cells of a row; empty if it is not a row."""
    with suppress(TypeError):
        return list(row)
    return []


def _geometries(frame: Any) -> list[Geometry]:
    """Geometry columns of a geopandas frame; the first is the one to read."""
    active = getattr(frame, "_geometry_column_name", None)
    every = [name for name in frame.columns if str(frame[name].dtype) == "geometry"]
    every.sort(key=lambda name: bool(name != active))
    crs = [frame[name].crs for name in every]
    return [
        Geometry(str(name), None if each is None else str(each.to_wkt()))
        for name, each in zip(every, crs, strict=True)
    ]


def _kind(cells: Any) -> Kind:
    """Kind of a column; ``string`` counts as ``text``, since pandas infers it from the cells."""
    kind = "text" if isinstance(cells, list) else kind_of(cells.type)
    return "text" if kind == "string" else kind


def _cells(series: Any) -> Any:
    """Cells of a pandas series, with its declared type or as Python objects; geometry as WKB.

    In a column of Python objects one cell can make a typed conversion fail, which must not affect
    other cells. The type of categories depends on all of them, so that each cell is read
    separately.
    """
    kind = str(series.dtype)
    if kind == "geometry":
        wkb = np.asarray(series.to_wkb(include_srid=True), dtype=object)
        return pa.array(wkb, pa.large_binary())
    if kind == "category":
        categories = series.cat.categories.to_list()
        return [categories[code] if code >= 0 else None for code in series.cat.codes.to_list()]
    if kind != "object":
        with suppress(Exception):
            return pa.Array.from_pandas(series)
    return series.to_list()
