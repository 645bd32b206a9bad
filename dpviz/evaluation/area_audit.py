"""The subject of audits on areas: a square of four quarters, one record more in the first."""

from __future__ import annotations

import math

import numpy as np

from dpviz.domain import Domain
from dpviz.evaluation.subject import Neighbours, Subject
from dpviz.lazy import shapely
from dpviz.methods.areas.base import AreaMethod
from dpviz.releases.areas.partition import Areas

FEATURES = (
    "count of the record's quarter",
    "count of its half",
    "count of the whole",
    "count of the other quarter of its half",
    "count of the other half",
    "counts of its quarter, its half and the whole together",
)
"""Numbers for an attacker who knows every record and asks whether one more is there."""


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


def square() -> Areas:
    """A square, its halves and its quarters."""
    domain = Domain((0.0, 0.0), (1.0, 1.0), ("x", "y"))
    corners = [(0.0, 0.0), (0.0, 0.5), (0.5, 0.0), (0.5, 0.5)]
    shapes = np.array([shapely.box(x, y, x + 0.5, y + 0.5) for x, y in corners], dtype=object)
    names = ("square", "west", "east", "sw", "nw", "se", "ne")
    parent = np.array([-1, 0, 0, 1, 1, 2, 2])
    return Areas(domain, ("whole", "half", "quarter"), names, parent, shapes)
