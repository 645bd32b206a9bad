"""A scene of streets or moves as a picture file: its lines, polygons and dots as on the map."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpviz.render.picture import THEME, Panel, Size, Words, sheet
from dpviz.render.projection import world
from dpviz.render.scene import Mark, Scene
from dpviz.trees.lattice import Float

SHAPES = {"PathLayer": "path", "SolidPolygonLayer": "polygon"}
"""Layers that a picture draws, with their columns of corners."""

PLAIN = ("grid", "moves.halo")
"""Marks of a release without a tooltip; other marks without one are of the ground."""


def scene_png(scene: Scene, label: str, status: str, words: Words, size: Size = "screen") -> bytes:
    """A scene with a legend and a domain as PNG.

    Args:
        scene: marks of a release in degrees, with a legend.
        size: see :data:`~dpviz.render.picture.SIZES`.
    """
    assert scene.legend is not None
    assert scene.domain is not None
    release_marks = [mark for mark in scene.marks if mark.rows or mark.id in PLAIN]
    ground = [mark for mark in scene.marks if not mark.rows and mark.id not in PLAIN]
    content = partial(_draw_marks, release_marks)
    panel = Panel(label, status, scene.domain, content, ground)
    return sheet([panel], scene.legend, words, size)


def _draw_marks(marks: list[Mark], axes: Any, _zoom: float, unit: float) -> None:
    """Draw marks in their order, in Web Mercator world units."""
    from matplotlib.collections import LineCollection, PolyCollection

    for mark in marks:
        shapes = _shapes(mark, SHAPES[mark.layer.type])
        if mark.layer.type == "SolidPolygonLayer":
            fills = _colors(mark, "getFillColor", len(shapes))
            drawn: Any = PolyCollection(shapes, facecolors=fills, edgecolors="none", zorder=2)
        else:
            lines = _colors(mark, "getColor", len(shapes))
            widths = 0.72 * unit * _values(mark, "getWidth", len(shapes))
            drawn = LineCollection(
                shapes, colors=lines, linewidths=widths, capstyle="round", zorder=2
            )
        axes.add_collection(drawn)


def _shapes(mark: Mark, column: str) -> list[Float]:
    return [world(np.array(each)) for each in mark.table[column].to_pylist()]


def _values(mark: Mark, accessor: str, many: int) -> Any:
    """A constant of the layer, or the first value along each object, (many, …)."""
    column = mark.bind.get(accessor)
    if column is None:
        snake = "".join(f"_{each.lower()}" if each.isupper() else each for each in accessor)
        constant = np.asarray(getattr(mark.layer, snake), dtype=np.float64)
        return np.broadcast_to(constant, (many, *constant.shape))
    return np.array([each[0] for each in mark.table[column].to_pylist()], dtype=np.float64)


def _colors(mark: Mark, accessor: str, many: int) -> Float:
    dark = f"{accessor}Dark" if THEME == "dark" else accessor
    return np.asarray(_values(mark, dark, many) / 255)
