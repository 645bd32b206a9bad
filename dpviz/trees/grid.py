"""Grids as trees: blocks of cells halved until they are single, and the breadth-first order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpviz.progress import checkpoint
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int, positions_within


def grid_tree(edges: list[Int], count: Float, variance: Float) -> Decomposition:
    """A grid as a tree: blocks of cells are halved along every axis until they are single cells.

    The inner nodes are sums of their cells, so that large rectangles use few nodes.

    Args:
        edges: per axis, ascending lattice lines from 0 to ``side``.
        count: estimates of the cells, shape (len(edges[0]) − 1, …).
        variance: their variances, of the same shape.
    """
    dims = len(edges)
    low, high, parent, _ = halved_blocks(
        np.zeros((1, dims), dtype=np.int64), np.array([[len(line) - 1 for line in edges]])
    )
    single = (high - low == 1).all(axis=1)
    cell = tuple(low[single].T)
    counts, variances = np.zeros(len(parent)), np.zeros(len(parent))
    counts[single], variances[single] = count[cell], variance[cell]
    box_lo = np.stack([edges[axis][low[:, axis]] for axis in range(dims)], axis=1)
    box_hi = np.stack([edges[axis][high[:, axis]] for axis in range(dims)], axis=1)
    return Decomposition(box_lo, box_hi, parent, sum_up(parent, counts), sum_up(parent, variances))


def halved_blocks(low: Int, high: Int) -> tuple[Int, Int, Int, Int]:
    """Blocks of grid cells, halved along every axis until they are single cells.

    Returns ``low`` and ``high`` of all blocks, breadth-first parents (−1 for the roots), and the
    row of the root that each block stems from.

    Args:
        low: first cells of k root blocks, int64 of shape (k, d).
        high: cells after their last.
    """
    root = np.arange(len(low))
    levels = [(low, high, np.full(len(low), -1, dtype=np.int64), root)]
    start = 0
    while True:
        checkpoint()
        open_rows = np.flatnonzero((high - low > 1).any(axis=1))
        if not len(open_rows):
            break
        above = start + open_rows
        start += len(low)
        low, high, root = low[open_rows], high[open_rows], root[open_rows]
        tags = np.stack([above, root], axis=1)
        for axis in range(low.shape[1]):
            low, high, tags = _halve(low, high, tags, axis)
        above, root = tags.T
        levels.append((low, high, above, root))
    lows, highs, parents, roots = map(np.concatenate, zip(*levels, strict=True))
    return lows, highs, parents, roots


def breadth_first(parent: ArrayLike) -> Int:
    """The order that lists nodes breadth-first, siblings together and in their given order.

    ``parent``: parent of each node in any order, −1 for roots.
    """
    parent = np.asarray(parent, dtype=np.int64)
    by_parent = np.argsort(parent, kind="stable")
    sizes = np.bincount(parent + 1, minlength=len(parent) + 1)
    first = np.cumsum(sizes) - sizes
    frontier = by_parent[: sizes[0]]
    order = []
    while len(frontier):
        order.append(frontier)
        many = sizes[frontier + 1]
        frontier = by_parent[np.repeat(first[frontier + 1], many) + positions_within(many)]
    return np.concatenate(order)


def renumbered(parent: ArrayLike, order: Int) -> Int:
    """The parent column after the nodes were put into ``order``."""
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(order)), -1
    return place[np.asarray(parent, dtype=np.int64)[order]]


def _halve(low: Int, high: Int, tags: Int, axis: int) -> tuple[Int, Int, Int]:
    """Each block in two along an axis, where it is longer than one cell; siblings stay together."""
    middle = (low[:, axis] + high[:, axis]) // 2
    copies = np.where(high[:, axis] - low[:, axis] > 1, 2, 1)
    rows = np.repeat(np.arange(len(low)), copies)
    second = np.zeros(len(rows), dtype=np.bool_)
    second[1:] = rows[1:] == rows[:-1]
    first = (copies[rows] == 2) & ~second
    low, high, middle = low[rows].copy(), high[rows].copy(), middle[rows]
    high[first, axis] = middle[first]
    low[second, axis] = middle[second]
    return low, high, tags[rows]


def rectangle_tree(corners: Int, parents: Int) -> tuple[Int, Int] | None:
    """Distinct rectangles of several trees (k, 4) and the parent of each, as one tree.

    Breadth-first; None where they are no tree: where those of one area have several shapes, so that
    some may cross, or where children leave gaps.

    Args:
        corners: lower, then upper corners of all rectangles, (n, 4).
        parents: the row of the parent of each, −1 for roots.
    """
    rectangles, first, which = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    above = np.append(which.ravel(), -1)
    # The first node with a rectangle has a parent whose rectangle differs.
    parent = above[parents[first]]
    sides = rectangles[:, 2:] - rectangles[:, :2]
    shapes = np.unique(sides, axis=0)
    chain = shapes[np.argsort(shapes.prod(axis=1), kind="stable")]
    aligned = not (rectangles[:, :2] % sides).any() and not (sides & (sides - 1)).any()
    if not aligned or (np.diff(chain, axis=0) < 0).any() or (parent < 0).sum() != 1:
        return None
    area = sides.prod(axis=1)
    inside = np.bincount(parent[parent >= 0], area[parent >= 0], minlength=len(area))
    if ((inside > 0) & (inside != area)).any():
        return None
    order = breadth_first(parent)
    return rectangles[order], renumbered(parent, order)
