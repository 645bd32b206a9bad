"""SimpleTree: split while the noisy count is large, down to a fixed height."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.methods.points.base import PRIVTREE, PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int


@register
@dataclass(frozen=True, kw_only=True)
class SimpleTree(PointMethod):
    """A quadtree whose nodes split while their noisy count exceeds a threshold.

    Algorithm 1 of J. Zhang, X. Xiao, X. Xie: PrivTree. SIGMOD 2016.

    Privacy: one record touches one node per level and one leaf; the decisions of each of h levels
    cost ε/(h+1), and all that is left then buys the counts of the leaves (sequential along the
    path, parallel across it; how many levels there are follows from noisy counts).

    The paper publishes the counts that its decisions use. A leaf's count was then selected for
    being small: sums of leaves are far too low, and intervals from the noise's variance are
    invalid. Here leaves get fresh counts, for the same ε. The paper's pseudo-code
    also leaves its last level without noise.

    Do not use it where you can use PrivTree: each level of height costs a share of ε.

    >>> from dpviz.methods import method
    >>> method("simpletree", height=4).height
    4
    """

    name: ClassVar[str] = "simpletree"
    title: ClassVar[str] = "SimpleTree"
    paper: ClassVar[str] = f"{PRIVTREE}, algorithm 1"
    tiny: ClassVar[dict[str, object]] = {"height": 4}
    presets: ClassVar[dict[str, dict[str, object]]] = {"DPSD": {}}
    advice: ClassVar[str] = "Deep trees: the noise grows with the height."

    height: int = parameter(
        6, "Levels below the root; the decisions of each cost ε/(height+1)", 1, 12
    )
    threshold: float = parameter(0.0, "θ: split where the noisy count is above", -1e9, 1e9)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        price = budget.epsilon / (self.height + 1)

        def split(counts: Int, depth: int) -> NDArray[np.bool_]:
            share = budget.spend(
                price, f"decisions of level {depth}", mechanism="geometric", why=DISJOINT
            )
            noisy, _ = geometric(noise, share, counts)
            return np.asarray(noisy > self.threshold)

        tree = CellTree(index, index.domain.dims)
        tree.grow(split, self.height)
        return tree.with_leaf_counts(noise, budget)
