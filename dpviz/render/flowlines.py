"""Shapes of movement over cells: curved arrows, and lines through the cells of a path.

All of it is worked out in sides of a cell, so that arrows look alike in every direction, and handed
back in degrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dpviz.trees.lattice import Float, Int

GAP, BEND, BENDS = 0.28, 0.2, 14
"""Gap between an arrow and the centres, in sides of a cell; its bend to the right, which leaves
room for the way back, as a share of its length; number of points along it."""

HEAD = 0.24
"""Length of the arrow's head at the end of a path, in sides of a cell."""


def path_line(places: Float, string: Sequence[int], rank: int) -> Float:
    """A line that leans to the right on every step, shifted a little by its rank, (k, 2).

    It drifts aside as it goes, so that the way there, the way back and the way there again differ.
    """
    middle, side = centres(places), cell_side(places)
    turn = rank * 2.399963  # the golden angle: neighbours in the ranking lie apart
    shift = 0.2 * np.array([np.cos(turn), np.sin(turn)])
    curves = [_curve(one / side, other / side) for one, other in pairwise(middle[list(string)])]
    line = np.vstack([*(curve[:-1] for curve in curves), curves[-1][-1:]])
    drift = np.linspace(-0.06, 0.06, len(line))[:, None] * np.array([0.6, 1.0])
    return np.asarray((line + shift + drift) * side)


def head(before: Float, stop: Float, side: Float) -> Float:
    """An arrow's head at the end of a line that comes from a point, a closed ring (4, 2)."""
    stop, before = stop / side, before / side
    along = (stop - before) / max(float(np.hypot(*(stop - before))), 1e-9)
    across = np.array([-along[1], along[0]])
    tip, wing = stop + HEAD * along, 2 / 3 * HEAD * across
    return np.array([tip, stop + wing, stop - wing, tip]) * side


def arrows(places: Float, source: Int, target: Int, width: Float) -> list[Float]:
    """Curved arrows between centres of cells as closed rings, each (k, 2) in degrees.

    ``source`` and ``target`` are rows of ``places``; ``width`` is that of the shafts in sides of a
    cell; (m,) each.
    """
    side = cell_side(places)
    middle = centres(places) / side  # in cells, so that arrows look alike in every direction
    return [
        _arrow(one, other, wide) * side
        for one, other, wide in zip(middle[source], middle[target], width.tolist(), strict=True)
    ]


def _arrow(start: Float, stop: Float, width: float) -> Float:
    across = stop - start
    length = max(float(np.hypot(*across)), 1e-9)
    along = across / length
    right = np.array([along[1], -along[0]])
    head = min(0.07 + 1.2 * width, 0.5 * length)
    curve = _curve(start, stop) + 0.08 * right
    run = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(curve, axis=0).T))])
    gap = min(GAP, 0.24 * length)
    wanted = np.linspace(gap, run[-1] - gap - head, BENDS)
    shaft = np.column_stack([np.interp(wanted, run, curve[:, axis]) for axis in range(2)])
    tip = np.array([np.interp(run[-1] - gap, run, curve[:, axis]) for axis in range(2)])
    way = np.gradient(shaft, axis=0)
    way /= np.maximum(np.hypot(*way.T)[:, None], 1e-12)
    normal = np.column_stack([way[:, 1], -way[:, 0]])
    # A shaft that widens towards its head shows the direction even if the head is tiny.
    half = (width / 2 * np.linspace(0.45, 1.0, BENDS))[:, None]
    wing = (0.03 + 0.8 * width) * normal[-1]
    return np.vstack(
        [
            shaft + half * normal,
            shaft[-1] + wing,
            tip,
            shaft[-1] - wing,
            (shaft - half * normal)[::-1],
            shaft[0] + half[0] * normal[0],
        ]
    )


def _curve(start: Float, stop: Float) -> Float:
    """A line that leans to the right of its way, (BENDS, 2)."""
    across = stop - start
    control = (start + stop) / 2 + BEND * np.array([across[1], -across[0]])
    share = np.linspace(0.0, 1.0, BENDS)[:, None]
    return np.asarray(
        (1 - share) ** 2 * start + 2 * share * (1 - share) * control + share**2 * stop
    )


def discs(places: Float, rows: Int, radius: Float) -> list[Float]:
    """Circles around the middles of some boxes as closed rings, each (k, 2) in degrees.

    ``radius`` is that of each, (m,), in the shorter side of a cell.
    """
    middle, (across, up) = centres(places)[rows], cell_side(places)
    shrink = np.cos(np.radians(middle[:, 1]))  # of a degree of longitude
    size = radius * np.minimum(across * shrink, up)  # in degrees of latitude
    turn = np.linspace(0.0, 2 * np.pi, 33)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    radii = np.column_stack([size / shrink, size])
    return list(middle[:, None] + circle * radii[:, None])


def centres(places: Float) -> Float:
    """Middles of boxes, (n, 2)."""
    return np.asarray((places[:, :2] + places[:, 2:]) / 2)


def cell_side(places: Float) -> Float:
    """Width and height of the cells in degrees, (2,): the median, where they differ."""
    return np.asarray(np.median(places[:, 2:] - places[:, :2], axis=0))
