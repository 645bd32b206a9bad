"""A quadtree by the binary sparse vector technique, as claimed. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.methods.points.base import PRIVTREE, PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree
from dpviz.methods.structure import SharedThreshold
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, published_laplace
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int


@register
@dataclass(frozen=True, kw_only=True)
class BinarySvtTree(PointMethod):
    """A quadtree split by the binary SVT with one noisy threshold for all nodes: NOT PRIVATE.

    J. Zhang, X. Xiao, X. Xie: PrivTree. SIGMOD 2016, §5 and algorithm 3, with the scale λ = 2/ε of
    the claim by J. Lee, C. Clifton (KDD 2014) that lemma 5.1 refutes: the loss grows with the
    number k of queries, so that λ = Ω(k/ε) would be needed. At λ = 2/ε, ε = 1, neighbours are
    distinguished with a loss of 1.80 by 8 queries and of 15.6 by 64.

    Do not use it on sensitive data; use PrivTree.

    >>> from dpviz.methods import method
    >>> method("BinarySVT").private
    False
    """

    name: ClassVar[str] = "binary_svt_tree"
    title: ClassVar[str] = "Binary SVT tree (claim refuted)"
    guarantee: ClassVar[str] = "none"
    paper: ClassVar[str] = f"{PRIVTREE}, §5 (lemma 5.1)"
    presets: ClassVar[dict[str, dict[str, object]]] = {"BinarySVT": {}}
    tiny: ClassVar[dict[str, object]] = {"tree_share": 0.95}
    advice: ClassVar[str] = "Sensitive data: NOT PRIVATE; its loss grows with the tree."

    threshold: float = parameter(
        100, "θ: split where the noisy count exceeds the noisy θ", -1e6, 1e9
    )
    tree_share: float = parameter(
        0.5, "Share of ε for the tree; the rest is for leaf counts", 0.05, 0.95
    )
    max_depth: int = parameter(10, "Levels below the root, at most", 1, 26)

    def structure(self, epsilon: float, dims: int) -> SharedThreshold:
        """Split decisions that share one noisy threshold."""
        scale = 2.0 / (self.tree_share * epsilon)
        return SharedThreshold(self.threshold, scale, self.max_depth, 1 << dims)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        share = budget.spend(
            self.tree_share * budget.epsilon,
            "tree",
            mechanism="binary SVT, as claimed",
            theorem="REFUTED by PrivTree, lemma 5.1",
        )
        scale = 2.0 / share.epsilon
        threshold = published_laplace(noise, share, [self.threshold], scale)[0]

        def split(counts: Int, _depth: int) -> NDArray[np.bool_]:
            return np.asarray(published_laplace(noise, share, counts, scale) > threshold)

        tree = CellTree(index, index.domain.dims)
        tree.grow(split, self.max_depth)
        return tree.with_leaf_counts(noise, budget)
