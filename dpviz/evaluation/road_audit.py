"""The subject of audits of road methods: trips on a street of four edges, with one more."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpviz.evaluation.subject import Pair, Subject, neighbours_of
from dpviz.methods.roads.base import Measured, RoadMethod, RoadTask
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import Noise
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
"""Numbers for an attacker who knows every trip and asks whether one more is there."""


def drives(epsilon: float) -> Iterator[Pair]:
    """Neighbouring inputs; sizes follow the noise, which is of the order EDGES/ε.

    A trip along the whole street moves every count; a trip of a single edge tests methods that
    weigh by length; a trip among about as many as the noise tests the choice of the truncation
    limit.
    """
    some, many = math.ceil(EDGES / epsilon), math.ceil(10 * EDGES / epsilon)
    whole = tuple(range(EDGES))
    first, last = whole[:1], whole[-1:]
    yield "no trip, or one along the whole street", (), whole
    yield "no trip, or one on one edge", (), first
    yield f"{some} trips along the whole street, or one more", ((whole, some),), whole
    yield f"{many} trips along the whole street, or one more", ((whole, many),), whole
    name = f"{many} trips on one edge, or one along the whole street beside"
    yield name, ((first, many),), whole
    name = f"{many} trips on the last edge, or one on the first beside"
    yield name, ((last, many),), first


def road_subject(method: RoadMethod, epsilon: float) -> Subject:
    """Builds of a road method; the public workload is mostly the whole street."""
    graph = street()
    workload = Paths.of([[0, 1, 2, 3]] * 3 + [[1, 2]])

    def build(data: Paths, budget: Budget, noise: Noise) -> Measured:
        return method.build(RoadTask(graph, data, workload, budget, noise))

    return Subject(neighbours_of(drives(epsilon), Paths.of), FEATURES, build, features)


def street() -> RoadGraph:
    """The graph of all builds."""
    ends = np.arange(EDGES + 1)
    nodes: dict[str, Any] = {"node": ends, "x": ends, "y": 0 * ends}
    return road_graph(nodes, {"src": ends[:-1], "dst": ends[1:]})


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
