"""Shortest paths on a road graph: one pair, or many at once. Public: no record is involved."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.lazy import scipy
from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.roads.paths import Paths


class Router:
    """Shortest paths by length; of parallel edges the shortest counts."""

    def __init__(self, graph: RoadGraph) -> None:
        self.graph = graph
        n = len(graph.node_id)
        key = graph.pair_keys(*graph.ends.T)
        order = np.lexsort([graph.length, key])
        order = order[graph.ends[order, 0] != graph.ends[order, 1]]  # a self-loop shortens nothing
        self._keys, first = np.unique(key[order], return_index=True)
        self._edges = order[first]
        a, b = graph.ends[self._edges].T
        weight = graph.length[self._edges]
        if not graph.directed:
            weight, a, b = np.r_[weight, weight], np.r_[a, b], np.r_[b, a]
        self._matrix: Any = scipy.sparse.csr_array((weight, (a, b)), shape=(n, n))

    def tree(self, sources: Int, limit: float = np.inf) -> tuple[Float, Int]:
        """Distances and predecessors (s, n) from s nodes; a missing predecessor is negative."""
        distance, before = scipy.sparse.csgraph.dijkstra(
            self._matrix, indices=sources, return_predecessors=True, limit=limit
        )
        return np.asarray(distance), np.asarray(before, dtype=np.int64)

    def edges_between(self, a: Int, b: Int) -> Int:
        """The shortest edge row from one node to the next."""
        wanted = self.graph.pair_keys(a, b)
        return np.asarray(self._edges[np.searchsorted(self._keys, wanted)])

    def paths(self, before: Int, row: Int, target: Int) -> Paths:
        """Edge paths to targets (q,) from the sources of rows (q,) of a predecessor table.

        All targets walk back together; a target without a predecessor gets an empty path.
        """
        node = target.copy()
        columns, alive = [], np.arange(len(target))
        while len(alive):
            previous = before[row[alive], node[alive]]
            alive, previous = alive[previous >= 0], previous[previous >= 0]
            if len(alive):
                columns.append((alive, self.edges_between(previous, node[alive])))
                node[alive] = previous
        if not columns:
            return Paths(np.zeros(len(target) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
        owner = np.concatenate([part[0] for part in columns])
        edge = np.concatenate([part[1] for part in columns])
        step = np.repeat(np.arange(len(columns)), [len(part[0]) for part in columns])
        order = np.lexsort([-step, owner])
        size = np.bincount(owner, minlength=len(target))
        return Paths(np.concatenate([[0], np.cumsum(size)]), edge[order])


def shortest_path(graph: RoadGraph, source: object, target: object) -> Int:
    """Edge rows of the shortest path between two node ids, in order."""
    a, b = graph.node_row(source), graph.node_row(target)
    if a == b:
        raise DataError(f"both ends of the path are node {source!s}: choose two different nodes")
    if graph.part[a] != graph.part[b]:
        raise DataError(f"no path joins nodes {source!s} and {target!s}: choose nodes of one part")
    router = Router(graph)
    _, before = router.tree(np.array([a]))
    if before[0, b] < 0:
        raise DataError(f"no path leads from node {source!s} to {target!s}: choose other nodes")
    return router.paths(before, np.array([0]), np.array([b]))[0]
