"""Oracles of the grid methods: wavelets, HB's branching, AG's inference, levels, 4-D."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz
from dpviz.domain import Domain, default_columns
from dpviz.errors import ParameterError
from dpviz.methods import method
from dpviz.methods.points.privelet import haar, inverse_haar
from dpviz.private.mechanisms.noise import geometric_variance
from dpviz.trees.decomposition import MAX_NODES

from .cases import handle, skewed_points


def haar_matrix(m):
    """The transform of m cells as a matrix, from the definition, row by row."""
    rows = [np.ones(m)]
    blocks = 1
    while blocks < m:
        size = m // blocks
        for block in range(blocks):
            row = np.zeros(m)
            row[block * size : block * size + size // 2] = 1
            row[block * size + size // 2 : (block + 1) * size] = -1
            rows.append(row)
        blocks *= 2
    return np.array(rows)


@pytest.mark.slow
@given(st.lists(st.integers(0, 10**6), min_size=32, max_size=32))
def test_the_wavelet_is_the_matrix_and_its_inverse_undoes_it(values):
    grid = np.array(values).reshape(4, 8)
    expected = haar_matrix(4) @ grid @ haar_matrix(8).T
    np.testing.assert_array_equal(haar(grid), expected)
    np.testing.assert_array_equal(inverse_haar(haar(grid)), grid)


@pytest.mark.parametrize("shape", [(8,), (4, 8), (2, 4, 2), (2, 2, 4, 2)])
def test_one_record_moves_the_coefficients_by_exactly_the_sensitivity(shape):
    claimed = method("privelet").sensitivity(shape)
    moved = []
    for cell in itertools.product(*map(range, shape)):
        one = np.zeros(shape, dtype=np.int64)
        one[cell] = 1
        moved.append(np.abs(haar(one)).sum())
    assert set(moved) == {claimed}


@pytest.mark.slow
@given(st.integers(2, 2000))
def test_branching_minimises_the_formula(n):
    b, h = method("HB").branching(n)
    assert b**h >= n > b ** (h - 1)
    heights = {c: next(k for k in range(1, 12) if c**k >= n) for c in range(2, n + 1)}
    assert b * (n - 1) * h**2 == min(c * (n - 1) * k**2 for c, k in heights.items())


@pytest.mark.parametrize("n", [2, 7, 16, 30])
def test_levels_of_the_hierarchy_share_epsilon_and_all_leaves_are_deepest(n):
    release = dpviz.build(handle(skewed_points(300, 2), 2), "HB", 1.0, seed=1, cells=n)
    _, h = method("HB").branching(n)
    rows = release.header.budget
    assert len(rows) == h
    assert {round(row["epsilon"], 12) for row in rows} == {round(1 / h, 12)}
    assert (release.nodes.level[release.nodes.leaf] == h).all()
    assert release.nodes.leaf.sum() == n * n


def test_adaptive_grid_estimates_are_least_squares_of_its_two_measurements():
    """Undivided and divided cells alike: the variance of each coarse cell is the combined one."""
    epsilon, alpha = 0.5, 0.4
    release = dpviz.build(
        handle(skewed_points(4000, 2), 2), "AG", epsilon, seed=2, cells=10, alpha=alpha
    )
    nodes = release.nodes
    side = release.domain.side
    coarse = np.flatnonzero(((nodes.hi - nodes.lo) * 10 <= 1.5 * side).all(axis=1))
    edges = np.arange(11) * side // 10
    coarse = coarse[
        np.isin(nodes.lo[coarse], edges).all(axis=1) & np.isin(nodes.hi[coarse], edges).all(axis=1)
    ]
    assert len(coarse) == 100
    first = float(geometric_variance(1 / (alpha * epsilon)))
    second = float(geometric_variance(1 / ((1 - alpha) * epsilon)))
    for node in coarse:
        inside = (nodes.lo >= nodes.lo[node]).all(axis=1) & (nodes.hi <= nodes.hi[node]).all(axis=1)
        cells = int((inside & nodes.leaf).sum())
        exact = 1 / (1 / first + 1 / (cells * second))
        assert nodes.variance[node] == pytest.approx(exact, rel=1e-9)
    assert nodes.leaf.sum() > 150


def test_round_robin_in_four_dimensions_halves_axes_in_turn():
    release = dpviz.build(handle(skewed_points(3000, 4), 4), "privtree", 1.0, seed=1, axes=2)
    nodes = release.nodes
    inner = nodes.n_children > 0
    assert set(nodes.n_children[inner]) == {4}
    sides = (nodes.hi - nodes.lo)[nodes.level == 1]
    assert (sides[:, :2] * 2 == release.domain.side).all()
    assert (sides[:, 2:] == release.domain.side).all()


@pytest.mark.parametrize("dims", [1, 3, 4])
def test_a_quadtree_of_default_height_fits_every_number_of_dimensions(dims):
    chosen = method("quadtree")
    nodes = sum(2 ** (dims * level) for level in range(chosen.levels(dims) + 1))
    assert nodes <= MAX_NODES
    assert chosen.levels(dims) == 8 or nodes * 2**dims > MAX_NODES
    chosen.check(Domain((0.0,) * dims, (1.0,) * dims, default_columns(dims)))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("quadtree", {"height": 12}, "height=12 passes the public cap .* choose a height up to 11"),
        ("ugrid", {"cells": 4096}, "choose cells up to 2000"),
        ("privelet", {"log_cells": 20}, "log_cells=20: .* choose up to 10"),
        ("dawa", {"log_cells": 11}, "choose up to 10"),
        ("kdtree", {"median": "cell", "log_grid": 11}, "choose up to 10"),
        ("privtree", {"axes": 4}, "the data has 2 dimensions"),
        ("privtree", {"epsilon": 1e-20}, "hides everything"),
        ("quadtree", {"height": "inf"}, "height='inf': give a whole number"),
        ("privtree", {"axes": -math.inf}, "axes=-inf: give a whole number"),
        ("quadtree", {"prune": math.inf}, "prune=inf: give a number from 0 to 1e"),
        ("quadtree", {"prune": 10**400}, "give a number"),
    ],
)
def test_builds_that_cannot_work_are_refused_before_payment(tmp_path, name, parameters, message):
    ledger = dpviz.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_total("points", 1.0)
    domain = Domain((0.0, 0.0), (1.0, 1.0))
    data = dpviz.from_points(skewed_points(50, 2), domain, name="points")
    with pytest.raises(ParameterError, match=message):
        dpviz.build(data, name, **{"epsilon": 0.5, **parameters}, ledger=ledger)
    assert ledger.account("points").spent == 0


def test_the_fine_grids_of_agrid_stop_at_the_public_cap(monkeypatch):
    """A paid build is released with coarser fine grids, not refused."""
    from dpviz.methods.points import agrid

    points = np.random.default_rng(1).random((20_000, 2)) * 0.1
    data = dpviz.from_points(points, dpviz.Domain((0, 0), (1, 1)), public=True)
    whole = dpviz.build(data, "agrid", 10.0, seed=1, cells=10)
    monkeypatch.setattr(agrid, "MAX_NODES", 600)
    cut = dpviz.build(data, "agrid", 10.0, seed=1, cells=10)
    assert 100 < cut.nodes.leaf.sum() <= 300 < whole.nodes.leaf.sum()
