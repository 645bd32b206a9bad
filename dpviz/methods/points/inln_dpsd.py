"""InLN_DPSD, exactly as published. NOT PRIVATE: its claim is refuted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, published_laplace, random_ranks
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition, is_leaf
from dpviz.trees.lattice import Float, Int


@register
@dataclass(frozen=True, kw_only=True)
class InLnDpsd(PointMethod):
    """A quadtree split on exact counts, with "indefeasible" noise on its leaves: NOT PRIVATE.

    X. Li, Y. Wang, X. Zhang, K. Zhou, C. Li: A More Secure Spatial Decompositions Algorithm via
    Indefeasible Laplace Noise in Differential Privacy. ADMA 2019, algorithm 2.

    Its proof treats splits on exact counts as if they were noisy. With θ = 100, 101 records at one
    place split the root with probability 1, 100 records with probability 0: the loss is infinite.
    The noise scale h/ε moreover gives away the realised height h. Kept as published, with its
    traits: a leaf's noise is (k+β+1)/(k+β)·Lap(h/ε), k counting down from β over a node's leaves in
    random order (the factor is at most 1.25, so it prevents no cancelling), and a root that is not
    split has no parent and gets no noise at all.

    Do not use it on sensitive data; use PrivTree.

    >>> from dpviz.methods import method
    >>> method("InLN_DPSD").private
    False
    """

    name: ClassVar[str] = "inln_dpsd"
    title: ClassVar[str] = "InLN_DPSD (claim refuted)"
    guarantee: ClassVar[str] = "none"
    paper: ClassVar[str] = (
        "X. Li, Y. Wang, X. Zhang, K. Zhou, C. Li: A More Secure Spatial Decompositions Algorithm "
        "via Indefeasible Laplace Noise in Differential Privacy. ADMA 2019"
    )
    advice: ClassVar[str] = "Sensitive data: NOT PRIVATE; its loss is infinite."

    threshold: float = parameter(100, "θ: split where the exact count is above", 0, 1e9)
    unit: float = parameter(
        2.0**-20,
        "u: nodes of this share of the domain's volume are not split",
        2.0**-52,
        1,
        log=True,
    )

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        dims = index.domain.dims
        tree = CellTree(index, dims)

        def split(counts: Int, depth: int) -> NDArray[np.bool_]:
            large = 2.0 ** (-depth * dims) > self.unit
            return np.asarray((counts > self.threshold) & large)

        tree.grow(split, tree.max_depth)
        parent, count = tree.parent, tree.counts().astype(np.float64)
        leaf = is_leaf(parent)
        leaves = np.flatnonzero(leaf & (parent >= 0))
        share = budget.spend(
            budget.left,
            "leaf counts",
            mechanism="Laplace of scale h/ε, as published",
            why="REFUTED",
        )
        # h is the number of nodes on the longest path, root included.
        scale = len(tree.codes) / share.epsilon
        factor = self.factors(random_ranks(noise, parent[leaves]), 1 << dims)
        count[leaves] = published_laplace(noise, share, count[leaves], factor * scale)
        variance = np.zeros(len(parent))
        variance[leaves] = 2.0 * (factor * scale) ** 2
        return tree.decomposition(sum_up(parent, count), sum_up(parent, variance))

    def factors(self, ranks: Int, fanout: int) -> Float:
        """(k+β+1)/(k+β) for the leaf that was selected as number ``ranks`` (from 0): k = β − rank.

        >>> InLnDpsd().factors(np.array([0, 3]), 4)
        array([1.125, 1.2  ])
        """
        k = fanout - ranks
        return np.asarray((k + fanout + 1) / (k + fanout))
