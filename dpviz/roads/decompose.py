"""Decomposition of the graph into path sub-domains.

Public: it sees the graph and the workload only.
At every node the edge ends that meet there are matched in pairs; following the pairs gives paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.lazy import nx
from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.roads.paths import Paths, distinct_keys, walk_nodes

STRAIGHTNESS = 1e-3
"""Weight of a straight continuation: decides between pairs that the workload uses equally, so that
sub-domains look like streets. Query counts are whole numbers, and a node joins far fewer than
1 / STRAIGHTNESS pairs, so it never outweighs a query."""

EXACT_DEGREE = 7
"""Up to this many edge ends the best matching is found by trying all (105 pairings)."""


Matched = Callable[[int, list[int]], Iterable[tuple[int, int, float]]]
"""The pairs of edge ends (darts) at a node, each with its weight."""


@dataclass(frozen=True, eq=False)
class Subdomains:
    """Every edge of the graph in exactly one path.

    Attributes:
        order: edge rows, path after path; the position of an edge is its place in it. int64 (m,).
        start: offsets of the paths into ``order``, int64 (paths + 1,).
    """

    order: Int
    start: Int

    @property
    def position(self) -> Int:
        """Position of each edge row, int64 (m,)."""
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        return place

    @property
    def path(self) -> Int:
        """Path of each position, int64 (m,)."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def runs(self, workload: Paths) -> tuple[Int, Int, Int]:
        """Sub-queries of a workload: positions [low, high) within one path, and their query.

        Returns low, high, query, int64 of shape (sub-queries,). An edge that a query uses twice
        counts once.
        """
        m = len(self.order)
        key = distinct_keys(workload.owner * m + self.position[workload.edge])
        query, place = key // m, key % m
        path = self.path[place]
        first = np.ones(len(key), dtype=np.bool_)
        first[1:] = (np.diff(key) != 1) | (np.diff(path) != 0) | (np.diff(query) != 0)
        begin = np.flatnonzero(first)
        finish = np.append(begin[1:], len(key)) - 1
        return place[begin], place[finish] + 1, query[begin]


def separate(graph: RoadGraph) -> Subdomains:
    """Every edge on its own."""
    return Subdomains(np.arange(len(graph)), np.arange(len(graph) + 1))


def min_cut(graph: RoadGraph, workload: Paths) -> Subdomains:
    """The decomposition that cuts the queries of a workload least often (paper, algorithm 2).

    A maximum-weight matching at every node, weighted by how many queries pass from one edge to the
    other there. At a node of two edges they are always joined (lemma 2). In a directed graph the
    matching is bipartite: an edge that arrives is joined to one that leaves.
    """
    weight = _crossings(graph, workload)

    def best(node: int, darts: list[int]) -> Iterator[tuple[int, int, float]]:
        pairs = {}
        for i, a in enumerate(darts):
            for j in range(i + 1, len(darts)):
                b = darts[j]
                if _may_join(graph, a, b):
                    # In a directed graph the arriving dart, an odd one, comes first.
                    first, second = (a, b) if a & 1 or not graph.directed else (b, a)
                    edges = _pair(graph, first >> 1, second >> 1)
                    straight = STRAIGHTNESS * _straightness(graph, a, b)
                    pairs[i, j] = weight.get((node, *edges), 0) + straight
        for i, j in _matching(len(darts), pairs):
            yield darts[i], darts[j], pairs[i, j]

    return _follow(graph, best)


def chains(graph: RoadGraph) -> Subdomains:
    """Streets between crossings: two edges are joined only where they alone meet.

    A trip that passes such a node passes both edges, so that their visits differ by the trips that
    begin or end there.
    """

    def only(_: int, darts: list[int]) -> Iterator[tuple[int, int, float]]:
        if len(darts) == 2 and _may_join(graph, *darts):
            yield darts[0], darts[1], 1.0

    return _follow(graph, only)


def random_pairs(graph: RoadGraph, seed: int = 0) -> Subdomains:
    """The paper's baseline: a uniformly random pairing at every node. The seed is public."""
    random = np.random.default_rng([20_153, seed])

    def drawn(node: int, darts: list[int]) -> Iterator[tuple[int, int, float]]:
        shuffled = random.permutation(darts).tolist()
        firsts, seconds = shuffled[::2], shuffled[1::2]
        if graph.directed:
            firsts, seconds = ([d for d in shuffled if d & 1 == side] for side in (1, 0))
        for a, b in zip(firsts, seconds, strict=False):
            if a >> 1 != b >> 1:
                yield a, b, float(random.random())

    return _follow(graph, drawn)


def _may_join(graph: RoadGraph, a: int, b: int) -> bool:
    """Return whether a path may continue from one edge end to another at the same node."""
    return a >> 1 != b >> 1 and (not graph.directed or (a ^ b) & 1 == 1)


