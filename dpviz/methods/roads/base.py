"""What a road method is: a frozen dataclass of parameters, a theorem, and ``build``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dpviz.errors import ParameterError
from dpviz.methods.registry import Method, parameter, register
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
from dpviz.progress import Progress
from dpviz.roads.decompose import Subdomains
from dpviz.roads.graph import Float, RoadGraph
from dpviz.roads.paths import Paths
from dpviz.trees.decomposition import Decomposition

__all__ = ["COMBINATIONS", "PAPER", "Measured", "RoadMethod", "RoadTask", "parameter", "register"]

PAPER = (
    "Differentially Private Event Histogram Publication on Sequences over Graphs. "
    "Journal of Computer Science and Technology 2017"
)
"""Of the framework that most methods here are of, or are compared in."""

COMBINATIONS = ("min+opt+tru",)
"""Of the methods' steps, what experiments name beside the presets."""


@dataclass(frozen=True, eq=False)
class RoadTask:
    """What a method works on: private trips on a public graph, for a public workload."""

    graph: RoadGraph
    trips: Paths
    workload: Paths
    budget: Budget
    noise: Noise
    progress: Progress | None = None
    longest: int | None = None
    """A public bound on the edges of a trip, by what trips are made of."""

    def cap(self, most: int) -> int:
        """The public bound on the edges of a trip: a method's, or the one that holds anyway."""
        return most if self.longest is None else min(most, self.longest)


@dataclass(frozen=True, eq=False)
class Measured:
    """What a method gives back: noisy numbers and public facts only."""

    domains: Subdomains
    nodes: Decomposition
    variance: Float
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RoadMethod(Method):
    """Base of every road method."""

    kind: ClassVar[str] = "roads"

    def build(self, task: RoadTask) -> Measured:
        """Spend the budget on a histogram of edges. Whatever is not in the result is forgotten."""
        raise ParameterError(f"method {self.name} has no build")
