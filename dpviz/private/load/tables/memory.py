"""Tables in memory: pandas, geopandas, polars and pyarrow, with the types that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
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
    Table,
    kind_of,
    parsing,
    point_coordinates,
)
from dpviz.private.load.values import numbers, typed


class MemoryTable(Table):
    """A data frame: a column of Python objects, or of categories, has a type for each cell."""

    def __init__(self, frame: Any, name: str) -> None:
        self.name = name
        self._rows = len(frame)
        with parsing(name, "a table"):
            self._columns, self._wkb = _columns(frame)
            if self._wkb is not None:
                self.crs = None if frame.crs is None else str(frame.crs.to_wkt())
        named = [
            Column(name, "text" if isinstance(cells, list) else kind_of(cells.type))
            for name, cells in self._columns.items()
        ]
        self.columns = [*named, *([] if self._wkb is None else [Column("geometry", "geometry")])]

    def _blocks(
        self, names: Sequence[str], numeric: Sequence[str], geometry: bool
    ) -> Iterator[Block]:
        """The rows, in blocks."""
        for start in range(0, max(self._rows, 1), BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self._rows))
            columns = {name: self._columns[name][rows] for name in names}
            places = point_coordinates(self._wkb[rows]) if geometry else None
            yield Block(rows.stop - rows.start, typed(columns, numeric), places)


def array_points(points: Any, domain: Domain) -> NDArray[np.float64]:
    """Coordinates (n, dims) of rows in memory, stability 1: a cell that is no number, and a row
    among others that is of another length, are NaN.

    Raises:
        DataError: no rows of numbers, or all of another length; how many there are is private.
    """
    dims, remedy = domain.dims, f"give a number for each of {', '.join(domain.columns)}"
    with parsing("points", "an array"):
        if isinstance(points, np.ma.MaskedArray):
            points = np.ma.filled(points.astype(np.float64), np.nan)
        if isinstance(points, (list, tuple)):  # of which one cell would decide the type of all
            listed = [_row(each) for each in points]
            if listed and all(len(cells) != dims for cells in listed):
                raise DataError(f"points are no rows of {dims} numbers: {remedy}")
            whole = [cells if len(cells) == dims else [None] * dims for cells in listed]
            columns = [[cells[axis] for cells in whole] for axis in range(dims)]
        else:
            rows = np.asarray(points)
            rows = rows.reshape(0, dims) if rows.shape == (0,) else rows
            if rows.ndim != 2 or rows.shape[1] != dims:
                raise DataError(f"points are no rows of {dims} numbers: {remedy}")
            if rows.dtype.kind in "iuf":
                return rows.astype(np.float64, copy=False)
            if rows.dtype.kind not in "OUS":
                raise DataError(f"points are of type {rows.dtype}: {remedy}")
            columns = rows.T.tolist()
        return np.stack([numbers(cells, "points") for cells in columns]).T


def _row(row: Any) -> list[Any]:
    """The cells of a row; none where it is no row."""
    with suppress(TypeError):
        return list(row)
    return []


def is_frame(value: Any) -> bool:
    """Whether a value is a table in memory, by its looks: none of these libraries is imported."""
    return hasattr(value, "columns") and hasattr(value, "shape")


def _columns(frame: Any) -> tuple[dict[str, Any], Any]:
    """Columns as pyarrow arrays, or lists of Python values; and the places as WKB, if any."""
    polars = hasattr(frame, "get_columns")
    if not (isinstance(frame, pa.Table) or polars or hasattr(frame, "loc")):
        raise DataError("give a pandas, geopandas or polars data frame, or a pyarrow table")
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    if len(set(map(str, names))) < len(names):
        raise DataError("the table has two columns of one name: give them distinct names")
    if isinstance(frame, pa.Table):
        return dict(zip(names, map(plain, frame.columns), strict=True)), None
    if polars:
        return {each.name: _cells(each, each.to_arrow) for each in frame.get_columns()}, None
    wkb = None
    place = getattr(frame, "_geometry_column_name", None)
    if place is not None and place in frame.columns:
        wkb = np.asarray(frame[place].to_wkb(), dtype=object)
    columns = {}
    for at, name in enumerate(names):
        if name != place or wkb is None:
            series = frame.iloc[:, at]
            columns[str(name)] = _cells(series, partial(pa.Array.from_pandas, series))
    return columns, wkb


def _cells(series: Any, declared: Callable[[], Any]) -> Any:
    """The cells of a pandas or polars series: as its type declares them, or each by itself.

    A type that holds cells of many types can be put down by one of them, which must not decide
    about the others. Categories have a type that follows from all of them, so each is read by
    itself, always.
    """
    if str(series.dtype) == "category":
        categories = series.cat.categories.to_list()
        return [categories[code] if code >= 0 else None for code in series.cat.codes.to_list()]
    if str(series.dtype) not in ("object", "geometry", "Object"):
        with suppress(Exception):
            return declared()
    return series.to_list()
