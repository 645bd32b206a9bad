"""kd-pure: a kd-tree without any noise. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpviz.crs import cut_order
from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.kd_cells import KdCells, grow
from dpviz.private.mechanisms.medians import exact_cuts
from dpviz.trees.consistency import prune

if TYPE_CHECKING:
    from dpviz.private.budget import Budget
    from dpviz.private.index import PointIndex
    from dpviz.private.mechanisms.noise import Noise
    from dpviz.trees.decomposition import Decomposition


@register
@dataclass(frozen=True, kw_only=True)
class KdPure(PointMethod):
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
    guarantee: ClassVar[str] = "none"
    paper: ClassVar[str] = (
        "G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial "
        "Decompositions. ICDE 2012, §8"
    )
    dims: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    presets: ClassVar[dict[str, dict[str, object]]] = {"kd-pure": {}}
    tiny: ClassVar[dict[str, object]] = {"height": 2}
    advice: ClassVar[str] = "Sensitive data: NOT PRIVATE."

    height: int = parameter(8, "Levels below the root", 1, 10)
    flatten: int = parameter(2, "Rounds of cuts per level: fanout 2^rounds", 1, 4)
    prune: float = parameter(32, "Drop the descendants of nodes with a count below this", 0, 1e6)

    def build(self, index: PointIndex, _budget: Budget, _noise: Noise) -> Decomposition:
        """See the class."""
        tree = grow(
            KdCells.of(index),
            self.height,
            self.flatten,
            lambda cells, axis, chosen, _rounds: exact_cuts(cells.column(axis, chosen)),
            cut_order(index.domain),
        )
        count = np.concatenate(tree.exact).astype(np.float64)
        nodes = tree.decomposition(count, np.zeros(len(count)))
        return prune(nodes, self.prune) if self.prune > 0 else nodes
