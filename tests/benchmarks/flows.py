"""Flows of streets beside the paper's best combination, on three networks.

    DPVIZ_SHARED_DATA=../shared/data uv run python -m tests.benchmarks.flows [--releases 10]

Mean squared error of paths of ten edges and of corridors, ± one standard error over releases with
simulated noise, seeds from 0. The thinned city lacks a random 30 % of its edges; no constant was
chosen on it.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpviz.build import build
from dpviz.evaluation.truth import exact_visits
from dpviz.private.load.graphs import read_graph
from dpviz.private.roads import RoadData
from dpviz.roads.generate import clustered_workload, commuter_trips, corridor_workload
from dpviz.roads.graph import RoadGraph
from dpviz.roads.tables import road_graph

METHODS = ("min+best+tru", "basic", "flows")
EPSILONS = (1.0, 0.1)
THINNED = 0.3


def networks() -> Iterator[tuple[str, RoadData]]:
    """Public trips on each network; Oldenburg where the folder of shared data is."""
    folder = os.environ.get("DPVIZ_SHARED_DATA")
    if folder:
        files = (Path(folder) / f"road_oldenburg_{part}.parquet" for part in ("nodes", "edges"))
        yield driven("Oldenburg", read_graph(*map(str, files)), 45_000, 8.0)
    city = read_graph("city")
    yield driven("city", city, 45_000, 8.0)
    yield driven("thinned city", thinned(city), 30_000, 10.0)


def driven(name: str, graph: RoadGraph, trips: int, edges: float) -> tuple[str, RoadData]:
    """A network with so many trips of so many edges in the mean."""
    return name, RoadData(name, graph, commuter_trips(graph, trips, mean_edges=edges), public=True)


def thinned(graph: RoadGraph) -> RoadGraph:
    """The largest part that is left without some of the edges."""
    left = np.flatnonzero(np.random.default_rng(77).random(len(graph)) > THINNED)
    ends = graph.node_id[graph.ends[left]]
    nodes = {"node": graph.node_id, "x": graph.xy[:, 0], "y": graph.xy[:, 1]}
    edges = {"edge": graph.edge_id[left], "src": ends[:, 0], "dst": ends[:, 1]}
    return road_graph(nodes, {**edges, "length": graph.length[left]}, components="largest")


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("--releases", type=int, default=10)
    releases = arguments.parse_args().releases
    print(f"| network | ε | path | {' | '.join(f'`{each}`' for each in METHODS)} | share |")
    print("|---" * (len(METHODS) + 4) + "|")
    for name, data in networks():
        exact = exact_visits(data)
        paths = {
            "10 edges": clustered_workload(data.graph, 10),
            "corridor": corridor_workload(data.graph),
        }
        for epsilon in EPSILONS:
            for path, workload in paths.items():
                truth, means, cells = workload.sum(exact), [], []
                for method in METHODS:
                    errors = []
                    for seed in range(releases):
                        release = build(data, method, epsilon, workload=workload, seed=seed)
                        errors.append(np.mean((workload.sum(release.answers.count) - truth) ** 2))
                    spread = float(np.std(errors, ddof=1)) / math.sqrt(releases)
                    means.append(float(np.mean(errors)))
                    cells.append(f"{means[-1]:.3g} ± {spread:.1g}")
                share = f"{means[-1] / means[0]:.2f}"
                print(
                    f"| {name} | {epsilon:g} | {path} | {' | '.join(cells)} | {share} |", flush=True
                )


if __name__ == "__main__":
    main()
