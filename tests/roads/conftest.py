"""Small road graphs and trips that every test of the network engine shares."""

import numpy as np
import pytest

from dpviz.private.roads import RoadData
from dpviz.roads.generate import clustered_workload, commuter_trips
from dpviz.roads.graph import road_graph


def grid(side):
    """A street grid of side × side nodes with unit blocks, a little bent."""
    number = np.arange(side * side)
    x, y = number % side, number // side
    east, north = number[x < side - 1], number[y < side - 1]
    src = np.concatenate([east, north])
    dst = np.concatenate([east + 1, north + side])
    nodes = {"node": number, "x": x + 0.1 * np.sin(y), "y": y + 0.1 * np.cos(x)}
    return road_graph(nodes, {"src": src, "dst": dst})


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
