"""PrivTree: an unlimited tree for a constant price."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.domain import LATTICE_BITS, Domain
from dpviz.errors import ParameterError
from dpviz.methods.points.base import PRIVTREE, PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree
from dpviz.methods.structure import Structure, biased_splits, no_split, split_scale
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, bernoulli, biased_laplace
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int


@register
@dataclass(frozen=True, kw_only=True)
class PrivTree(PointMethod):
    """A quadtree that stops by biased noisy counts; then noisy counts on its leaves.

    J. Zhang, X. Xiao, X. Xie: PrivTree: A Differentially Private Algorithm for Hierarchical
    Decompositions. SIGMOD 2016, algorithm 2.

    Privacy: a node of exact count c at depth i splits iff max(θ−δ, c − iδ) + Lap(λ) > θ; one record
    changes the biased counts of one path by one each, and the bias makes the losses along it a
    geometric series: the tree is ε_tree-DP (theorem 3.1). The leaves are disjoint, so geometric
    noise with the rest of ε covers them (sensitivity 1). Neither biased counts nor their noise are
    published.

    Do not use it for very few records per cell of interest: a split needs about λ·ln 4 records per
    level of depth.

    >>> from dpviz.methods import method
    >>> round(method("privtree").scale(0.5, 4), 4)  # (2β−1)/((β−1)·ε_tree), the paper's λ
    4.6667
    """

    name: ClassVar[str] = "privtree"
    title: ClassVar[str] = "PrivTree"
    paper: ClassVar[str] = PRIVTREE
    advice: ClassVar[str] = "Few records, or a very small epsilon: the tree stays at its root."

    tree_share: float = parameter(
        0.5, "Share of ε for the tree; the rest is for leaf counts", 0.05, 0.95
    )
    threshold: float = parameter(0.0, "θ: split where the biased noisy count is above", -1e6, 1e6)
    axes: int | None = parameter(
        None,
        "Axes halved per level (fanout 2^axes, round robin); all by default",
        1,
        4,
        optional=True,
    )
    max_depth: int = parameter(52, "Public cap on the depth", 1, 60)

    def check(self, domain: Domain) -> None:
        """Refuse more axes than the domain has dimensions."""
        if self.axes is not None and self.axes > domain.dims:
            raise ParameterError(
                f"privtree: axes={self.axes}: the data has {domain.dims} dimensions: "
                f"choose up to {domain.dims}"
            )

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        axes = self.axes or index.domain.dims
        share = budget.spend(
            self.tree_share * budget.epsilon,
            "tree",
            mechanism="biased split decisions",
            theorem="PrivTree, theorem 3.1",
        )
        scale = self.scale(share.epsilon, 1 << axes)
        bias = scale * math.log(1 << axes)

        def split(counts: Int, depth: int) -> NDArray[np.bool_]:
            exact = biased_laplace(counts, depth, self.threshold, bias, scale)
            return bernoulli(noise, share, self.no_split(counts, depth, scale, bias), exact)

        tree = CellTree(index, axes)
        tree.grow(split, self.max_depth)
        return tree.with_leaf_counts(noise, budget)

    def structure(self, epsilon: float, dims: int) -> Structure:
        """The split decisions, for the audit's exact calculation."""
        axes, price = self.axes or dims, self.tree_share * epsilon
        scale = self.scale(price, 1 << axes)
        bias = scale * math.log(1 << axes)
        depth = min(self.max_depth, LATTICE_BITS[dims] * dims // axes)
        return biased_splits(
            scale, bias, self.threshold, depth, price=price, other_epsilon=epsilon - price
        )

    def no_split(self, counts: ArrayLike, depth: int, scale: float, bias: float) -> Float:
        """P(no split) of nodes of one depth; see :func:`dpviz.methods.structure.no_split`."""
        return no_split(counts, depth, scale, bias, self.threshold)

    def scale(self, epsilon_tree: float, fanout: int) -> float:
        """λ: the noise scale of a split decision that makes the tree ε_tree-DP."""
        return split_scale(fanout, 1.0, epsilon_tree)
