"""Pairs of lattice boxes that lie near each other: two packed R-trees descended side by side.

In place of a library's R-tree, which know two dimensions, or take one query at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from dpviz.trees.lattice import Float, Int, morton

METRICS = ("max", "euclidean")
"""Distances of two records, every axis in units of its own distance: the largest of the
axes' differences, or the root of the sum of their squares."""

FANOUT = 4
CHUNK = 1 << 16
"""Pairs of nodes opened at once: bounds the memory, whatever the number of pairs."""

Level = tuple[Int, Int]
"""Lower and upper corners of the boxes of a level, int64 of shape (d, n)."""


def near_pairs(
    lo: Int, hi: Int, lo2: Int, hi2: Int, steps: ArrayLike, metric: str = "max"
) -> Iterator[tuple[Int, Int]]:
    """Pairs of boxes that may hold two records within a distance of each other.

    A box [lo, hi) holds its lower faces and not its upper ones, so that boxes with a gap g along an
    axis hold records nearer than any distance above g, never at g itself. With "max" a pair is left
    where along every axis the gap is under ``steps``; with "euclidean" where moreover the root of
    the sum of (gap / steps)² is under 1. No pair that may hold a match is lost.

    Args:
        lo: lower corners of the one side's boxes, int64 of shape (n, d).
        hi: their upper corners, exclusive.
        lo2: lower corners of the other side's, int64 of shape (m, d).
        hi2: their upper corners, exclusive.
        steps: the distance along each axis in lattice steps, not negative; at 0 the boxes must
            share a coordinate.
        metric: one of ``METRICS``.

    Yields:
        Rows of the first and of the second side, int64 of equal length.
    """
    if not (len(lo) and len(lo2)):
        return
    reach = np.broadcast_to(np.asarray(steps, dtype=np.float64), lo.shape[1:])
    (order, levels), (order2, levels2) = _packed(lo, hi), _packed(lo2, hi2)
    root: Int = np.zeros(1, dtype=np.int64)
    stack = [(len(levels) - 1, len(levels2) - 1, root, root)]
    while stack:
        height, height2, rows, rows2 = stack.pop()
        near = _near(levels[height], levels2[height2], rows, rows2, reach, metric)
        rows, rows2 = rows[near], rows2[near]
        if height == height2 == 0:
            yield order[rows], order2[rows2]
            continue
        for start in range(0, len(rows), CHUNK):
            part, part2 = rows[start : start + CHUNK], rows2[start : start + CHUNK]
            down, down2 = height, height2
            if height >= height2:
                down, (part, part2) = height - 1, _opened(part, part2, levels[height - 1])
            if height2 >= height:
                down2, (part2, part) = height2 - 1, _opened(part2, part, levels2[height2 - 1])
            stack.append((down, down2, part, part2))


def _packed(lo: Int, hi: Int) -> tuple[Int, list[Level]]:
    """Boxes in Morton order of their centres, and the boxes around each four, up to one root."""
    order = np.argsort(morton((lo + hi) >> 1), kind="stable")
    low, high = np.ascontiguousarray(lo[order].T), np.ascontiguousarray(hi[order].T)
    levels = [(low, high)]
    while low.shape[1] > 1:
        starts = np.arange(0, low.shape[1], FANOUT)
        low, high = (
            np.minimum.reduceat(low, starts, axis=1),
            np.maximum.reduceat(high, starts, axis=1),
        )
        levels.append((low, high))
    return order, levels


def _opened(rows: Int, others: Int, below: Level) -> tuple[Int, Int]:
    """Each row's children, with the other side's row of each."""
    children = (rows[:, None] * FANOUT + np.arange(FANOUT)).ravel()
    there = children < below[0].shape[1]
    return children[there], np.repeat(others, FANOUT)[there]


def _near(a: Level, b: Level, rows: Int, rows2: Int, steps: Float, metric: str) -> Int:
    """Indices of the pairs of boxes that may hold two records within the distance."""
    left = np.arange(len(rows))
    square = np.zeros(len(rows))
    for axis, step in enumerate(steps.tolist()):
        first, second = rows[left], rows2[left]
        gap = np.maximum(
            b[0][axis][second] - a[1][axis][first], a[0][axis][first] - b[1][axis][second]
        )
        near = gap < np.ceil(step)
        if metric == "euclidean" and step > 0:
            square = square + (np.maximum(gap, 0) / step) ** 2
            near &= square < 1
        left, square = left[near], square[near]
    return left
