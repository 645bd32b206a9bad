"""The subject of audits on flows: pairs of four quarters, one record more in the first pair."""

from __future__ import annotations

import math

import numpy as np

from dpviz.evaluation.area_audit import square
from dpviz.evaluation.subject import Neighbours, Subject
from dpviz.methods.flows.base import FlowMethod
from dpviz.releases.flows.frame import Flows
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float

FEATURES = (
    "count of the record's pair of quarters, 0 where it was not measured",
    "count of its pair of halves",
    "count of all pairs",
    "number of measured pairs",
    "count of its pair of halves, and whether its parts were measured",
)
"""Numbers for an attacker who knows every record and asks whether one more is there."""


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
        cases, FEATURES, lambda data, *spent: method.build(flows, 1, *data, *spent), features
    )
