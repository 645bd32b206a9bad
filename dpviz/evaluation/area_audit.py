"""Subjects of audits on areas and flows: quarters of a square, one record more in the first."""

from __future__ import annotations

import math

import numpy as np

from dpviz.domain import Domain
from dpviz.evaluation.subject import Neighbours, Subject
from dpviz.lazy import shapely
from dpviz.methods.areas.base import AreaMethod
from dpviz.methods.flows.base import FlowMethod
from dpviz.releases.areas.partition import Areas
from dpviz.releases.flows.frame import Flows
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float

FEATURES = (
    "count of the record's quarter",
    "count of its half",
    "count of the whole",
    "count of the other quarter of its half",
    "count of the other half",
    "counts of its quarter, its half and the whole together",
)
"""Numbers for an attacker who knows every record and asks whether one more is there."""

FLOW_FEATURES = (
    "count of the record's pair of quarters, 0 where it was not measured",
    "count of its pair of halves",
    "count of all pairs",
    "number of measured pairs",
    "count of its pair of halves, and whether its parts were measured",
)
"""The same for flows."""


def area_subject(method: AreaMethod, epsilon: float) -> Subject:
    """Builds of a method on areas."""
    areas, many = square(), math.ceil(15 / epsilon)
    inputs = {
        "no record, or one": (0, 0, 0, 0),
        "one record in another quarter, or one more": (0, 1, 0, 0),
        f"{many} records, or one more among them": (many, 0, 0, 0),
        f"{many} records in each quarter, or one more": (many, many, many, many),
    }
    cases = [
        Neighbours(name, np.array(counts) + np.array([1, 0, 0, 0]), np.array(counts), None)
        for name, counts in inputs.items()
    ]

    def features(estimates: tuple[np.ndarray, np.ndarray], _: None) -> list[float]:
        whole, half, other, first, second = estimates[0][:5].tolist()
        return [first, half, whole, second, other, first + half + whole]

    return Subject(
        cases, FEATURES, lambda data, *spent: method.build(areas, data, *spent), features
    )


def flow_subject(method: FlowMethod, epsilon: float) -> Subject:
    """Builds of a method on flows; some inputs lie near the threshold of a division."""
    flows, many = Flows(square()), math.ceil(60 / epsilon)
    inputs = {
        "no record, or one": 0,
        "as many records as divide a pair, or one more": math.ceil(21 / epsilon),
        f"{many} records, or one more among them": many,
    }
    first = np.zeros((1, 3), dtype=np.int64)

    def counted(records: int) -> tuple[np.ndarray, np.ndarray]:
        return (first, np.array([records])) if records else (first[:0], np.zeros(0, np.int64))

    cases = [Neighbours(name, counted(n + 1), counted(n), None) for name, n in inputs.items()]

    def features(release: tuple[Decomposition, Float], _: None) -> list[float]:
        nodes, counts = release
        inside = (nodes.lo == 0).all(axis=1)
        of_level = [counts[0, inside & (nodes.level == level)] for level in range(3)]
        whole, half, pair = (float(each.sum()) for each in of_level)
        divided = 1_000.0 * many * (len(of_level[2]) > 0)
        return [pair, half, whole, float(len(nodes)), half + divided]

    return Subject(
        cases, FLOW_FEATURES, lambda data, *spent: method.build(flows, 1, *data, *spent), features
    )


def square() -> Areas:
    """A square, its halves and its quarters."""
    domain = Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
    corners = [(0.0, 0.0), (0.0, 0.5), (0.5, 0.0), (0.5, 0.5)]
    shapes = np.array([shapely.box(x, y, x + 0.5, y + 0.5) for x, y in corners], dtype=object)
    names = ("square", "west", "east", "sw", "nw", "se", "ne")
    parent = np.array([-1, 0, 0, 1, 1, 2, 2])
    return Areas(domain, ("whole", "half", "quarter"), names, parent, shapes)
