"""Hot grid: one look at a coarse grid, then nearly all of ε on cells as fine as they deserve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree
from dpviz.private.budget import DISJOINT
from dpviz.private.mechanisms.noise import geometric
from dpviz.trees.consistency import least_squares, sum_up
from dpviz.trees.decomposition import MAX_NODES
from dpviz.trees.density import refine
from dpviz.trees.gates import gated
from dpviz.trees.lattice import Codes, Float, Int, unmorton
from dpviz.trees.shrinkage import nonnegative, settle

if TYPE_CHECKING:
    from dpviz.private.budget import Budget
    from dpviz.private.index import PointIndex
    from dpviz.private.mechanisms.noise import Noise
    from dpviz.trees.decomposition import Decomposition

EVEN = 0.7
"""γ: 1 lets every cell's leaves hold about c/ε records; 0 gives all cells leaves of one size."""

FINEST_LOOK = 10
"""d₁ at most: 4^10 cells leave room for their leaves under the public cap on nodes."""


@register
@dataclass(frozen=True, kw_only=True)
class HotGrid(PointMethod):
    """A grid whose cells are divided by a noisy look at each; for small squares where people are.

    Ours. 1 % of ε buys a noisy n. A level d₁, about as fine as the widest square that is asked for,
    is counted with the share a of the rest; these counts y (noise variance v) are smoothed,
    ŷ = μ + (y − μ)·e/(e + v), with the mean μ of 3 × 3 cells and the local variance e beyond the
    noise. A cell of weight w = ŷ(1−a)ε is divided into leaves of level
    d₁ + ½ log₂((w/c)·(w̄/w)^(1−γ)), w̄ = Σw²/Σw, and all the rest of ε goes on the leaves. The
    look decides and is forgotten: a count that has chosen how finely its cell is divided would
    weigh more where its noise was high, and sums of cells would come out too large. Last, each
    leaf's count is drawn to its surroundings, inside the total (``dpviz/trees/gates.py``).

    Privacy: each record is in the domain, in one cell of level d₁ and in one leaf; each of the
    three sets of counts is of disjoint cells (sensitivity 1), and which leaves there are follows
    from noisy counts only: the three shares add up to ε (sequential composition). All later steps
    are post-processing.

    Do not use it for large rectangles: it measures nothing above d₁, and their noise adds up.

    >>> from dpviz.methods import method
    >>> method("hot_grid").level(1e6, 1.0)
    7
    """

    name: ClassVar[str] = "hot_grid"
    title: ClassVar[str] = "Hot grid (ours)"
    paper: ClassVar[str] = "ours"
    dims: ClassVar[tuple[int, ...]] = (2,)
    measured: ClassVar[dict[str, Any]] = {"slopes": False}
    tiny: ClassVar[dict[str, object]] = {
        "max_depth": 4,
        "gates": False,
        "positive": False,
        "slopes": False,
    }
    advice: ClassVar[str] = "Large rectangles: the noise of thousands of leaves adds up."

    widest: float = parameter(
        0.008, "Widest square that is asked for, as a share of the domain's side", 1e-4, 0.25
    )
    look: float = parameter(0.15, "a: share of ε for the look that decides", 0.02, 0.9)
    c: float = parameter(1.7, "c: a leaf is to hold about c/ε records", 0.1, 100)
    gates: bool = parameter(
        True, "Counts drawn to their surroundings, as far as noise explains the difference"
    )
    positive: bool = parameter(True, "Non-negative counts inside their parents' totals")
    slopes: bool = parameter(True, "Sloped density inside the leaves")
    max_depth: int = parameter(10, "Public cap on the depth", 1, 26)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """See the class."""
        share = budget.spend(
            0.01 * budget.epsilon, "record count", mechanism="geometric", why=DISJOINT
        )
        total, spread = geometric(noise, share, [index.total])
        tree = CellTree(index, index.domain.dims)
        cap = min(self.max_depth, tree.max_depth)
        first = min(self.level(float(total[0]), budget.epsilon), cap)
        for _ in range(first):
            tree.split(np.ones(len(tree.codes[-1]), dtype=np.bool_))
        share = budget.spend(
            self.look * budget.left, "coarse cells", mechanism="geometric", why=DISJOINT
        )
        coarse, variance = geometric(noise, share, tree.level_counts(first))
        depth = self.depths(
            smoothed(coarse, variance[0], tree.codes[first], first) * budget.left, first, cap
        )
        for level in range(first, cap):
            deeper = depth > level
            if not deeper.any():
                break
            tree.split(deeper)
            depth = np.repeat(depth[deeper], tree.fanout)
        return self._finished(tree, budget, noise, total, spread)

    def level(self, total: float, epsilon: float) -> int:
        """d₁: as fine as the widest square, but not finer than the records allow; 2 to 10."""
        wanted = min(round(-math.log2(self.widest)), FINEST_LOOK)
        return max(2, min(wanted, math.floor(0.5 * math.log2(max(4.0 * total * epsilon, 1.0)))))

    def blocks(self, nodes: Decomposition) -> int:
        """The level of the blocks whose totals gates keep: 16 × 16 cells of the look."""
        return max(int(nodes.level[nodes.leaf].min()) - 4, 0)

    def depths(self, weight: Float, first: int, cap: int) -> Int:
        """Level of the leaves of each coarse cell, from its smoothed count times ε."""
        weight = np.maximum(weight, 1e-6)
        typical = float((weight**2).sum() / weight.sum())
        finer = 0.5 * np.log2(weight / self.c * (typical / weight) ** (1.0 - EVEN))
        depth = np.clip(np.rint(first + finer), first, cap).astype(np.int64)
        while (4.0 ** (depth - first)).sum() > MAX_NODES / 2:  # a public cap, of noisy numbers
            depth = np.maximum(depth - 1, first)
        return depth

    def _finished(
        self, tree: CellTree, budget: Budget, noise: Noise, total: Int, of_total: Float
    ) -> Decomposition:
        """The leaves' counts, and one estimate of them and the record count."""
        parent = tree.parent
        leaf = np.ones(len(parent), dtype=np.bool_)
        leaf[parent[parent >= 0]] = False
        noisy, variance = np.zeros(len(parent)), np.full(len(parent), np.inf)
        noisy[:1], variance[:1] = total, of_total
        share = budget.spend(budget.left, "leaf counts", mechanism="geometric", why=DISJOINT)
        noisy[leaf], variance[leaf] = geometric(noise, share, tree.counts()[leaf])
        estimates, spread = least_squares(parent, noisy, variance)
        nodes = tree.decomposition(estimates, spread)
        if self.gates:
            # Gates are free to move a record next door, not to move what whole blocks hold: of a
            # block of many cells the sum of its leaves is unbiased, and large queries add blocks.
            drawn = sum_up(parent, gated(nodes, float(variance[leaf][0])))
            wanted = np.where(tree.depth <= self.blocks(nodes), estimates, drawn)
            nodes = nodes.replace(count=nonnegative(parent, wanted, spread))
        elif self.positive:
            nodes = tree.decomposition(*settle(parent, noisy, variance, shrink=False))
        return refine(nodes) if self.slopes else nodes


def smoothed(noisy: Int, variance: float, codes: Codes, level: int) -> Float:
    """Counts of all cells of a 2-D level, drawn towards their neighbours' mean, (n,) ≥ 0.

    Args:
        noisy: counts, in the order of ``codes``.
        variance: of their noise.
        codes: Morton codes of the cells.
        level: halvings of each axis.
    """
    from scipy.ndimage import uniform_filter

    at = tuple(unmorton(codes, 2).T)
    raster = np.zeros((1 << level, 1 << level))
    raster[at] = noisy
    mean = np.maximum(uniform_filter(raster, 3, mode="nearest"), 0.0)
    beyond = uniform_filter((raster - mean) ** 2, 5, mode="nearest") - variance
    beyond = np.maximum(beyond, 0.0) + (mean / 2.0) ** 2
    whole = beyond + variance
    trust = np.divide(beyond, whole, out=np.ones_like(whole), where=whole > 0)
    smooth: Float = np.maximum(mean + (raster - mean) * trust, 0.0)[at]
    return smooth
