"""Synthetic public inputs: commuter trips for demos, and the workloads of experiments.

Everything here is seeded and synthetic. A workload must never be drawn from private trips.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.calendar import moment
from dpviz.errors import ParameterError
from dpviz.roads.graph import Int, RoadGraph
from dpviz.roads.paths import Paths
from dpviz.roads.routing import Router

START = "start"
"""Name of the column of synthetic start times."""

WEEK = ("2024-03-04", "2024-03-11")
"""The public week of synthetic trips, Monday to Monday, UTC."""

BATCH = 256
"""Sources per call of the shortest-path search: 256 × 10,000 nodes are 20 MB each table."""


def commuter_trips(
    graph: RoadGraph, n: int, *, mean_edges: float = 8.0, hubs: int = 400, seed: int = 0
) -> Paths:
    """Synthetic trips along shortest paths: people leave from ``hubs`` homes for places near by.

    A home is as popular as a Zipf rank says, and so is a destination; how far people go is
    exponential in the number of edges, so that there are a few long trips.

    ``mean_edges``: mean trip length aimed at, in edges.
    """
    if n < 1 or mean_edges < 1 or hubs < 1:
        raise ParameterError(
            f"trips={n}, mean_edges={mean_edges:g}, hubs={hubs}: give numbers from 1"
        )
    random = np.random.default_rng([20_150, seed])
    joining = graph.ends[graph.ends[:, 0] != graph.ends[:, 1]]
    connected = np.unique(joining[:, 0] if graph.directed else joining)
    if not len(connected):
        raise ParameterError("the road graph has self-loops only: trips need two nodes")
    home = random.choice(connected, min(hubs, len(connected)), replace=False)
    weight = 1.0 / np.arange(1, len(home) + 1) ** 0.7
    trips = random.multinomial(n, weight / weight.sum())
    attraction = random.pareto(1.6, len(graph.node_id)) + 0.2
    step = float(np.median(graph.length))
    router, routes = Router(graph), []
    for start in range(0, len(home), BATCH):
        rows = np.arange(start, min(start + BATCH, len(home)))
        rows = rows[trips[rows] > 0]
        if not len(rows):
            continue
        limit = 12 * mean_edges * step
        distance, before = router.tree(home[rows], limit)
        distance[distance == 0] = np.inf
        # The number of nodes grows with distance; the additional power compensates for it.
        pull = np.where(
            np.isfinite(distance),
            attraction * np.exp(-distance / (1.1 * mean_edges * step)) / np.maximum(distance, step),
            0.0,
        )
        stranded = pull.sum(axis=1) == 0
        if stranded.any():  # none within the limit: take the nearest neighbour
            distance_far, before_far = router.tree(home[rows[stranded]])
            distance_far[distance_far == 0] = np.inf
            nearest = np.argmin(distance_far, axis=1)
            pull[np.flatnonzero(stranded), nearest] = 1.0
            before[stranded] = before_far
        target = [
            random.choice(len(pull[k]), trips[row], p=pull[k] / pull[k].sum())
            for k, row in enumerate(rows)
        ]
        source = np.repeat(np.arange(len(rows)), trips[rows])
        routes.append(router.paths(before, source, np.concatenate(target)))
    return _shuffled(routes, random)


def commuter_starts(trips: Paths) -> NDArray[np.float64]:
    """Synthetic times at which trips start, float64 (n,) in seconds since 1970 UTC.

    In the week of :data:`WEEK`, four in five trips on working days. There the longer half of the
    trips is mostly of the rush hours, around 8:00 and 17:30, and the others spread over the day.

    ``trips``: any; they stay as they are, and the same have the same times.
    """
    random = np.random.default_rng([20_153, 0])
    n = len(trips)
    working = random.random(n) < 0.8
    day = np.where(working, random.integers(0, 5, n), random.integers(5, 7, n))
    long_trip = trips.length > np.median(trips.length) if n else np.zeros(0, dtype=np.bool_)
    rush = working & (random.random(n) < np.where(long_trip, 0.85, 0.35))
    morning = random.random(n) < 0.5
    peak = np.where(morning, random.normal(8.0, 0.6, n), random.normal(17.5, 0.8, n))
    hour = np.where(rush, peak, random.normal(14.0, 3.5, n)) % 24.0
    return np.asarray(moment(WEEK[0]) + day * 86_400.0 + np.floor(hour * 3_600.0))


def _shuffled(groups: list[Paths], random: np.random.Generator) -> Paths:
    sizes = np.concatenate([part.length for part in groups])
    whole = Paths(
        np.concatenate([[0], np.cumsum(sizes)]), np.concatenate([part.edge for part in groups])
    )
    return whole.take(random.permutation(len(whole)))


def clustered_workload(
    graph: RoadGraph, length: int, *, pivots: int = 1000, per_pivot: int = 5, seed: int = 0
) -> Paths:
    """Queries of ``length`` edges through random pivots, as in the paper's experiments (§7).

    Two arms start at two edges of the pivot and walk away from it without using an edge twice; an
    arm that has nowhere to go is shorter. On a directed graph the first arm walks against the
    directions, so that the query passes the pivot on its way.
    """
    if length < 1 or pivots < 1 or per_pivot < 1:
        raise ParameterError(
            f"workload of length {length}, {pivots} pivots, {per_pivot} queries each: "
            "give numbers from 1"
        )
    random = np.random.default_rng([20_151, seed])
    offset, dart = graph.incidence
    degree = np.diff(offset)
    crossings = np.flatnonzero(degree > 2)
    if not len(crossings):
        crossings = np.flatnonzero(degree > 0)
    centre = random.choice(crossings, pivots, replace=len(crossings) < pivots)
    arms = (length // 2, length - length // 2)
    queries = []
    for node in np.repeat(centre, per_pivot):
        used_edges: set[int] = set()
        sides = [
            _arm(graph, offset, dart, int(node), size, used_edges, random, against=against)
            for size, against in zip(arms, (True, False), strict=True)
        ]
        queries.append([*reversed(sides[0]), *sides[1]])
    return Paths.of([query for query in queries if query])


def _arm(
    graph: RoadGraph,
    offset: Int,
    dart: Int,
    node: int,
    size: int,
    used_edges: set[int],
    random: np.random.Generator,
    *,
    against: bool,
) -> list[int]:
    """A walk of up to ``size`` unused edges from a node; its edges are added to ``used_edges``.

    It steps back out of dead ends, which stay used; it is shorter only where nothing is left.
    """
    walk: list[int] = []
    nodes = [node]
    best: list[int] = []
    while len(walk) < size:
        at = nodes[-1]
        free = [
            d
            for d in dart[offset[at] : offset[at + 1]].tolist()
            if d >> 1 not in used_edges and (not graph.directed or d & 1 == against)
        ]
        if free:
            chosen = free[int(random.integers(len(free)))]
            used_edges.add(chosen >> 1)
            walk.append(chosen >> 1)
            nodes.append(int(graph.ends[chosen >> 1, 1 - (chosen & 1)]))
            continue
        best = max(best, walk.copy(), key=len)
        if not walk:
            break
        walk.pop()
        nodes.pop()
    return max(best, walk, key=len)


def corridor_workload(graph: RoadGraph, n: int = 1000) -> Paths:
    """Queries along shortest paths between random pairs of nodes: long corridors."""
    if n < 1:
        raise ParameterError(f"workload of {n} corridors: give at least 1")
    random = np.random.default_rng([20_152, 0])
    router = Router(graph)
    nodes = np.unique(graph.ends)
    per_source = max(1, n // 200)
    source = random.choice(nodes, -(-n // per_source))
    _, before = router.tree(source)
    row = np.repeat(np.arange(len(source)), per_source)[:n]
    paths = router.paths(before, row, random.choice(nodes, n))
    driven: NDArray[np.bool_] = paths.length > 0
    return paths.take(np.flatnonzero(driven))
