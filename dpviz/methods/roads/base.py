"""What a network method is: a frozen dataclass of knobs, a theorem, and ``build``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpviz.errors import ParameterError
from dpviz.methods.registry import Knob, Method, Registry, knob
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
from dpviz.progress import Progress
from dpviz.roads.decompose import Subdomains
from dpviz.roads.graph import Float, RoadGraph
from dpviz.roads.paths import Paths
from dpviz.trees.decomposition import Decomposition

__all__ = [
    "METHODS",
    "Knob",
    "Measured",
    "RoadMethod",
    "RoadTask",
    "knob",
    "method",
    "names",
    "register",
]


@dataclass(frozen=True, eq=False)
class RoadTask:
    """What a method works on: private trips on a public graph, for a public workload.

    Attributes:
        sensitivity: 1 where neighbours differ by adding or removing a trip, 2 where one is
            replaced; it multiplies every sensitivity.
    """

    graph: RoadGraph
    trips: Paths
    workload: Paths
    budget: Budget
    noise: Noise
    sensitivity: int = 1
    progress: Progress | None = None


@dataclass(frozen=True, eq=False)
class Measured:
    """What a method gives back: noisy numbers and public facts only."""

    domains: Subdomains
    nodes: Decomposition
    variance: Float
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RoadMethod(Method):
    """Base of every network method."""

    def build(self, task: RoadTask) -> Measured:
        """Spend the budget on a histogram of edges. Whatever is not in the result is forgotten."""
        raise ParameterError(f"method {self.name} has no build")


REGISTRY: Registry[RoadMethod] = Registry("road method")
METHODS = REGISTRY.members
"""Every registered network method by its name."""

register = REGISTRY.register
names = REGISTRY.names
method = REGISTRY.find
