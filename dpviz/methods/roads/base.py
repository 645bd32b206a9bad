"""Base class of road methods: a frozen dataclass of parameters, a theorem and ``build``."""

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
"""Paper of the framework that most methods here belong to, or are compared in."""

COMBINATIONS = ("min+opt+tru",)
"""Combinations of the methods' steps that experiments use beside the presets."""


@dataclass(frozen=True, eq=False)
class RoadTask:
    """Input of a road method: private trips on a public graph, and a public workload."""

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
    """Result of a road method: noisy numbers and public facts only."""

    domains: Subdomains
    nodes: Decomposition
    variance: Float
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RoadMethod(Method):
    """Base of every road method."""

    kind: ClassVar[str] = "roads"

    def build(self, task: RoadTask) -> Measured:
        """Spend the budget on a histogram of edges; nothing else is retained."""
        raise ParameterError(f"method {self.name} has no build: define it")
