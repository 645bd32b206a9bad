"""Small releases of every kind, and the files of them that every later version must read.

A schema has one folder here, written once by ``uv run python -m tests.golden.make`` and never
again: that is what makes its files golden.
"""

import json
from pathlib import Path

import numpy as np

import dpviz
from dpviz.network import files as road_files
from dpviz.network.data import RoadData
from dpviz.network.graph import road_graph
from dpviz.network.paths import Paths
from dpviz.network.publish import publish
from dpviz.release import SCHEMA

HERE = Path(__file__).parent


def points():
    domain = dpviz.Domain.from_bounds([-1.0, 50.0, 1.0, 52.0])
    records = np.random.default_rng(0).normal([0.0, 51.0], 0.2, size=(400, 2))
    handle = dpviz.from_points(records, domain, public=True, name="golden points")
    return dpviz.build(handle, "privtree", 1.0, seed=0)


def trips():
    domain = dpviz.Domain.from_bounds([0.0] * 4 + [1.0] * 4)
    records = np.random.default_rng(1).beta(2, 5, size=(400, 4))
    handle = dpviz.from_points(records, domain, public=True, name="golden trips")
    return dpviz.build(handle, "quadtree", 1.0, seed=0, height=1)


def roads():
    nodes = {"node": [1, 2, 3, 4], "x": [0, 1, 1, 2], "y": [0, 0, 1, 1]}
    graph = road_graph(nodes, {"edge": ["a", "b", "c"], "src": [1, 2, 3], "dst": [2, 3, 4]})
    walks = Paths.of([np.array(walk) for walk in ([0, 1], [1, 2], [0, 1, 2], [2])])
    data = RoadData("golden roads", graph, walks, public=True)
    return publish(data, Paths.of([np.array([0, 1])]), "event-histogram", 1.0, seed=0)


def facts(release):
    """What a reader must find: sums that change with any value."""
    nodes = release.nodes
    return {
        "epsilon": release.header.epsilon,
        "nodes": len(nodes),
        "count": float(nodes.count.sum()),
        "variance": float(nodes.variance.sum()),
        "lo": int(nodes.lo.sum()),
        "hi": int(nodes.hi.sum()),
    }


def write(folder):
    """The golden files of the present schema, and what is in them."""
    folder.mkdir()
    found = {}
    for name, release in (("points", points()), ("trips", trips()), ("roads", roads())):
        save = road_files.save if name == "roads" else dpviz.save
        save(release, folder / f"{name}.parquet")
        found[name] = facts(release)
    (folder / "facts.json").write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write(HERE / f"schema-{SCHEMA}")
