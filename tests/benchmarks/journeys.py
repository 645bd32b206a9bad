"""Vehicles on a road network, after Brinkhoff's generator, as a file of places in time.

``uv run python -m tests.benchmarks.journeys NODES EDGES -o journeys.parquet`` writes the input of
the table in ``assets/results/sequences.md``. Each vehicle sets out at a random node, drives the
shortest path to one at about a drawn distance, and reports its place every minute. Seeded.
"""

from __future__ import annotations

import argparse

import numpy as np

from dpviz.releases.roads.graph_file import read_graph
from dpviz.roads.graph import RoadGraph
from dpviz.roads.routing import Router

SOURCES = 400
"""Nodes where vehicles set out."""

SPEED = 100.0
"""Units of the network's plane in a minute: a hundredth of Oldenburg's side."""

REACH = 0.1
"""Half the mean distance that is driven, as a share of the longest shortest path."""


def journeys(graph: RoadGraph, n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns ``vehicle``, ``time`` (seconds), ``x``, ``y`` of n vehicles."""
    random = np.random.default_rng([7, seed])
    router, nodes = Router(graph), np.unique(graph.ends)
    source = random.choice(nodes, SOURCES, replace=False)
    distance, before = router.tree(source)
    row = random.integers(0, SOURCES, n)
    wanted = random.gamma(2.0, REACH * distance[np.isfinite(distance)].max(), n)
    target = np.empty(n, dtype=np.int64)
    for at in range(SOURCES):
        here = np.flatnonzero(row == at)
        order = nodes[np.argsort(distance[at, nodes], kind="stable")]
        order = order[np.isfinite(distance[at, order])]
        place = np.searchsorted(distance[at, order], wanted[here])
        place += random.integers(-20, 20, len(here))  # not the same node for the same distance
        target[here] = order[place.clip(1, len(order) - 1)]
    paths = router.paths(before, row, target)
    columns: dict[str, list[np.ndarray]] = {"vehicle": [], "time": [], "x": [], "y": []}
    for vehicle in range(n):
        node = int(source[row[vehicle]])
        passed = [node]
        for a, b in graph.ends[paths[vehicle]].tolist():
            node = b if node == a else a
            passed.append(node)
        xy = graph.xy[passed]
        along = np.append(0.0, np.cumsum(np.hypot(*np.diff(xy, axis=0).T)))
        at = np.append(np.arange(0, along[-1], SPEED), along[-1])
        columns["vehicle"].append(np.full(len(at), vehicle))
        columns["time"].append(60 * np.arange(len(at)))
        columns["x"].append(np.interp(at, along, xy[:, 0]))
        columns["y"].append(np.interp(at, along, xy[:, 1]))
    return {name: np.concatenate(blocks) for name, blocks in columns.items()}


def main() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes")
    parser.add_argument("edges")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("-n", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0, help="of sources, distances and targets")
    given = parser.parse_args()
    table = journeys(read_graph(given.nodes, given.edges), given.n, given.seed)
    pq.write_table(pa.table(table), given.output)


if __name__ == "__main__":
    main()
