"""Audits of road methods: with one trip against without it, on a street of four edges.

As for spatial methods, a bound above the claim refutes it, and one below proves nothing. The trips
are made here: an audit never sees anybody's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.evaluation.audit import MethodBench
from dpviz.evaluation.search import Pair
from dpviz.methods.roads.base import Measured, RoadMethod, RoadTask
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths
from dpviz.roads.tables import road_graph

EDGES = 4

FEATURES = (
    "count of its first edge",
    "least count of its edges",
    "largest count of its edges",
    "counts of its edges together",
    "counts of all edges together",
    "edges that are kept of a trip",
    "noisy trips as long as it",
    "what is made good for of truncation",
)
"""What an attacker looks at, who knows every trip and asks whether one more is there."""


def drives(epsilon: float) -> Iterator[Pair]:
    """The inputs that an audit tries; sizes follow the noise, which is of the order EDGES/ε.

    A trip along the whole street moves every count; one of a single edge a method that weighs by
    length; one among as many as the noise is large the choice of how much is kept of a trip.
    """
    some, many = math.ceil(EDGES / epsilon), math.ceil(10 * EDGES / epsilon)
    whole = tuple(range(EDGES))
    first, last = whole[:1], whole[-1:]
    yield Pair("no trip, or one along the whole street", (), whole)
    yield Pair("no trip, or one on one edge", (), first)
    yield Pair(f"{some} trips along the whole street, or one more", ((whole, some),), whole)
    yield Pair(f"{many} trips along the whole street, or one more", ((whole, many),), whole)
    name = f"{many} trips on one edge, or one along the whole street beside"
    yield Pair(name, ((first, many),), whole)
    name = f"{many} trips on the last edge, or one on the first beside"
    yield Pair(name, ((last, many),), first)


class RoadBench(MethodBench[Pair, RoadMethod]):
    """Builds of a road method."""

    names = FEATURES

    @cached_property
    def street(self) -> RoadGraph:
        """Of all builds."""
        ends = np.arange(EDGES + 1)
        nodes: dict[str, Any] = {"node": ends, "x": ends, "y": 0 * ends}
        return road_graph(nodes, {"src": ends[:-1], "dst": ends[1:]})

    @cached_property
    def workload(self) -> Paths:
        """Public: mostly the whole street."""
        return Paths.of([[0, 1, 2, 3]] * 3 + [[1, 2]])

    def cases(self) -> Iterator[Pair]:
        """See :class:`~dpviz.evaluation.audit.MethodBench`."""
        return drives(self.epsilon)

    def inputs(self, case: Pair) -> tuple[Paths, Paths]:
        """See :class:`~dpviz.evaluation.search.Bench`."""
        return Paths.of(case.rows(more=True)), Paths.of(case.rows(more=False))

    def features(self, case: Pair, data: Paths) -> list[float]:
        """See :class:`~dpviz.evaluation.search.Bench`."""
        task = RoadTask(self.street, data, self.workload, self.budget, self.noise)
        return features(self.method.build(task), case.target)


def features(release: Measured, target: tuple[int, ...]) -> list[float]:
    """The numbers of :data:`FEATURES`."""
    nodes, position = release.nodes, release.domains.position
    leaf = np.flatnonzero(nodes.leaf)
    leaf = leaf[np.argsort(nodes.lo[leaf, 0])]
    size = nodes.hi[leaf, 0] - nodes.lo[leaf, 0]
    edges = np.repeat(nodes.count[leaf] / size, size)[position]
    its = edges[list(target)]
    lengths = release.extra.get("lengths", ())
    as_long = lengths[len(target) - 1] if len(lengths) >= len(target) else 0.0
    factors = release.extra.get("factors", (1.0,))
    return [
        float(its[0]),
        float(its.min()),
        float(its.max()),
        float(its.sum()),
        float(edges.sum()),
        float(release.extra.get("limit", EDGES)),
        float(as_long),
        float(sum(factors)),
    ]
