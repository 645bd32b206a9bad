"""Complete quadtrees: uniform, geometric or leaf budgets, consistency, pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.methods.points.base import DECOMPOSITIONS, PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree
from dpviz.methods.points.levels import geometric_weights, highest, measured_levels
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, slot_counts
from dpviz.trees.consistency import least_squares, prune, sum_up
from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.lattice import Int, grid_edges


@register
@dataclass(frozen=True, kw_only=True)
class Quadtree(PointMethod):
    """A complete 2^d-ary tree of public height with noisy counts on every level.

    G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial
    Decompositions. ICDE 2012, §4, 5 and 7.

    Privacy: the structure is public; one record touches one node per level, so the levels' shares
    add up to ε. The geometric budget gives height i (leaves 0) a share in proportion to
    2^{(h−i)/3}. Least squares and pruning are post-processing.

    With a level ``top`` above 0 the counts above it are sums. Its cells are slots for a delta: a
    person has one record in each of at most K of them. So each of the L levels from ``top`` down
    moves by a 0/1 vector with at most K ones, and Gaussian noise of equal variance on all of them
    is priced as for K·L slots (:mod:`dpviz.private.slots`).

    Do not use it on skewed data at small ε: empty regions are cut as finely as full ones.

    >>> from dpviz.methods import method
    >>> method("quad-geo").consistency
    False
    """

    name: ClassVar[str] = "quadtree"
    title: ClassVar[str] = "Quadtree"
    paper: ClassVar[str] = DECOMPOSITIONS
    presets: ClassVar[dict[str, dict[str, object]]] = {
        "quad-baseline": {"budget": "uniform", "consistency": False, "prune": 0},
        "quad-geo": {"budget": "geometric", "consistency": False, "prune": 0},
        "quad-post": {"budget": "uniform", "consistency": True, "prune": 0},
        "quad-opt": {"budget": "geometric", "consistency": True, "prune": 32},
    }
    tiny: ClassVar[dict[str, object]] = {"height": 3}
    advice: ClassVar[str] = "Skewed data at a small epsilon; more than two dimensions."

    height: int | None = parameter(
        None,
        "Levels below the root (the leaves are 2^height cells per side); 8, or what the cap allows",
        1,
        12,
        optional=True,
    )
    budget: str = parameter(
        "geometric", "How ε is shared among levels", choices=("uniform", "geometric", "leaf")
    )
    consistency: bool = parameter(True, "Least squares: parents equal the sum of their children")
    top: int = parameter(
        0,
        "Coarsest measured level, whose cells are slots for a delta; others are sums",
        0,
        12,
    )
    prune: float = parameter(
        32, "Drop the descendants of nodes with an estimate below this", 0, 1e6
    )

    def check(self, domain: Domain) -> None:
        """Refuse a height with more nodes than the public cap, or a top below the leaves."""
        height = self.levels(domain.dims)
        if self.top > height:
            raise ParameterError(
                f"quadtree: top={self.top} is below the leaves: choose up to {height}"
            )

    def slot_shares(self, dims: int) -> list[float]:
        """Shares of the measured levels where ``top`` cuts the plane into blocks."""
        weights = self.weights(dims)
        return [weight / sum(weights) for weight in weights] if self.top else []

    def grid(self, domain: Domain) -> list[Int]:
        """Lattice lines of the blocks, the cells of level ``top``."""
        return [grid_edges(domain.side, 2**self.top)] * domain.dims

    def weights(self, dims: int) -> list[float]:
        """Relative shares of the measured levels, coarsest first."""
        levels = self.levels(dims) + 1 - self.top
        if self.budget == "leaf":
            return [1.0]
        return [1.0] * levels if self.budget == "uniform" else geometric_weights(levels - 1)

    def levels(self, dims: int) -> int:
        """Levels below the root.

        Raises ParameterError: more nodes than the public cap.

        >>> [Quadtree().levels(dims) for dims in (1, 2, 3, 4)]
        [8, 8, 7, 5]
        """
        most = highest(dims)
        if self.height is not None and self.height > most:
            raise ParameterError(
                f"quadtree: height={self.height} passes the public cap of {MAX_NODES:,} nodes in "
                f"{dims} dimensions: choose a height up to {most}"
            )
        return min(8, most) if self.height is None else self.height

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        tree = CellTree(index, index.domain.dims)

        def complete(counts: Int, _depth: int) -> NDArray[np.bool_]:
            return np.ones(len(counts), dtype=np.bool_)

        tree.grow(complete, self.levels(index.domain.dims))
        weights, parent = self.weights(index.domain.dims), tree.parent
        depths = range(len(tree.codes))[-len(weights) :]
        exact = [tree.level_counts(depth) for depth in depths]
        if budget.one_draw:
            share = budget.spend(budget.left, f"levels {depths[0]} to {depths[-1]}")
            draws, spread = slot_counts(noise, share, np.concatenate(exact))
            noisy = draws.astype(np.float64)
        else:
            purposes = [f"level {depth}" for depth in depths]
            if self.budget == "leaf":
                purposes = ["leaf counts"]
            shares = budget.split(weights, purposes, mechanism="geometric", why=DISJOINT)
            noisy, spread = measured_levels(noise, shares, exact)
        above = len(parent) - len(noisy)
        count, variance = np.zeros(len(parent)), np.full(len(parent), np.inf)
        count[above:], variance[above:] = noisy, spread
        if self.consistency and len(depths) > 1:
            count, variance = least_squares(parent, count, variance)
        else:
            coarse = slice(above + len(exact[0]))  # the coarsest measured level and those above
            for column in (count, variance):
                column[coarse] = sum_up(parent[coarse], column[coarse])
        return prune(tree.decomposition(count, variance), self.prune)
