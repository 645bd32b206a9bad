"""Small releases of flows, of trips and of moves, for the maps of notebooks."""

import numpy as np
import pyarrow as pa

import dpviz
from dpviz.private.flows import FlowData
from dpviz.private.roads import RoadData
from dpviz.roads.generate import clustered_workload
from dpviz.roads.paths import Paths
from dpviz.roads.tables import road_graph
from tests.wards import voronoi


def streets():
    """Trips along a line of four streets."""
    nodes = {"node": range(5), "x": range(5), "y": [0] * 5}
    graph = road_graph(nodes, {"src": range(4), "dst": range(1, 5)})
    data = RoadData("trips", graph, Paths.of([[0, 1], [1]]), public=True)
    workload = clustered_workload(graph, 2)
    return dpviz.build(data, epsilon=100.0, seed=1, workload=workload)  # counts far above the noise


def commutes():
    """Trips between wards."""
    wards = voronoi(dpviz.Domain.from_bounds([10.0, 50.0, 11.0, 51.0]), 9, seed=1)
    cells = np.array([[0, 1, 2], [0, 3, 4], [0, 3, 4]])
    data = FlowData("commutes", dpviz.Flows(wards), cells, public=True)
    return dpviz.build(data, epsilon=100.0, seed=1)


def moves():
    """A release of moves of two people between two of four places."""
    table = pa.table(
        {
            "who": ["a", "a", "b"],
            "at": ["2024-01-01T08:00", "2024-01-01T09:00", "2024-01-01T08:00"],
            "lon": [10.1, 10.9, 10.1],
            "lat": [50.1, 50.9, 50.1],
        }
    )
    box = dpviz.Domain.from_bounds([10.0, 50.0, 11.0, 51.0])
    how = {"unit": "who", "time": "at", "side": 2, "kind": "sequences"}
    return dpviz.build(
        dpviz.load(table, box, name="moves", public=True, **how), epsilon=1.0, seed=1
    )
