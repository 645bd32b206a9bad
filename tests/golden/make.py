"""Small releases of every kind, and files of them in the present schema.

``uv run python -m tests.golden.make`` writes them when the schema is a new one; what changes in
numbers between two versions shows ``tests.harness``.
"""

import json
from pathlib import Path

import numpy as np
import shapely

import dpviz
from dpviz.build import build
from dpviz.private.roads import RoadData
from dpviz.private.sequences import SequenceData, Sequences
from dpviz.releases.counts import is_areas
from dpviz.releases.header import SCHEMA
from dpviz.releases.sequences.cells import Cells
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.roads.paths import Paths
from dpviz.roads.tables import road_graph

HERE = Path(__file__).parent


def points():
    domain = dpviz.Domain.from_bounds([-1.0, 50.0, 1.0, 52.0])
    records = np.random.default_rng(0).normal([0.0, 51.0], 0.2, size=(400, 2))
    handle = dpviz.from_points(records, domain, public=True, name="golden points")
    return dpviz.build(handle, "privtree", 1.0, seed=0)


def wavelets():
    domain = dpviz.Domain.from_bounds([0.0, 0.0, 1.0, 1.0])
    records = np.random.default_rng(2).beta(2, 3, size=(400, 2))
    handle = dpviz.from_points(records, domain, public=True, name="golden wavelets")
    return dpviz.build(handle, "privelet", 1.0, seed=0, log_cells=3)


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
    return build(data, "event-histogram", 1.0, workload=Paths.of([np.array([0, 1])]), seed=0)


def visits(method="markov"):
    rows = [[0, 1, 3], [0, 1], [2, 3, 1, 0]] * 40
    alphabet = Cells(dpviz.Domain((0, 0), (1, 1)), 2).alphabet(neighbours=True)
    data = SequenceData("golden visits", alphabet, Sequences.of(rows), public=True)
    return build(data, method, 2.0, seed=0, l_top=5)


def areas():
    domain = dpviz.Domain.from_bounds([0.0, 0.0, 2.0, 1.0], columns=("x", "y"))
    shapes = np.array([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)], dtype=object)
    parent, names = np.array([-1, 0, 0]), ("all", "west", "east")
    partition = dpviz.Areas(domain, ("whole", "half"), names, parent, shapes)
    records = np.random.default_rng(3).uniform([0, 0], [2, 1], size=(400, 2))
    handle = dpviz.from_points(records, domain, public=True, name="golden areas")
    return dpviz.build(handle, "areas", 1.0, areas=partition, seed=0)


MADE = {
    "points": points,
    "wavelets": wavelets,
    "trips": trips,
    "roads": roads,
    "visits": visits,
    "contexts": visits,
    "grams": lambda: visits("ngram"),
    "ranking": lambda: visits("topk_em"),
    "areas": areas,
}


def facts(release):
    """Facts that a reader must find: sums that change with any value."""
    if isinstance(release, SequenceRelease):
        return {"epsilon": release.header.epsilon, **model_facts(release.model)}
    if is_areas(release):
        columns = release.nodes.count, release.nodes.variance, release.frame.surface
        return {
            "epsilon": release.header.epsilon,
            "areas": len(release.frame),
            "values": [float(each @ np.arange(1, len(each) + 1)) for each in columns],
        }
    nodes = release.nodes
    noise = {"noise": release.header.noise["variance"]} if release.header.noise else {}
    return noise | {
        "epsilon": release.header.epsilon,
        "nodes": len(nodes),
        "count": float(nodes.count.sum()),
        "variance": float(nodes.variance.sum()),
        "lo": int(nodes.lo.sum()),
        "hi": int(nodes.hi.sum()),
    }


def model_facts(model):
    """Sums over a model of sequences, weighted so that two values that change places show."""
    columns = (getattr(model, name, None) for name in ("first_child", "child", "counts"))
    values = [np.ravel(column) for column in columns if column is not None]
    strings = [[*string, -1] for string in getattr(model, "strings", ())]
    values += [np.concatenate(strings)] if strings else []
    return {
        "rows": len(model),
        "values": [float(each @ np.arange(1, len(each) + 1)) for each in values],
        "variance": getattr(model, "variance", 0.0),
    }


def write(folder):
    """The golden files of the present schema, and what is in them."""
    folder.mkdir()
    by_name = {}
    for name, make in MADE.items():
        release = make()
        release.save(folder / f"{name}.parquet")
        by_name[name] = facts(release)
    (folder / "facts.json").write_text(json.dumps(by_name, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write(HERE / f"schema-{SCHEMA}")
