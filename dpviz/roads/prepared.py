"""Prepared plan of the built-in city: trees on its streets for its default queries.

To find them takes seconds, and at the first visit to page Roads the compilation of the search too.
They are public, and the same for every ε. ``data/make_city_plan.py`` writes the file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpviz.roads.decompose import Subdomains
from dpviz.roads.forest import Forest
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths

FILE = Path(__file__).with_name("city_plan.npz")
COLUMNS = ("order", "start", "lo", "hi", "parent", "relative_scale")
DECIMALS = 6
"""Of coordinates, so that processors that round sines differently know the city again."""


@dataclass(frozen=True)
class Plan:
    """Trees for a workload.

    ``variance``: mean variance of the workload's answers, as of
    :func:`dpviz.roads.trees.workload_variance`.
    """

    forest: Forest
    variance: float


def digest(graph: RoadGraph, workload: Paths, decomposition: str, index: str) -> str:
    """Fingerprint of all that a plan depends on."""
    hashed = hashlib.sha256(f"{decomposition} {index} {graph.directed}".encode())
    places = np.round(graph.xy, DECIMALS) + 0.0  # no negative zero
    for column in (places, graph.ends, workload.start, workload.item):
        hashed.update(np.ascontiguousarray(column).tobytes())
    return hashed.hexdigest()


def prepared_plan(graph: RoadGraph, workload: Paths, decomposition: str, index: str) -> Plan | None:
    """The plan in the file, if it is for this graph, workload and choice; else None."""
    with np.load(FILE, allow_pickle=False) as file:
        if str(file["digest"]) != digest(graph, workload, decomposition, index):
            return None
        order, start, *columns = (file[name] for name in COLUMNS)
        domains = Subdomains(order.astype(np.int64), start.astype(np.int64))
        lo, hi, parent = (each.astype(np.int64) for each in columns[:3])
        return Plan(Forest(domains, lo, hi, parent, columns[3]), float(file["variance"]))
