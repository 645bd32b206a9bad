"""Cells of kd-trees, with their records sorted along every axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.methods.points.levels import geometric_weights, measured_levels
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.medians import CellColumn
from dpviz.private.mechanisms.noise import Noise
from dpviz.progress import checkpoint
from dpviz.trees.consistency import least_squares, prune
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

Cutter = Callable[["KdCells", int, NDArray[np.bool_], int], Int]
"""Cuts of the chosen cells along an axis: (cells, axis, chosen, binary level) → int64."""

RANK = "disjoint nodes, sensitivity 1 of a rank"
"""Theorem in the budget: one share covers the exponential medians of a round."""


class KdCells:
    """Disjoint boxes and the records in them, sorted along each axis inside each box.

    Args:
        columns: one coordinate of every place each, int64 of shape (m,).
        weights: records at each place.
        side: exclusive upper limit of every coordinate.
    """

    def __init__(self, columns: list[Int], weights: Int, side: int) -> None:
        kind = np.int32 if side < 2**31 else np.int64
        self.columns = [column.astype(kind) for column in columns]
        self.weights = weights
        self.lo = np.zeros((1, len(columns)), dtype=np.int64)
        self.hi = np.full((1, len(columns)), side, dtype=np.int64)
        self.starts: Int = np.array([0, len(weights)], dtype=np.int64)
        self._orders = [
            np.argsort(column, kind="stable").astype(np.int32) for column in self.columns
        ]

    @classmethod
    def of(cls, index: PointIndex) -> KdCells:
        """The whole domain as one box."""
        cells = index.cells
        return cls(
            [cells[:, axis] for axis in range(cells.shape[1])], index.weights, index.domain.side
        )

    def __len__(self) -> int:
        return len(self.lo)

    def counts(self) -> Int:
        """Exact counts of the boxes: private."""
        return np.diff(np.concatenate([[0], np.cumsum(self.weights[self._orders[0]])])[self.starts])

    def column(self, axis: int, chosen: NDArray[np.bool_]) -> CellColumn:
        """One coordinate of the records in the chosen boxes."""
        order, starts, sizes = self._orders[axis], self.starts, np.diff(self.starts)
        if not chosen.all():
            order = order[np.repeat(chosen, sizes)]
            starts = np.concatenate([[0], np.cumsum(sizes[chosen])])
        values = self.columns[axis][order].astype(np.int64)
        lo, hi = self.lo[chosen, axis], self.hi[chosen, axis]
        return CellColumn(values, self.weights[order], starts, lo, hi)

    def split(self, axis: int, chosen: NDArray[np.bool_], cuts: Int) -> Int:
        """Cut the chosen boxes in two along an axis; returns the old row of each new box."""
        sizes = np.diff(self.starts)
        cut = self.hi[:, axis].copy()
        cut[chosen] = cuts
        rights = np.zeros(len(self), dtype=np.int64)
        for at, order in enumerate(self._orders):
            checkpoint()
            right = self.columns[axis][order] >= np.repeat(cut, sizes)
            if at == 0:
                rights = np.diff(np.concatenate([[0], np.cumsum(right)])[self.starts])
            if at != axis:  # along this axis the halves are already in order
                children = np.stack([sizes - rights, rights], axis=1).ravel()
                second = np.repeat(np.tile([False, True], len(sizes)), children)
                moved = np.empty_like(order)
                moved[~second], moved[second] = order[~right], order[right]
                self._orders[at] = moved
        parents = np.repeat(np.arange(len(self)), 2)
        second = np.tile([False, True], len(self))
        present = ~second | chosen[parents]
        parents, second = parents[present], second[present]
        children = np.where(second, rights[parents], (sizes - rights)[parents])
        self.starts = np.concatenate([[0], np.cumsum(children)])
        self.lo, self.hi = self.lo[parents], self.hi[parents]
        self.lo[second, axis] = cut[parents[second]]
        first = ~second
        self.hi[first, axis] = cut[parents[first]]
        return parents

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Keep the chosen boxes and their records; drop all others."""
        if chosen.all():
            return
        sizes = np.diff(self.starts)
        retained = np.repeat(chosen, sizes)
        self._orders = [order[retained] for order in self._orders]
        self.starts = np.concatenate([[0], np.cumsum(sizes[chosen])])
        self.lo, self.hi = self.lo[chosen], self.hi[chosen]


@dataclass(frozen=True)
class BoxTree:
    """A grown tree: breadth-first boxes and parents, and the exact counts level by level."""

    lo: Int
    hi: Int
    parent: Int
    exact: list[Int]

    def decomposition(self, count: Float, variance: Float) -> Decomposition:
        """The tree with these estimates."""
        return Decomposition(self.lo, self.hi, self.parent, count, variance)


def grow(cells: KdCells, height: int, flatten: int, cutter: Cutter) -> BoxTree:
    """A tree of ``height`` levels, each of ``flatten`` rounds of cuts along the axes in turn.

    A box of one lattice step along an axis is not cut along it (public); a box that no round of a
    level could cut is a leaf.
    """
    lows, highs, exact = [cells.lo], [cells.hi], [cells.counts()]
    parents = [np.full(1, -1, dtype=np.int64)]
    rows: Int = np.zeros(1, dtype=np.int64)  # rows of the undivided boxes in the tree
    total = 1
    for level in range(height):
        origin = np.arange(len(cells))
        for step in range(flatten):
            checkpoint()
            rounds = level * flatten + step
            axis = rounds % cells.lo.shape[1]
            side = cells.hi[:, axis] - cells.lo[:, axis]
            chosen = side >= 2
            if chosen.any():
                cuts = cutter(cells, axis, chosen, rounds)
                origin = origin[cells.split(axis, chosen, cuts)]
        divided = np.bincount(origin, minlength=len(rows))[origin] > 1
        cells.keep(divided)
        if not len(cells):
            break
        parents.append(rows[origin[divided]])
        lows.append(cells.lo)
        highs.append(cells.hi)
        exact.append(cells.counts())
        rows = total + np.arange(len(cells))
        total += len(cells)
    return BoxTree(np.concatenate(lows), np.concatenate(highs), np.concatenate(parents), exact)


def halves(cells: KdCells, axis: int, chosen: NDArray[np.bool_], _rounds: int) -> Int:
    """Cut in the middle, as in a quadtree, without reading the records."""
    return np.asarray((cells.lo[chosen, axis] + cells.hi[chosen, axis]) // 2)


def with_noisy_counts(
    tree: BoxTree, height: int, budget: Budget, noise: Noise, threshold: float
) -> Decomposition:
    """Spend the rest of the budget on counts: geometric shares, least squares, pruning.

    Shares are given to all ``height`` + 1 levels, whether the data fill them or not.
    """
    shares = budget.split(
        geometric_weights(height),
        [f"counts, level {depth}" for depth in range(height + 1)],
        mechanism="geometric",
        why=DISJOINT,
    )
    noisy, variance = measured_levels(noise, shares, tree.exact)
    return prune(tree.decomposition(*least_squares(tree.parent, noisy, variance)), threshold)
