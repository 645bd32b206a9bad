"""Private Hilbert R-trees: kd-trees over positions on a Hilbert curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.methods.points.base import DECOMPOSITIONS, PointMethod, parameter, register
from dpviz.methods.points.kd_cells import RANK, BoxTree, KdCells, grow, with_noisy_counts
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.medians import exponential_cuts
from dpviz.private.mechanisms.noise import Noise
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int, hilbert, unhilbert


@register
@dataclass(frozen=True, kw_only=True)
class HilbertRTree(PointMethod):
    """A one-dimensional kd-tree over Hilbert positions, with boxes around its intervals.

    G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial
    Decompositions. ICDE 2012, §3.3 and 8 (order 18); I. Kamel, C. Faloutsos: Hilbert R-tree. VLDB
    1994.

    Privacy: as for kd-trees, exponential-mechanism medians of disjoint intervals and noisy counts
    add up to ε along a path. Boxes bound the intervals between published cuts, never the records.

    Boxes of siblings overlap: a rectangle inside one may hold records that were counted in another,
    and the uniformity assumption spreads a count over its whole box.

    Do not use it for small or thin rectangles: the paper finds much higher errors there.

    >>> from dpviz.methods import method
    >>> method("hilbert_rtree").order
    18
    """

    name: ClassVar[str] = "hilbert_rtree"
    title: ClassVar[str] = "Hilbert R-tree"
    paper: ClassVar[str] = DECOMPOSITIONS
    dims: ClassVar[tuple[int, ...]] = (2,)
    overlapping: ClassVar[bool] = True
    tiny: ClassVar[dict[str, object]] = {"height": 2, "order": 6}
    advice: ClassVar[str] = "Small or thin rectangles; more than two dimensions."

    height: int = parameter(8, "Levels below the root", 1, 10)
    order: int = parameter(18, "Order of the curve: 2^order cells per side", 1, 26)
    median_share: float = parameter(0.3, "Share of ε for medians", 0.05, 0.95)
    flatten: int = parameter(2, "Rounds of cuts per level: fanout 2^rounds", 1, 4)
    prune: float = parameter(
        32, "Drop the descendants of nodes with an estimate below this", 0, 1e6
    )

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        shift = index.domain.bits - self.order
        positions = hilbert(index.cells >> shift, self.order).astype(np.int64)
        rounds = self.height * self.flatten
        shares = [
            budget.spend(
                self.median_share * budget.epsilon / rounds,
                f"medians, round {at + 1}",
                mechanism="exponential mechanism",
                why=RANK,
            )
            for at in range(rounds)
        ]

        def cutter(cells: KdCells, axis: int, chosen: NDArray[np.bool_], at: int) -> Int:
            return exponential_cuts(noise, shares[at], cells.column(axis, chosen))

        cells = KdCells([positions], index.weights, 1 << (2 * self.order))
        intervals = grow(cells, self.height, self.flatten, cutter)
        lo, hi = interval_boxes(intervals.lo[:, 0], intervals.hi[:, 0], self.order)
        tree = BoxTree(lo << shift, hi << shift, intervals.parent, intervals.exact)
        return with_noisy_counts(tree, self.height, budget, noise, self.prune)


def interval_boxes(start: Int, stop: Int, order: int) -> tuple[Int, Int]:
    """Bounding boxes of intervals [start, stop) of the plane's Hilbert curve.

    An interval is a few whole blocks of 4^k positions per k, from both ends inwards; each one a
    square.

    Returns first cells and cells after the last, int64 of shape (n, 2).

    Args:
        start: first positions, int64 of shape (n,).
        stop: positions after the last.
    """
    low = np.full((len(start), 2), 1 << order, dtype=np.int64)
    high = np.zeros((len(start), 2), dtype=np.int64)
    start, stop = start.copy(), stop.copy()
    for k in range(order + 1):
        for _ in range(3):
            for end, step in ((start, 1), (stop, -1)):
                rows = np.flatnonzero((start < stop) & (end & 3 != 0))
                if len(rows) == 0:
                    continue
                block = end[rows] - (step < 0)
                corner = unhilbert(block, order - k, 2) << k
                low[rows] = np.minimum(low[rows], corner)
                high[rows] = np.maximum(high[rows], corner + (1 << k))
                end[rows] += step
        start, stop = start >> 2, np.maximum(stop >> 2, start >> 2)
    whole = np.flatnonzero(start < stop)  # the only interval left is the whole curve
    low[whole], high[whole] = 0, 1 << order
    return low, high