def _pair(graph: RoadGraph, edge: int, after: int) -> tuple[int, int]:
    """Two edges as a key: in order of passing in a directed graph, else the lower first."""
    return (edge, after) if graph.directed else (min(edge, after), max(edge, after))


def _crossings(graph: RoadGraph, workload: Paths) -> dict[tuple[int, int, int], int]:
    """ω: queries that pass from one edge to another at a node, by node and :func:`_pair`."""
    node = walk_nodes(graph, workload)
    inner = np.ones(len(node), dtype=np.bool_)
    inner[workload.start[1:][workload.length > 0] - 1] = False
    at = np.flatnonzero(inner)
    a, b = workload.edge[at], workload.edge[at + 1]
    first, second = (a, b) if graph.directed else (np.minimum(a, b), np.maximum(a, b))
    triples = np.column_stack([node[at], first, second])
    triples = triples[(node[at] >= 0) & (a != b)]
    unique, times = np.unique(triples, axis=0, return_counts=True)
    return {(p, e, f): w for (p, e, f), w in zip(unique.tolist(), times.tolist(), strict=True)}


def _straightness(graph: RoadGraph, a: int, b: int) -> float:
    """1 where dart b continues dart a straight on, 0 where it turns back."""
    u, v = _direction_out(graph, a), _direction_out(graph, b)
    size = float(np.sqrt((u[0] ** 2 + u[1] ** 2) * (v[0] ** 2 + v[1] ** 2)))
    return 0.5 - 0.5 * (u[0] * v[0] + u[1] * v[1]) / size if size > 0 else 0.5


def _direction_out(graph: RoadGraph, dart: int) -> tuple[float, float]:
    """The direction in which an edge leaves the node of its dart."""
    begin, end = graph.line_start[dart >> 1], graph.line_start[(dart >> 1) + 1]
    here, there = (end - 1, end - 2) if dart & 1 else (begin, begin + 1)
    x, y = graph.line_xy[there] - graph.line_xy[here]
    return float(x), float(y)


def _matching(n: int, weight: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """A maximum-weight matching among n ends, of greatest size among those of equal weight."""
    if n > EXACT_DEGREE:
        graph = nx.Graph()
        graph.add_weighted_edges_from((i, j, value) for (i, j), value in weight.items())
        return [
            (min(i, j), max(i, j)) for i, j in nx.max_weight_matching(graph, maxcardinality=True)
        ]
    return _exhaustive(tuple(range(n)), weight)[2]


def _exhaustive(
    ends: tuple[int, ...], weight: dict[tuple[int, int], float]
) -> tuple[int, float, list[tuple[int, int]]]:
    """Size, weight and pairs of the best matching: the first end is paired with each, or left."""
    if len(ends) < 2:
        return 0, 0.0, []
    first, others = ends[0], ends[1:]
    best = _exhaustive(others, weight)
    for k, other in enumerate(others):
        if (first, other) in weight:
            size, total, pairs = _exhaustive(others[:k] + others[k + 1 :], weight)
            candidate = (size + 1, total + weight[first, other], [(first, other), *pairs])
            best = max(best, candidate, key=lambda each: each[:2])
    return best


def _follow(graph: RoadGraph, matched: Matched) -> Subdomains:
    """Paths along the pairs that ``matched(node, darts)`` yields as (dart, dart, weight).

    What closes into a cycle is cut at its lightest pair.
    """
    m = len(graph)
    mate = np.full(2 * m, -1, dtype=np.int64)
    strength: Float = np.zeros(2 * m)
    offset, dart = graph.incidence
    listed = dart.tolist()
    for node in range(len(graph.node_id)):
        for a, b, value in matched(node, listed[offset[node] : offset[node + 1]]):
            mate[a], mate[b] = b, a
            strength[a] = strength[b] = value
    mates = mate.tolist()
    seen: NDArray[np.bool_] = np.zeros(m, dtype=np.bool_)
    walks: list[list[int]] = []

    def walk(begin: int) -> list[int]:
        """Edges from the one whose dart ``begin`` is an end of the path."""
        edges, at = [], begin
        while at >= 0 and not seen[at >> 1]:
            seen[at >> 1] = True
            edges.append(at >> 1)
            at = mates[at ^ 1]
        return edges

    free = np.flatnonzero(mate < 0)
    if graph.directed:
        free = free[free & 1 == 0]  # a path begins where its first edge begins
    for begin in free.tolist():
        walks += [] if seen[begin >> 1] else [walk(begin)]
    for edge in np.flatnonzero(~seen).tolist():
        if seen[edge]:
            continue
        ring: list[int] = []
        at = 2 * edge
        while not ring or at != 2 * edge:  # darts that enter the edges of the cycle
            ring.append(at)
            at = mates[at ^ 1]
        walks.append(walk(ring[int(np.argmin(strength[ring]))]))
    sizes = np.array([len(each) for each in walks])
    return Subdomains(np.concatenate(walks), np.concatenate([[0], np.cumsum(sizes)]))
