"""A quadtree with exact counts. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int


@register
@dataclass(frozen=True, kw_only=True)
class QuadExact(PointMethod):
    """A quadtree split by exact counts, which it publishes: NOT PRIVATE, for public data only.

    H. Samet: Foundations of Multidimensional and Metric Data Structures. Morgan Kaufmann 2006. What
    a private tree is compared with: its error comes from the uniformity assumption alone. Epsilon
    is not spent.

    Do not use it on sensitive data: it publishes the data.

    >>> from dpviz.methods import method
    >>> method("quad_exact", threshold=10).threshold
    10.0
    """

    name: ClassVar[str] = "quad_exact"
    title: ClassVar[str] = "Quadtree with exact counts"
    guarantee: ClassVar[str] = "none"
    paper: ClassVar[str] = (
        "H. Samet: Foundations of Multidimensional and Metric Data Structures. Morgan Kaufmann 2006"
    )
    advice: ClassVar[str] = "Sensitive data: NOT PRIVATE."

    max_depth: int = parameter(10, "Levels below the root, at most", 1, 26)
    threshold: float = parameter(32, "Split where the exact count is above", 0, 1e9)

    def build(self, index: PointIndex, _budget: Budget, _noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        tree = CellTree(index, index.domain.dims)

        def split(counts: Int, _depth: int) -> NDArray[np.bool_]:
            return np.asarray(counts > self.threshold)

        tree.grow(split, self.max_depth)
        count = tree.counts().astype(np.float64)
        return tree.decomposition(count, np.zeros(len(count)))
