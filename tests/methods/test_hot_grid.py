"""The hot grid: its price on every path, its smoothing, and squares where people are."""

from fractions import Fraction

import numpy as np
import pytest

import dpviz
from dpviz.errors import ParameterError, PrivacyError
from dpviz.evaluation.truth import HOT, exact_counts, hot
from dpviz.methods import method
from dpviz.methods.points import hot_grid
from dpviz.methods.points.hot_grid import smoothed
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise, geometric
from dpviz.trees.decomposition import MAX_NODES
from dpviz.trees.lattice import morton

from .cases import handle, skewed_points


def test_each_level_that_is_measured_is_a_partition_and_the_shares_add_up(monkeypatch):
    """Three draws over disjoint cells that hold every record once, for ε in all, in fractions."""
    drawn = []

    def logged(noise, share, counts, *rest):
        drawn.append((Fraction(share.epsilon), int(np.sum(counts)), len(counts)))
        return geometric(noise, share, counts, *rest)

    monkeypatch.setattr(hot_grid, "geometric", logged)
    data, budget = handle(skewed_points(5000, 2), 2), Budget(0.7)
    method("hot_grid", max_depth=8).build(data._index, budget, SimulatedNoise(1))
    assert [total for _, total, _ in drawn] == [5000] * 3
    assert drawn[0][2] == 1
    prices = [price for price, *_ in drawn]
    assert Fraction(999, 1000) * Fraction(0.7) < sum(prices) <= Fraction(0.7)
    assert float(prices[0]) == pytest.approx(0.007)
    assert float(prices[1]) == pytest.approx(0.15 * 0.693)


def test_leaves_are_finer_where_records_are():
    data = handle(np.concatenate([skewed_points(20_000, 2), np.full((20_000, 2), 0.61)]), 2)
    nodes = dpviz.build(data, "hot_grid", 1.0, seed=1, slopes=False).nodes
    depth = np.log2(data.domain.side / (nodes.hi - nodes.lo)[:, 0])
    at = data.domain.side * 0.61
    dense = nodes.leaf & ((nodes.lo <= at) & (at < nodes.hi)).all(axis=1)
    assert depth[dense].tolist() == [10.0]
    assert depth[nodes.leaf].min() == method("hot_grid").level(40_000, 1.0) == 7


def test_a_uniform_raster_is_smoothed_to_its_mean_and_a_peak_stays():
    cells = np.stack(np.meshgrid(np.arange(16), np.arange(16), indexing="ij"), -1).reshape(-1, 2)
    codes = morton(cells)
    random = np.random.default_rng(3)
    noisy = np.rint(100 + random.laplace(0, 10, 256)).astype(np.int64)
    smooth = smoothed(noisy, 200.0, codes, 4)
    assert smooth.shape == (256,)
    assert smooth.std() < 0.95 * noisy.std()
    peak = noisy.copy()
    peak[40] += 10_000
    assert smoothed(peak, 200.0, codes, 4)[40] == pytest.approx(peak[40], rel=0.02)
    assert (smoothed(noisy * 0, 0.0, codes, 4) == 0).all()


def test_leaves_stay_within_the_public_cap_on_nodes():
    """However large the noisy counts are: the depths are cut, the build does not fail."""
    chosen = method("hot_grid", max_depth=26)
    depth = chosen.depths(np.full(1 << 14, 1e9), 7, 26)
    assert depth.max() < 26
    assert (4.0 ** (depth - 7)).sum() <= MAX_NODES / 2


def test_nothing_and_little_give_a_release():
    for points in (np.zeros((0, 2)), np.full((3, 2), 0.4)):
        assert len(dpviz.build(handle(points, 2), "hot_grid", 0.01, seed=1).nodes) >= 21


@pytest.mark.parametrize("size", HOT)
def test_hot_squares_lie_around_records(size):
    data = handle(skewed_points(2000, 2), 2)
    load = hot(data, size, 500, seed=4)
    assert load.size == size
    low, high = np.split(load.rects, 2, axis=1)
    assert (low >= 0).all()
    assert (high <= 1).all()
    least, most = HOT[size]
    sides = high - low
    assert (sides >= least - 1e-9).all()
    assert (sides <= most + 1e-9).all()
    np.testing.assert_allclose(sides[:, 0], sides[:, 1], atol=1e-12)
    assert (exact_counts(data, load.rects) >= 1).mean() > 0.99
    np.testing.assert_array_equal(load.rects, hot(data, size, 500, seed=4).rects)


def test_hot_squares_of_sensitive_data_are_refused():
    with pytest.raises(PrivacyError, match="would tell where they are"):
        hot(handle(skewed_points(50, 2), 2, public=False), "hot", 5)
    with pytest.raises(ParameterError, match="one record"):
        hot(handle(np.zeros((0, 2)), 2), "hot", 5)


def test_the_look_leaves_room_for_its_leaves_however_much_is_asked_for():
    """A look of 4^11 cells alone passes half the cap on nodes: no depth of leaves would fit."""
    chosen = method("hot_grid", max_depth=26, widest=1e-4)
    first = chosen.level(1e12, 1.0)
    assert 4.0**first <= MAX_NODES / 2
    depth = chosen.depths(np.full(1 << 2 * first, 1e9), first, 26)
    assert (4.0 ** (depth - first)).sum() <= MAX_NODES / 2
