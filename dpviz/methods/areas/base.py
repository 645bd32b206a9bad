"""Base class of area methods: a frozen dataclass of parameters, a theorem and ``build``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpviz.domain.attributes import Values
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
    overlapping: ClassVar[bool] = False
    dims: ClassVar[tuple[int, ...]] = (2,)

    def build(self, areas: Areas, counts: Int, budget: Budget, noise: Noise) -> tuple[Float, Float]:
        """Spend the budget on estimates of all areas, (n,) or (parts, n), and variances (n,).

        ``counts``: exact, of the finest areas, int64 (leaves,), or of each part (parts, leaves); a
        record is in one of them. The budget is that of one record.
        """
        raise ParameterError(f"method {self.name} has no build: define it")

    def build_sums(
        self, areas: Areas, sums: Int, values: Values, budget: Budget, noise: Noise, share: float
    ) -> tuple[Float, Float]:
        """Spend ``share`` of a record's budget on sums of values in all areas.

        Results are as those of :meth:`build`. ``sums``: exact, of the finest areas, in steps of the
        grid, in the shape of the counts.
        """
        raise ParameterError(f"method {self.name} has no sums: leave the values out")

    def least_part(self, areas: Areas) -> float:
        """The smallest part of a share for sums that any one draw gets."""
        return 1.0
