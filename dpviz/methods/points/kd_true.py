"""kd-true and kd-pure: exact medians, with noisy or exact counts. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.points.base import DECOMPOSITIONS, PointMethod, parameter, register
from dpviz.methods.points.kd_cells import BoxTree, KdCells, grow, with_noisy_counts
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.medians import exact_cuts
from dpviz.private.mechanisms.noise import Noise
from dpviz.trees.consistency import prune
from dpviz.trees.decomposition import Decomposition


@register
@dataclass(frozen=True, kw_only=True)
class KdTrue(PointMethod):
    """Exact medians with noisy counts: NOT PRIVATE, a reference for public data only.

    G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial
    Decompositions. ICDE 2012, §8 (kd-true): the error from noisy counts alone. All of ε is spent
    on counts, but the boxes reveal records.

    Do not use it on sensitive data: its boxes are cut at exact medians.

    >>> from dpviz.methods import method
    >>> method("kd-true").private
    False
    """

    name: ClassVar[str] = "kd_true"
    title: ClassVar[str] = "kd-true (exact medians)"
    guarantee: ClassVar[str] = "none"
    paper: ClassVar[str] = f"{DECOMPOSITIONS}, §8"
    presets: ClassVar[dict[str, dict[str, object]]] = {"kd-true": {}}
    tiny: ClassVar[dict[str, object]] = {"height": 2}
    advice: ClassVar[str] = "Sensitive data: NOT PRIVATE."

    height: int = parameter(8, "Levels below the root", 1, 10)
    flatten: int = parameter(2, "Rounds of cuts per level: fanout 2^rounds", 1, 4)
    prune: float = parameter(
        32, "Drop the descendants of nodes with an estimate below this", 0, 1e6
    )

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        return with_noisy_counts(self.tree(index), self.height, budget, noise, self.prune)

    def tree(self, index: PointIndex) -> BoxTree:
        """Boxes cut at exact medians, with exact counts."""
        return grow(
            KdCells.of(index),
            self.height,
            self.flatten,
            lambda cells, axis, chosen, _rounds: exact_cuts(cells.column(axis, chosen)),
        )


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
        """Build the decomposition as the class docstring describes."""
        tree = self.tree(index)
        count = np.concatenate(tree.exact).astype(np.float64)
        nodes = tree.decomposition(count, np.zeros(len(count)))
        return prune(nodes, self.prune)
