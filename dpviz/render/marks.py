"""Marks from plain arrays: points, paths, boxes and animated trips. Coordinates are degrees.

Colours are RGB or RGBA, 0–255: one for all, or one per object as an (n, 3) or (n, 4) array; both
may be :class:`~dpviz.render.colors.Themed`.
Widths and radii are pixels: one number, or one per object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pydeck
from numpy.typing import ArrayLike, NDArray

from dpviz.files.arrow import lists, numbers, tuples
from dpviz.render.colors import ACCENT, FRAME, TEXT, TIDE, Themed
from dpviz.render.projection import rings_of
from dpviz.render.scene import Mark, Row

NEGLIGIBLE = 0.01
"""Largest rounding error of a displayed count, in standard deviations of its noise: the last digit
of a count with its noise is worth at least five times as much."""

LINES = {
    "width_units": "pixels",
    "joint_rounded": True,
    "cap_rounded": True,
    "_path_type": "open",
}
"""Properties of lines."""

MIDDLE = TIDE.map(itemgetter(5))


def points(
    id: str,  # noqa: A002
    positions: ArrayLike,
    *,
    color: ArrayLike | Themed = ACCENT,
    radius: ArrayLike = 4.0,
    **options: Any,
) -> Mark:
    """Discs at positions, shape (n, 2)."""
    columns = {"position": _pairs(positions)}
    layer = _Layer(columns, {"getPosition": "position"}, {"radius_units": "pixels"})
    layer.paint("getFillColor", "color", color)
    layer.either("getRadius", "radius", _numbers(radius))
    return layer.mark("ScatterplotLayer", id, **options)


def paths(
    id: str,  # noqa: A002
    lines: Sequence[ArrayLike],
    *,
    color: ArrayLike | Themed = FRAME,
    width: ArrayLike = 1.5,
    themed: int = 0,
    **options: Any,
) -> Mark:
    """Lines, each of shape (k, 2) with k ≥ 2.

    ``themed`` (an opacity, 1–255) draws them in the colour of words, light or dark, instead of
    ``color``.
    """
    if themed:
        color = TEXT.faint(themed)
    layer = _Layer({"path": _lines(lines)}, {"getPath": "path"}, {**LINES}, lines)
    layer.paint("getColor", "color", color)
    layer.either("getWidth", "width", _numbers(width))
    return layer.mark("PathLayer", id, **options)


def boxes(id: str, bounds: ArrayLike, **options: Any) -> Mark:  # noqa: A002
    """Outlines of boxes, west, south, east, north, shape (n, 4); options as for :func:`paths`."""
    bounds = np.asarray(bounds, dtype=np.float64).reshape(-1, 4)
    return paths(id, list(rings_of(bounds)), **options)


def polygons(
    id: str,  # noqa: A002
    rings: Sequence[ArrayLike],
    *,
    color: ArrayLike | Themed = MIDDLE,
    **options: Any,
) -> Mark:
    """Filled simple polygons, each a closed ring of shape (k, 2)."""
    constants = {"filled": True, "_normalize": False}
    layer = _Layer({"polygon": _lines(rings)}, {"getPolygon": "polygon"}, constants, rings)
    layer.paint("getFillColor", "color", color)
    return layer.mark("SolidPolygonLayer", id, **options)


def trips(
    id: str,  # noqa: A002
    lines: Sequence[ArrayLike],
    times: Sequence[ArrayLike],
    *,
    color: ArrayLike | Themed = ACCENT,
    width: float = 3.0,
    trail: float = 1.0,
    **options: Any,
) -> Mark:
    """Animated lines with a time at each of their points; the scene's clock moves them.

    ``trail`` is how long a trip stays visible behind its head, in the unit of ``times``.
    """
    moments = numbers(_numbers(_joined(times, ())))
    columns = {"path": _lines(lines), "time": lists(moments, _lengths(times))}
    bind = {"getPath": "path", "getTimestamps": "time"}
    moving = {"get_width": width, "trail_length": trail, "current_time": 0, "fade_trail": True}
    layer = _Layer(columns, bind, LINES | moving, lines)
    layer.paint("getColor", "color", color)
    return layer.mark("TripsLayer", id, **options)


@dataclass(frozen=True)
class _Layer:
    """A layer in the making.

    Attributes:
        columns: by name, a row for each object.
        bind: the accessor that reads each column.
        constants: properties that are the same for all objects.
        lines: lines of objects that are lines or rings.
    """

    columns: dict[str, pa.Array]
    bind: dict[str, str]
    constants: dict[str, Any]
    lines: Sequence[ArrayLike] | None = None

    def paint(self, accessor: str, column: str, color: ArrayLike | Themed) -> None:
        """Colours; a second accessor, ending in ``Dark``, where dark pages have others."""
        one = color if not isinstance(color, Themed) else color.light
        self.either(accessor, column, _colors(one))
        if isinstance(color, Themed):
            self.either(f"{accessor}Dark", f"{column}_dark", _colors(color.dark))

    def either(self, accessor: str, column: str, values: NDArray[Any]) -> None:
        """A constant where there is one value for all, a column where there is one per object.

        deck.gl reads the colours and widths of a path by vertex, so these are repeated along it.
        """
        single = values.ndim == (1 if values.dtype == np.uint8 else 0)
        if single:
            snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in accessor)
            self.constants[snake] = values.tolist()
            return
        n = len(next(iter(self.columns.values())))
        if len(values) != n:
            raise ValueError(f"{len(values)} values of {column} for {n} objects: give one for each")
        self.bind[accessor] = column
        if self.lines is not None:
            values = np.repeat(values, _lengths(self.lines), axis=0)
        array = numbers(values) if values.ndim == 1 else tuples(values)
        self.columns[column] = array if self.lines is None else lists(array, _lengths(self.lines))

    def mark(
        self,
        kind: str,
        id: str,  # noqa: A002
        *,
        title: str = "",
        rows: Sequence[Row] = (),
        extra: Mapping[str, ArrayLike] | None = None,
        **layer: Any,
    ) -> Mark:
        """``extra`` columns serve the tooltip's rows; ``layer`` is any further deck.gl property."""
        properties = {"pickable": bool(rows), **self.constants, **layer}
        literal = {
            name: pydeck.types.String(value) if isinstance(value, str) else value
            for name, value in properties.items()
        }
        known, noise = extra or {}, {row.column: row.noise_sd for row in rows}
        more = {name: _column(each, known.get(noise.get(name, ""))) for name, each in known.items()}
        return Mark(
            layer=pydeck.Layer(kind, None, id=id, **literal),
            table=pa.table(self.columns | more),
            bind=self.bind,
            title=title,
            rows=rows,
        )


