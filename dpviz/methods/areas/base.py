"""Base class of area methods: a frozen dataclass of parameters, a theorem and ``build``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpviz.errors import ParameterError
from dpviz.methods.registry import Method, parameter, register
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
from dpviz.releases.areas.partition import Areas
from dpviz.trees.lattice import Float, Int

__all__ = ["AreaMethod", "parameter", "register"]


@dataclass(frozen=True, kw_only=True)
class AreaMethod(Method):
    """Base of every method on areas."""

    kind: ClassVar[str] = "areas"
    dims: ClassVar[tuple[int, ...]] = (2,)

    def build(self, areas: Areas, counts: Int, budget: Budget, noise: Noise) -> tuple[Float, Float]:
        """Spend the budget on estimates of all areas, (n,) or (parts, n), and variances (n,).

        Args:
            areas: the public partition.
            counts: exact counts of its finest areas, int64 (leaves,), or of each part (parts,
                leaves); one record is in one of them.
            budget: budget of one record.
            noise: the source of randomness.
        """
        raise ParameterError(f"method {self.name} has no build: define it")
