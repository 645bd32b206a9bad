"""AG: a coarse grid, and in each of its cells a finer one where the noisy count is large."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpviz.methods.points.base import GRIDS, PointMethod, parameter, register
from dpviz.methods.points.grid_size import noisy_total, uniform_side
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.trees.consistency import combine, least_squares
from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.grid import breadth_first, halved_blocks, renumbered
from dpviz.trees.lattice import Float, Int, grid_edges


@register
@dataclass(frozen=True, kw_only=True)
class AdaptiveGrid(PointMethod):
    """A grid of m1 × m1 cells, each divided into m2 × m2 by its own noisy count.

    W. Qardaji, W. Yang, N. Li: Differentially Private Grids for Geospatial Data. ICDE 2013 (AG).

    Privacy: the first counts are disjoint and cost αε; every m2 depends on them only, also where
    all are halved until they fit a public cap; the second counts are disjoint and cost (1−α)ε:
    αε + (1−α)ε = ε. Inference inside a cell is post-processing: least squares, which for Laplace
    noise is the paper's N″ = (α²m2²N′ + (1−α)²Σu) / ((1−α)² + α²m2²). As m2, and so its weight,
    follows the same N′, totals of many cells are too high by up to ¾ of their stated deviation.

    Do not use it for more than two dimensions: its two constants are derived for the plane.

    >>> from dpviz.methods import method
    >>> grid = method("AG")
    >>> grid.first_side(1_000_000, 0.1), grid.second_side([-3.0, 0.0, 4000.0], 1.0).tolist()
    (25, [1, 1, 20])
    """

    name: ClassVar[str] = "agrid"
    title: ClassVar[str] = "Adaptive grid (AG)"
    paper: ClassVar[str] = GRIDS
    dims: ClassVar[tuple[int, ...]] = (2,)
    presets: ClassVar[dict[str, dict[str, object]]] = {"AG": {}}
    advice: ClassVar[str] = (
        "More than two dimensions; very small cells of interest in dense places."
    )

    alpha: float = parameter(0.5, "α: share of ε for the coarse grid", 0.05, 0.95)
    cells: int | None = parameter(
        None, "m1: coarse cells per side; from n and ε by default", 1, 2000, optional=True, log=True
    )
    n_public: int | None = parameter(
        None, "A public number of records; else 1 % of ε buys a noisy one", 1, 1e12, optional=True
    )

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        m1 = self.cells
        if m1 is None:
            m1 = self.first_side(noisy_total(index, budget, noise, self.n_public), budget.left)
        epsilon = budget.left
        edges = [grid_edges(index.domain.side, m1)] * 2
        share = budget.spend(
            self.alpha * epsilon, "coarse counts", mechanism="geometric", why=DISJOINT
        )
        coarse = [column.ravel() for column in geometric(noise, share, index.histogram(edges))]
        sides = self.second_side(coarse[0], epsilon)
        # A fine cell is at least one lattice step wide; this limit is public, like the edges.
        sides = np.minimum(sides, index.domain.side // m1)
        while int((sides**2).sum()) > MAX_NODES // 2:
            sides = np.maximum(sides // 2, 1)
        share = budget.spend(budget.left, "fine counts", mechanism="geometric", why=DISJOINT)
        fine = geometric(noise, share, fine_histogram(index, edges[0], sides))
        return _tree(edges[0], sides, coarse, fine)

    def first_side(self, n: float, epsilon: float) -> int:
        """m1 = max(10, ⌈¼⌈√(nε/10)⌉⌉), cut at the parameter's upper end."""
        return min(2000, max(10, math.ceil(uniform_side(n, epsilon, 2) / 4)))

    def second_side(self, noisy: ArrayLike, epsilon: float) -> Int:
        """m2 = ⌈√(max(N′, 0)(1−α)ε/5)⌉, at least 1, for each coarse cell."""
        count = np.maximum(np.asarray(noisy, dtype=np.float64), 0.0)
        return np.maximum(np.ceil(np.sqrt(count * (1 - self.alpha) * epsilon / 5)), 1).astype(
            np.int64
        )


def fine_histogram(index: PointIndex, line: Int, sides: Int) -> Int:
    """Exact counts of all fine cells, coarse cell by coarse cell, each row by row.

    Args:
        line: coarse grid lines per axis.
        sides: fine cells per side of each coarse cell, row by row.
    """
    at = [np.searchsorted(line, index.cells[:, axis], side="right") - 1 for axis in (0, 1)]
    cell = at[0] * (len(line) - 1) + at[1]
    many = sides[cell]
    offsets = np.cumsum(sides**2) - sides**2
    flat = np.zeros(len(cell), dtype=np.int64)
    for axis in (0, 1):
        low, high = line[at[axis]], line[at[axis] + 1]
        # The last i whose line low + ⌊i·span/many⌋ is not above the position.
        flat = flat * many + ((index.cells[:, axis] - low + 1) * many - 1) // (high - low)
    size = int((sides**2).sum())
    return np.bincount(offsets[cell] + flat, index.weights, minlength=size).astype(np.int64)


def _tree(
    line: Int, sides: Int, coarse: Sequence[Int | Float], fine: Sequence[Int | Float]
) -> Decomposition:
    """Both grids as one tree of halved blocks, with least-squares estimates.

    ``coarse`` and ``fine`` are noisy counts and their variances, in the order of the cells.
    """
    m1 = len(line) - 1
    low, high, parent, _ = halved_blocks(np.zeros((1, 2), np.int64), np.full((1, 2), m1))
    lo, hi = line[low], line[high]
    single = high - low == 1
    cells = np.flatnonzero(single.all(axis=1))  # the nodes of the coarse cells
    cell = low[cells] @ np.array([m1, 1])
    noisy, variance = np.zeros(len(parent)), np.full(len(parent), np.inf)
    noisy[cells], variance[cells] = coarse[0][cell], coarse[1][cell]

    many = sides[cell]
    low, high, fine_parent, root = halved_blocks(
        np.zeros((len(cell), 2), np.int64), np.repeat(many[:, None], 2, axis=1)
    )
    span, corner = (hi - lo)[cells][root], lo[cells][root]
    fine_lo = corner + low * span // many[root, None]
    fine_hi = corner + high * span // many[root, None]
    single = (high - low == 1).all(axis=1)
    # The fine blocks follow the coarse cells; their roots are coarse cells and are left out.
    below = np.flatnonzero(fine_parent >= 0)
    place = np.concatenate([cells, len(parent) + np.arange(len(below))])
    parent = np.concatenate([parent, place[fine_parent[below]]])
    noisy = np.concatenate([noisy, np.zeros(len(below))])
    variance = np.concatenate([variance, np.full(len(below), np.inf)])
    offsets = np.cumsum(sides**2) - sides**2
    rows = offsets[cell[root]] + low[:, 0] * many[root] + low[:, 1]
    leaf, row = place[single], rows[single]
    # An undivided coarse cell was measured twice: combine both by inverse variances.
    noisy[leaf], variance[leaf] = combine(noisy[leaf], variance[leaf], fine[0][row], fine[1][row])

    order = breadth_first(parent)
    parent = renumbered(parent, order)
    count, variance = least_squares(parent, noisy[order], variance[order])
    lo, hi = np.concatenate([lo, fine_lo[below]]), np.concatenate([hi, fine_hi[below]])
    return Decomposition(lo[order], hi[order], parent, count, variance)
