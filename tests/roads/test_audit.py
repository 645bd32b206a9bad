"""An audit of the network methods: with one trip against without it, on a street of four edges.

A lower bound on the real ε at confidence 1 − 1e-6 must not exceed the claim; and it must exceed a
claim that is false, or the audit could not find anything.
"""

import numpy as np
import pytest

from dpviz.build import build
from dpviz.evaluation.events import epsilon_bound
from dpviz.private.roads import RoadData
from dpviz.roads.graph import road_graph
from dpviz.roads.paths import Paths

STREET = road_graph(
    {"node": range(5), "x": range(5), "y": [0] * 5}, {"src": range(4), "dst": range(1, 5)}
)
WORKLOAD = Paths.of([[0, 1, 2, 3]] * 3 + [[1, 2]])
OTHERS = [[0], [1, 2]]
TRIP = [0, 1, 2, 3]
FALSE_ALARM = 1e-6


def statistic(trips: list[list[int]], method: str, epsilon: float, n: int, seed: int) -> np.ndarray:
    """Noisy total over the street: the direction in which the trip moves every count."""
    data = RoadData("street", STREET, Paths.of(trips), public=True)
    limits = {} if method == "normalization" else {"max_length": 4}
    values = [
        build(data, method, epsilon, workload=WORKLOAD, seed=seed + k, **limits).edge_count.sum()
        for k in range(n)
    ]
    return np.array(values)


def lower_bound(method: str, epsilon: float, n: int) -> float:
    """Threshold chosen on one half of the runs, ε bounded on the other."""
    with_trip = statistic([*OTHERS, TRIP], method, epsilon, n, 0)
    without = statistic(OTHERS, method, epsilon, n, n)
    half = n // 2
    cuts = np.quantile(with_trip[:half], np.linspace(0.05, 0.95, 19))

    def ratio(cut: float) -> float:
        return float(((with_trip[:half] > cut).sum() + 5) / ((without[:half] > cut).sum() + 5))

    cut = max(cuts, key=ratio)
    more, fewer = int((with_trip[half:] > cut).sum()), int((without[half:] > cut).sum())
    return epsilon_bound(more, fewer, n - half, FALSE_ALARM, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    ["dwork", "min+opt", "freqitem", "gs", "flows"],
)
def test_no_method_leaks_more_than_it_claims(method: str) -> None:
    assert lower_bound(method, 1.5, 800) <= 1.5


@pytest.mark.slow
def test_the_audit_finds_a_false_claim() -> None:
    """Noise for ε = 5, claimed as 1.5: the trip shows."""
    assert lower_bound("dwork", 5.0, 2_500) > 1.5
