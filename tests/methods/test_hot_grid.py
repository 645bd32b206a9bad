"""The hot grid: its price on every path, where it is fine, and squares where people are."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import settings

import dpviz
from dpviz.errors import ParameterError, PrivacyError
from dpviz.evaluation.truth import SQUARE_SIDES, exact_counts, squares_at_records
from dpviz.methods import method
from dpviz.methods.points import cell_tree, hot_grid
from dpviz.methods.points.hot_grid import HotGrid
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import SimulatedNoise
from dpviz.trees.consistency import downward, sum_up, upward
from tests.vault import index_of

from .cases import any_tree, handle, priced, skewed_points


@pytest.mark.slow
@settings(max_examples=20)
@any_tree("hot_grid", 50)
def test_prices_of_every_path_add_up_to_at_most_epsilon(index, epsilon, chosen, seed):
    """Sums in fractions, without a tolerance: record count, questions and every path."""
    with priced(hot_grid, HotGrid) as (drawn, paths):
        chosen.build(index, Budget(epsilon), SimulatedNoise(seed))
    [(price, dearest)] = paths
    assert price >= dearest > 0.999 * float(price) - 1e-8
    assert [draw[1:] for draw in drawn] == [(1, 1)] + (len(drawn) - 1) * [(1, 2)]
    assert len(drawn) <= 4
    assert sum(price for price, *_ in drawn) + dearest <= Fraction(epsilon)


@pytest.mark.slow
def test_the_first_level_follows_from_how_close_together_records_lie():
    """Finer where more records share a cell, and for smaller squares."""
    even = np.random.default_rng(1).random((40_000, 2))
    levels = {}
    for name, points in (("even", even), ("towns", even**2), ("one place", even * 1e-9 + 0.3)):
        for side in (0.001, 0.1):
            data = handle(points, 2)
            nodes = dpviz.build(data, "hot_grid", 1.0, seed=1, slopes=False, side=side).nodes
            levels[name, side] = nodes.level[nodes.leaf].min()
    assert levels["even", 0.001] == method("hot_grid").coarsest(40_000, 1.0) == 6
    assert 6 < levels["towns", 0.001] < levels["one place", 0.001] == 9
    assert levels["towns", 0.1] < levels["towns", 0.001]
    coarsest = [method("hot_grid").coarsest(total, 0.1) for total in (-50.0, 0.0, 1e4, 1e5, 1e12)]
    assert coarsest == [2, 2, 3, 5, 9]


@pytest.mark.slow
def test_leaves_are_finer_where_records_are_and_coarser_for_larger_squares():
    data = handle(np.concatenate([skewed_points(10_000, 2), np.full((10_000, 2), 0.61)]), 2)
    leaves = {}
    for side in (0.002, 0.2):
        nodes = dpviz.build(data, "hot_grid", 1.0, seed=1, slopes=False, side=side).nodes
        at = data.domain.side * 0.61
        dense = nodes.leaf & ((nodes.lo <= at) & (at < nodes.hi)).all(axis=1)
        assert nodes.level[dense].item() >= 12
        leaves[side] = int(nodes.leaf.sum())
    assert leaves[0.2] < 0.9 * leaves[0.002]


def test_estimates_move_no_record_out_of_a_block():
    """Totals of blocks equal least squares with limited looks: a bias would add up."""
    even = np.random.default_rng(1).random((20_000, 2))  # so that no block is empty
    data = handle(np.concatenate([skewed_points(20_000, 2), even]), 2)
    measured, finish = [], HotGrid.finish

    def finished(self, tree, *columns):
        measured[:] = [tree.parent, *columns]
        return finish(self, tree, *columns)

    with patch.object(HotGrid, "finish", finished):
        nodes = dpviz.build(data, "hot_grid", 1.0, seed=1, slopes=False).nodes
    np.testing.assert_allclose(nodes.count, sum_up(nodes.parent, nodes.count), atol=1e-6)
    parent, noisy, variance, doubts = measured
    limits = doubts.limits(variance, upward(parent, noisy, variance)[0])
    assert limits.min() < 0.5
    alone, spread = downward(parent, *upward(parent, noisy, variance, limits))
    first = int(nodes.level[nodes.leaf].min())
    blocks = nodes.levels[first - 3]
    assert first > 6
    assert blocks.stop - blocks.start == 4 ** (first - 3)
    moved = np.abs(nodes.count - alone)
    assert moved[blocks].max() < 1e-6 * 40_000
    assert moved.max() > 1
    np.testing.assert_array_equal(nodes.variance, spread)


@pytest.mark.parametrize("name", ["hot_grid", "ladder_tree"])
def test_leaves_stay_within_the_public_cap_on_nodes(name, monkeypatch):
    """However large the noisy counts are: what has no room stops, the build does not fail."""
    monkeypatch.setattr(cell_tree, "MAX_NODES", 7000)
    monkeypatch.setattr(hot_grid, "FINEST_LOOK", 6)
    data = handle(skewed_points(300, 2), 2)
    nodes = dpviz.build(data, name, 50.0, seed=1, slopes=False).nodes
    assert 5461 <= len(nodes) <= 7000
    exact = index_of(data).box_counts(nodes.lo, nodes.hi)
    np.testing.assert_allclose(nodes.count, exact, atol=5)


@pytest.mark.parametrize("size", SQUARE_SIDES)
def test_hot_squares_lie_around_records(size):
    data = handle(skewed_points(2000, 2), 2)
    load = squares_at_records(data, size, 500, seed=4)
    assert load.size == size
    low, high = np.split(load.rects, 2, axis=1)
    assert (low >= 0).all()
    assert (high <= 1).all()
    least, most = SQUARE_SIDES[size]
    sides = high - low
    assert (sides >= least - 1e-9).all()
    assert (sides <= most + 1e-9).all()
    np.testing.assert_allclose(sides[:, 0], sides[:, 1], atol=1e-12)
    assert (exact_counts(data, load.rects) >= 1).mean() > 0.99
    np.testing.assert_array_equal(load.rects, squares_at_records(data, size, 500, seed=4).rects)


def test_hot_squares_of_sensitive_data_are_refused():
    with pytest.raises(PrivacyError, match="exact answers are NOT PRIVATE"):
        squares_at_records(handle(skewed_points(50, 2), 2, public=False), "hot", 5)
    with pytest.raises(ParameterError, match="no query or no record"):
        squares_at_records(handle(np.zeros((0, 2)), 2), "hot", 5)
