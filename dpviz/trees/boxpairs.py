"""Pairs of lattice boxes that lie near each other, by shapely's R-tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.lazy import shapely
from dpviz.trees.lattice import Float, Int, morton

METRICS = ("max", "euclidean")
"""Distances of two records, every axis in units of its own distance: the largest of the
axes' differences, or the root of the sum of their squares."""

ROWS = 1 << 10
"""Boxes per query of the R-tree: bounds the memory."""


def near_pairs(
    lo: Int, hi: Int, lo2: Int, hi2: Int, steps: ArrayLike, metric: str = "max"
) -> Iterator[tuple[Int, Int]]:
    """Pairs of boxes that may hold two records within a distance of each other.

    A box [lo, hi) holds its lower faces and not its upper ones, so that boxes with a gap g along an
    axis hold records nearer than any distance above g, never at g itself. With "max" a pair is left
    where along every axis the gap is under ``steps``; with "euclidean" where moreover the root of
    the sum of (gap / steps)² is under 1. No pair that may hold a match is lost.

    Yields rows of the first and of the second side, int64 of equal length.

    Args:
        lo: lower corners of the one side's boxes, int64 of shape (n, d).
        hi: their upper corners, exclusive.
        lo2: lower corners of the other side's, int64 of shape (m, d).
        steps: the distance along each axis in lattice steps, not negative; at 0 the boxes must
            share a coordinate.
        metric: one of ``METRICS``.
    """
    if not (len(lo) and len(lo2)):
        return
    reach = np.broadcast_to(np.asarray(steps, dtype=np.float64), lo.shape[1:])
    margin = np.ceil(reach)
    tree = shapely.STRtree(_plane(lo2, hi2))
    order = np.argsort(morton((lo + hi) >> 1), kind="stable")
    for start in range(0, len(lo), ROWS):
        rows = order[start : start + ROWS]
        at, rows2 = tree.query(_plane(lo[rows] - margin, hi[rows] + margin))
        rows = rows[at]
        near = _near((lo, hi), (lo2, hi2), rows, rows2, reach, metric)
        yield rows[near], rows2[near]


def _plane(lo: Int | Float, hi: Int | Float) -> NDArray[Any]:
    """Boxes over the first two axes."""
    y = (lo[:, 1], hi[:, 1]) if lo.shape[1] > 1 else (0.0, 1.0)
    return np.asarray(shapely.box(lo[:, 0], y[0], hi[:, 0], y[1]))


def _near(
    a: tuple[Int, Int], b: tuple[Int, Int], rows: Int, rows2: Int, steps: Float, metric: str
) -> Int:
    """Indices of the pairs of boxes that may hold two records within the distance."""
    left = np.arange(len(rows))
    square = np.zeros(len(rows))
    for axis, step in enumerate(steps.tolist()):
        first, second = rows[left], rows2[left]
        gap = np.maximum(
            b[0][second, axis] - a[1][first, axis], a[0][first, axis] - b[1][second, axis]
        )
        near = gap < np.ceil(step)
        if metric == "euclidean" and step > 0:
            square = square + (np.maximum(gap, 0) / step) ** 2
            near &= square < 1
        left, square = left[near], square[near]
    return left
