"""SimpleTree: split while the noisy count is large, down to a fixed height."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpviz.methods.points.base import PointMethod, knob, register
from dpviz.methods.points.parts import CellTree
from dpviz.private.budget import DISJOINT
from dpviz.private.mechanisms.noise import geometric
from dpviz.trees.consistency import sum_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpviz.private.budget import Budget
    from dpviz.private.index import PointIndex
    from dpviz.private.mechanisms.noise import Noise
    from dpviz.trees.decomposition import Decomposition
    from dpviz.trees.lattice import Float, Int


@register
@dataclass(frozen=True, kw_only=True)
class SimpleTree(PointMethod):
    """A quadtree whose nodes split while their published noisy count exceeds a threshold.

    Algorithm 1 of J. Zhang, X. Xiao, X. Xie: PrivTree. SIGMOD 2016.

    Privacy: one record touches one node per level, so h levels with ε/h each compose to ε
    (sequential along the path, parallel across it). The last level is noised too, which the paper's
    pseudo-code leaves out. Splits depend on published counts only.

    Do not use it where you can use PrivTree: each level of height costs a share of ε.

    >>> from dpviz.methods import method
    >>> method("simpletree", height=4).height
    4
    """

    name: ClassVar[str] = "simpletree"
    title: ClassVar[str] = "SimpleTree"
    paper: ClassVar[str] = (
        "J. Zhang, X. Xiao, X. Xie: PrivTree: A Differentially Private Algorithm for Hierarchical "
        "Decompositions. SIGMOD 2016, algorithm 1"
    )
    dims: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    tiny: ClassVar[dict[str, object]] = {"height": 4}
    presets: ClassVar[dict[str, dict[str, object]]] = {"DPSD": {}}
    advice: ClassVar[str] = "Deep trees: the noise grows with the height."

    height: int = knob(6, "Levels below the root; every level is measured with ε/(height+1)", 1, 12)
    threshold: float = knob(0.0, "θ: split where the noisy count is above", -1e9, 1e9)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """See the class."""
        levels = self.height + 1
        shares = iter(
            budget.split(
                [1.0] * levels,
                [f"level {i}" for i in range(levels)],
                mechanism="geometric",
                why=DISJOINT,
            )
        )
        noisy: list[Float] = []
        variances: list[Float] = []

        def measure(counts: Int) -> Float:
            measured, variance = geometric(noise, next(shares), counts)
            noisy.append(measured.astype(np.float64))
            variances.append(variance)
            return noisy[-1]

        def split(counts: Int, _depth: int) -> NDArray[np.bool_]:
            return np.asarray(measure(counts) > self.threshold)

        tree = CellTree(index, index.domain.dims)
        tree.grow(split, self.height)
        if len(noisy) < len(tree.codes):  # the last level that was opened is still unmeasured
            depth = len(tree.codes) - 1
            measure(tree.level_counts(depth))
        parent = tree.parent
        count, variance = np.concatenate(noisy), np.concatenate(variances)
        return tree.decomposition(sum_up(parent, count), sum_up(parent, variance))
