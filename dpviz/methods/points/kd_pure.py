"""kd-pure: a kd-tree without any noise. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.points.base import register
from dpviz.methods.points.kd_true import KdTrue
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise
from dpviz.trees.consistency import prune
from dpviz.trees.decomposition import Decomposition


@register
@dataclass(frozen=True, kw_only=True)
class KdPure(KdTrue):
    """Exact medians and exact counts: NOT PRIVATE, a reference for public data only.

    G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial
    Decompositions. ICDE 2012, §8 (kd-pure): the error that is left comes from the uniformity
    assumption alone. Epsilon is not spent.

    Do not use it on sensitive data: it publishes the data.

    >>> from dpviz.methods import method
    >>> method("kd-pure").private
    False
    """

    name: ClassVar[str] = "kd_pure"
    title: ClassVar[str] = "kd-pure (no noise at all)"
    presets: ClassVar[dict[str, dict[str, object]]] = {"kd-pure": {}}

    def build(self, index: PointIndex, _budget: Budget, _noise: Noise) -> Decomposition:
        """See the class."""
        tree = self.tree(index)
        count = np.concatenate(tree.exact).astype(np.float64)
        nodes = tree.decomposition(count, np.zeros(len(count)))
        return prune(nodes, self.prune)
