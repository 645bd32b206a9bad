"""Base class of flow methods: a frozen dataclass of parameters, a theorem and ``build``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpviz.errors import ParameterError
from dpviz.methods.registry import Method, parameter, register
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
from dpviz.releases.flows.frame import Flows
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

__all__ = ["FlowMethod", "parameter", "register"]


@dataclass(frozen=True, kw_only=True)
class FlowMethod(Method):
    """Base of every method on pairs of areas."""

    kind: ClassVar[str] = "flows"

    def check(self, flows: Flows, parts: int) -> None:
        """Refuse a frame that is too large for this method, before any ε is spent."""

    def build(
        self, flows: Flows, parts: int, cells: Int, counts: Int, budget: Budget, noise: Noise
    ) -> tuple[Decomposition, Float]:
        """Spend the budget on pairs, the same ones in all parts, and counts (parts, n).

        Args:
            parts: kinds times steps, at least 1.
            cells: part, number of the finest area of origin and of destination, int64 (k, 3).
            counts: exact records in each, int64 (k,); one record is in one of them.
            budget: budget of one record.
        """
        raise ParameterError(f"method {self.name} has no build: define it")