def count_column(count: ArrayLike, noise_sd: ArrayLike) -> pa.Array:
    """Counts that are shown beside their noise, both of shape (n,).

    A float32 has 24 bits: 123,456,827 would be 123,456,824. Usual counts have no need of more.
    """
    exact = np.asarray(count, dtype=np.float64)
    narrow = exact.astype(np.float32)
    enough = np.abs(narrow - exact) <= NEGLIGIBLE * np.asarray(noise_sd)
    return numbers(narrow if enough.all() else exact)


def _colors(color: ArrayLike) -> NDArray[np.uint8]:
    color = np.asarray(color, dtype=np.uint8)
    if color.shape[-1] == 3:
        opaque = np.full((*color.shape[:-1], 1), 255, dtype=np.uint8)
        color = np.concatenate([color, opaque], axis=-1)
    return color


def _numbers(values: ArrayLike) -> NDArray[np.float32]:
    return np.asarray(values, dtype=np.float32)


def _pairs(positions: ArrayLike) -> pa.Array:
    return tuples(np.asarray(positions, dtype=np.float64).reshape(-1, 2))


def _joined(lines: Sequence[ArrayLike], end: tuple[int, ...]) -> NDArray[Any]:
    """All lines, one after the other, of shape (n, *end)."""
    return np.concatenate([np.empty((0, *end)), *(np.reshape(each, (-1, *end)) for each in lines)])


def _lengths(lines: Sequence[ArrayLike]) -> list[int]:
    return [len(np.asarray(line)) for line in lines]


def _lines(lines: Sequence[ArrayLike]) -> pa.Array:
    return lists(_pairs(_joined(lines, (2,))), _lengths(lines))


def _column(values: ArrayLike, noise_sd: ArrayLike | None) -> pa.Array:
    """A row's words, a count with its noise, or a number that is shown with two digits."""
    values = np.asarray(values)
    if values.dtype.kind in "UOT":
        return numbers(values)
    return numbers(_numbers(values)) if noise_sd is None else count_column(values, noise_sd)
