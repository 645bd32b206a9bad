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
from dpviz.private.mechanisms.noise import Noise
from dpviz.trees.consistency import least_squares, prune
from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.lattice import Int


@register
@dataclass(frozen=True, kw_only=True)
class Quadtree(PointMethod):
    """A complete 2^d-ary tree of public height with noisy counts on every level.

    G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial
    Decompositions. ICDE 2012, §4, 5 and 7.

    Privacy: the structure is public; one record touches one node per level, so the levels' shares
    add up to ε. The geometric budget gives height i (leaves 0) a share in proportion to
    2^{(h−i)/3}. Least squares and pruning are post-processing.

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
    prune: float = parameter(
        32, "Drop the descendants of nodes with an estimate below this", 0, 1e6
    )

    def check(self, domain: Domain) -> None:
        """Refuse a height with more nodes than the public cap."""
        self.levels(domain.dims)

    def levels(self, dims: int) -> int:
        """Levels below the root.

        >>> [Quadtree().levels(dims) for dims in (1, 2, 3, 4)]
        [8, 8, 7, 5]

        Raises:
            ParameterError: more nodes than the public cap.
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
        if self.budget == "leaf":
            return prune(tree.with_leaf_counts(noise, budget), self.prune)
        depths = range(len(tree.codes))
        weights = geometric_weights(len(depths) - 1)
        shares = budget.split(
            weights if self.budget == "geometric" else [1.0] * len(depths),
            [f"level {depth}" for depth in depths],
            mechanism="geometric",
            why=DISJOINT,
        )
        count, variance = measured_levels(
            noise, shares, [tree.level_counts(depth) for depth in depths]
        )
        if self.consistency:
            count, variance = least_squares(tree.parent, count, variance)
        return prune(tree.decomposition(count, variance), self.prune)
