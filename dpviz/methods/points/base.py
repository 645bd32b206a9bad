"""Base class of point methods: a frozen dataclass of parameters, a theorem and ``build``.

A method edits nothing but its own file: the app's form, the flags of the command line, the table of
methods, the contract tests and the audit follow from the registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.methods.registry import PRIVTREE, Method, parameter, register
from dpviz.methods.structure import SharedThreshold, Structure
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Int
from dpviz.trees.prior import Prior

__all__ = ["DECOMPOSITIONS", "GRIDS", "PRIVTREE", "PointMethod", "parameter", "register"]

DECOMPOSITIONS = (
    "G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial "
    "Decompositions. ICDE 2012"
)
GRIDS = "W. Qardaji, W. Yang, N. Li: Differentially Private Grids for Geospatial Data. ICDE 2013"
"""Papers that several methods cite."""


@dataclass(frozen=True, kw_only=True)
class PointMethod(Method):
    """Base class of point methods.

    Class attributes:
        dims: supported dimensions.
        overlapping: True if boxes of siblings may overlap (R-trees), so that the count of a node
            is not the count of its box.
        measured: parameters that switch off models of unmeasured data (a density inside
            leaves), so that every node's count tends to the exact one as ε grows.
    """

    kind: ClassVar[str] = "points"
    dims: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    overlapping: ClassVar[bool] = False
    measured: ClassVar[dict[str, Any]] = {}

    def structure(self, epsilon: float, dims: int) -> Structure | SharedThreshold | None:
        """Random split decisions of a build at this ε; None if the method makes none."""
        return None

    def grid(self, domain: Domain) -> list[Int]:
        """Lattice lines of the cells in which persons are counted once; one cell by default."""
        return [np.array([0, domain.side])] * domain.dims

    def noise_model(self, nodes: Decomposition) -> dict[str, Any]:
        """Header entry for the noise of a built decomposition, see :mod:`dpviz.trees.haar`.

        Empty if the variance of a sum of disjoint nodes is at most the sum of their variances.
        """
        return {}

    def with_prior(self, prior: Prior) -> Self:
        """The method that follows a public prior, where it takes one."""
        return replace(self, prior=prior)  # type: ignore[call-arg]

    def findings(self, trees: Sequence[Decomposition]) -> dict[str, Any]:
        """Header entries on what a build found out from noisy counts, tree by tree: public."""
        return {}

    def check(self, domain: Domain) -> None:
        """Refuse, before payment, parameters that cannot work on this domain."""

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Spend the budget on a decomposition; keep nothing else."""
        raise ParameterError(f"method {self.name} has no build: define it")
