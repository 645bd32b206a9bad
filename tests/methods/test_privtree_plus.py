"""PrivTree+: the curve against its lemma, the theorem by dynamic programming, the noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.methods import method
from dpviz.methods.points.privtree_plus import MARGIN, Curve
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import NO_SPLIT_FLOOR, SimulatedNoise, asymmetric_geometric

from .cases import children_add_up, handle

CURVES = [Curve(1 / 8, 0.5), Curve(1 / 32, 0.5), Curve(1 / 8, 1.0), Curve(1 / 4, 0.2)]


@pytest.mark.parametrize(
    ("least", "distance", "a", "m"),
    [
        (1 / 8, 2.287385695847819, 0.623289833389855, 1.577230164995580),
        (1 / 32, 3.812309493079700, 0.652233302751129, 2.896670603325756),
    ],
)
def test_constants(least, distance, a, m):
    curve = Curve(least, 0.5)
    assert curve.distance == pytest.approx(distance, rel=1e-14)
    assert curve.a == pytest.approx(a, rel=1e-12)
    assert curve.m == pytest.approx(m, rel=1e-12)


@pytest.mark.parametrize("curve", CURVES)
def test_the_curve_rises_from_its_least_value_without_a_jump(curve):
    u = np.linspace(-3, 60, 200_001)
    log_split = curve.log_split(u)
    assert log_split[0] == pytest.approx(math.log(curve.least))
    assert (np.diff(log_split) >= -1e-15).all()
    assert np.abs(np.diff(log_split)).max() <= (u[1] - u[0]) * 1.001
    np.testing.assert_allclose(curve.no_split(u), -np.expm1(log_split), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("curve", CURVES)
def test_lemma_b_denying_a_split_costs_at_most_tau(curve):
    u = np.linspace(-1, 50, 100_001)
    loss = np.diff(np.log(curve.no_split(u))) / np.diff(u)
    assert loss.min() >= -curve.tau * (1 + 1e-6)


@pytest.mark.parametrize("curve", CURVES)
@given(data=st.data())
def test_lemma_a_slopes_along_any_path_add_up_to_at_most_one(curve, data):
    gaps = data.draw(st.lists(st.floats(1.0, 3.0), max_size=30))
    first = data.draw(st.floats(-1.0, 2 * curve.distance))
    path = first + np.concatenate([[0.0], np.cumsum(gaps)]) * curve.distance
    step = 1e-5
    slopes = (curve.log_split(path + step) - curve.log_split(path)) / step
    assert slopes.sum() <= 1 + 1e-4


@pytest.mark.parametrize("dims", [2, 4])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_theorem_by_dynamic_programming_over_falling_counts(dims, epsilon):
    """Greatest and least log-ratio of any path's bits when a record is added to all its nodes."""
    parameters = method("privtree_plus")
    gain = parameters.tree_share * epsilon
    curve = Curve(1 / (2 << dims), parameters.tau)
    scale = gain * (1 - MARGIN)
    most = int((12 * curve.distance + 40) / scale)
    counts = np.arange(most + 1)
    up = np.zeros(most + 1)  # best continuation from a child whose count is at most c
    down = np.zeros(most + 1)
    for depth in range(12, -1, -1):
        before = np.maximum(curve.no_split(scale * counts - depth * curve.distance), NO_SPLIT_FLOOR)
        after = np.maximum(
            curve.no_split(scale * (counts + 1) - depth * curve.distance), NO_SPLIT_FLOOR
        )
        stop, split = np.log(after / before), np.log((1 - after) / (1 - before))
        up = np.maximum.accumulate(np.maximum(stop, split + up))
        down = np.minimum.accumulate(np.minimum(stop, split + down))
    assert up[-1] <= gain
    assert up[-1] > 0.5 * gain  # the budget is used, not wasted
    assert down[-1] >= -parameters.tau * gain


def test_leaf_noise_is_centred_with_the_stated_variance():
    n, share = 200_000, Budget(1.0).spend(1.0, "counts", theorem="test")
    noisy, variance = asymmetric_geometric(SimulatedNoise(3), share, np.full(n, 5), 0.6, 0.8)
    assert noisy.mean() == pytest.approx(5, abs=4.9 * math.sqrt(variance[0] / n))
    # Kurtosis below 9 for these laws: sd of the sample variance under sqrt(8/n) of it.
    assert noisy.var() == pytest.approx(variance[0], rel=4.9 * math.sqrt(8 / n))


@pytest.mark.parametrize("name", ["privtree_plus", "self_budgeting_tree"])
def test_estimates_are_non_negative_and_add_up(name):
    points = np.random.default_rng(0).beta(2, 7, size=(20_000, 2))
    nodes = dpviz.build(handle(points, 2), name, 0.5, seed=1).nodes
    assert nodes.count.min() >= 0
    assert nodes.is_partition()
    children_add_up(nodes)
