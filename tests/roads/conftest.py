"""Small road graphs and trips that every test of the network engine shares."""

import numpy as np
import pandas as pd
import pytest

from dpviz.private.roads import RoadData
from dpviz.roads.generate import clustered_workload, commuter_trips
from dpviz.roads.paths import Paths, require_paths
from dpviz.roads.tables import road_graph


def grid(side):
    """A street grid of side × side nodes with unit blocks, a little bent."""
    number = np.arange(side * side)
    x, y = number % side, number // side
    east, north = number[x < side - 1], number[y < side - 1]
    src = np.concatenate([east, north])
    dst = np.concatenate([east + 1, north + side])
    nodes = {"node": number, "x": x + 0.1 * np.sin(y), "y": y + 0.1 * np.cos(x)}
    return road_graph(nodes, {"src": src, "dst": dst})


def joined(ends, **how):
    """Five nodes, and an edge for each of these pairs: parallel ones and loops among them, which
    differ in length.
    """
    nodes = {"node": range(5), "x": range(5), "y": [0, 1, 0, 1, 0]}
    edges = {"src": [a for a, _ in ends], "dst": [b for _, b in ends]}
    edges["length"] = np.linspace(1.0, 2.0, len(ends))
    return road_graph(nodes, edges, components="all", **how)


def star(x, y):
    """Edges from a node in the middle to each of these places."""
    nodes = {"node": range(len(x) + 1), "x": [0, *x], "y": [0, *y]}
    return road_graph(nodes, {"src": [0] * len(x), "dst": range(1, len(x) + 1)})


def tables(graph):
    nodes = pd.DataFrame({"node": graph.node_id, "x": graph.xy[:, 0], "y": graph.xy[:, 1]})
    src, dst = graph.node_id[graph.ends].T
    columns = {"edge": graph.edge_id, "src": src, "dst": dst, "length": graph.length}
    return nodes, pd.DataFrame(columns)


def are_paths(graph, domains):
    """Every edge is in one sub-domain, and each of these is a path."""
    assert sorted(domains.order.tolist()) == list(range(len(graph)))
    require_paths(graph, Paths.of(np.split(domains.order, domains.start[1:-1])))


@pytest.fixture(scope="session")
def streets():
    return grid(9)


@pytest.fixture(scope="session")
def trips(streets):
    return commuter_trips(streets, 800, mean_edges=4, hubs=20, seed=3)


@pytest.fixture(scope="session")
def workload(streets):
    return clustered_workload(streets, 6, pivots=30, per_pivot=3, seed=1)


@pytest.fixture(scope="session")
def data(streets, trips):
    return RoadData("grid", streets, trips, public=True)


@pytest.fixture(scope="session")
def ring():
    nodes = {"node": range(4), "x": [0, 1, 1, 0], "y": [0, 0, 1, 1]}
    return road_graph(nodes, {"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0]})


@pytest.fixture(scope="session")
def one_way():
    """A grid of streets east and north, every third one with a way back."""
    number = np.arange(64)
    east, north = number[number % 8 < 7], number[number < 56]
    src = np.concatenate([east, north, east[::3] + 1, north[::3] + 8])
    dst = np.concatenate([east + 1, north + 8, east[::3], north[::3]])
    nodes = {"node": number, "x": number % 8, "y": number // 8}
    return road_graph(nodes, {"src": src, "dst": dst}, directed=True)


@pytest.fixture(scope="session")
def odd():
    """Parallel edges, a self-loop, a ring and a dead end, with text ids."""
    nodes = {"node": list("abcd"), "x": [0, 1, 1, 0], "y": [0, 0, 1, 1]}
    edges = {
        "edge": ["ab1", "ab2", "bc", "cd", "da", "loop"],
        "src": ["a", "a", "b", "c", "d", "c"],
        "dst": ["b", "b", "c", "d", "a", "c"],
        "length": [1.0, 2.0, 1.0, 1.0, 1.0, 0.5],
    }
    return road_graph(nodes, edges)
