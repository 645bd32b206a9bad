"""Posterior means of a level's noisy counts."""

import numpy as np
import pytest

from dpviz.trees.consistency import upward
from dpviz.trees.shrinkage import (
    CERTAIN_SDS,
    MIN_BLOCK_LEAVES,
    MIN_NODES,
    ROWS,
    Decisions,
    shrink_level,
    shrink_tree,
    subtree_estimates,
)


def level(n, seed=0):
    """Counts, mostly zero, half of them of leaves, with noise of three scales."""
    random = np.random.default_rng(seed)
    exact = np.where(random.random(n) < 0.6, 0.0, random.gamma(0.5, 20.0, size=n))
    leaf = random.random(n) < 0.5
    deviation = random.choice([4.0, 5.0, 7.0], size=n)
    noise = np.where(leaf, random.laplace(size=n) / np.sqrt(2.0), random.normal(size=n))
    return exact, exact + noise * deviation, deviation**2, leaf


@pytest.mark.parametrize("n", [200, 40_000])
def test_posterior_means_are_nearer_and_hardly_biased(n):
    """Fixed seeds; a tenth of a deviation, and five standard errors of the noise's mean."""
    exact, noisy, variance, leaf = level(n)
    estimate, spread = shrink_level(noisy, variance, leaf)
    assert ((estimate - exact) ** 2).mean() < 0.75 * ((noisy - exact) ** 2).mean()
    typical = np.sqrt(variance.mean())
    assert abs((estimate - exact).mean()) < typical * (0.1 + 5.0 / np.sqrt(n))
    assert (estimate >= 0).all()
    assert (spread > 0).all()
    assert spread.mean() < variance.mean()


def test_tables_say_what_single_nodes_are_told():
    """More than ROWS nodes share tables by class of deviation, which give the same values."""
    _, noisy, variance, leaf = level(ROWS)
    few = shrink_level(np.minimum(noisy, 60.0), variance, leaf)[0]
    # The prior is fitted to every eighth row of eight copies, so that only the tables differ.
    copies = [np.repeat(each, 8) for each in (np.minimum(noisy, 60.0), variance, leaf)]
    many = shrink_level(*copies)[0][::8]
    away = np.abs(many - few) / np.sqrt(variance)
    assert away.max() < 0.2
    assert away.mean() < 0.02


@pytest.mark.parametrize("seen", [0.0, 1.0, 1e15])
@pytest.mark.parametrize("deviation", [0.0, 1e-9, 1.0, 1e6])
def test_extremes_stay_finite_and_keep_totals(seen, deviation):
    parent = np.concatenate([[-1], np.zeros(2 * MIN_NODES, dtype=np.int64)])
    noisy = np.full(len(parent), seen)
    noisy[0] *= len(parent) - 1
    variance = np.full(len(parent), deviation**2)
    count = shrink_tree(parent, *subtree_estimates(parent, noisy, variance))[0]
    assert np.isfinite(count).all()
    assert (count >= 0).all()
    assert count[1:].sum() == pytest.approx(count[0], rel=1e-9, abs=1e-6)


def test_sums_of_nodes_that_decided_are_unbiased_from_a_block_on():
    """Nodes of 20 records that stop below a noisy 20, else have four children, under one root.

    Their sum is off by at most five standard errors, and by least squares by more than ten.
    """
    random, nodes, exact = np.random.default_rng(1), 16 * MIN_BLOCK_LEAVES, 20.0
    fine = exact + random.normal(size=nodes) * 3.0
    coarse = fine + random.normal(size=nodes) * np.sqrt(91.0)
    inner = np.flatnonzero(coarse > exact)
    look, variance = np.where(coarse > exact, coarse, fine), np.full(nodes, 9.0)
    variance[inner] = 100.0
    children = exact / 4 + random.normal(size=4 * len(inner)) * 4.0
    parent = np.concatenate([[-1], np.zeros(nodes, dtype=np.int64), np.repeat(inner + 1, 4)])
    noisy = np.concatenate([[0.0], look, children])
    variance = np.concatenate([[np.inf], variance, np.full(len(children), 16.0)])
    decided, looks = np.arange(len(parent)) > 0, variance[1:]
    doubts = Decisions.of(decided, np.full(len(looks), 9.0), np.full(len(looks), np.inf), looks)
    total, spread = (column[0] for column in subtree_estimates(parent, noisy, variance, doubts))
    assert abs(total - nodes * exact) < 5.0 * np.sqrt(spread)
    biased, spread = (column[0] for column in subtree_estimates(parent, noisy, variance))
    assert biased - nodes * exact > 10.0 * np.sqrt(spread)


def test_small_nodes_and_certain_decisions_keep_the_weights_of_least_squares():
    parent = np.concatenate([[-1], np.zeros(MIN_BLOCK_LEAVES - 1, dtype=np.int64)])
    noisy, variance = np.arange(MIN_BLOCK_LEAVES, dtype=np.float64), np.full(MIN_BLOCK_LEAVES, 2.0)
    small = subtree_estimates(
        parent,
        noisy,
        variance,
        Decisions(np.zeros(MIN_BLOCK_LEAVES), np.full(MIN_BLOCK_LEAVES, np.inf)),
    )
    assert np.array_equal(small, upward(parent, noisy, variance))
    parent = np.concatenate([[-1], np.zeros(MIN_BLOCK_LEAVES, dtype=np.int64)])
    noisy, variance = np.ones(MIN_BLOCK_LEAVES + 1), np.full(MIN_BLOCK_LEAVES + 1, 2.0)
    limit, one = np.full(1, 0.1), np.ones(1)
    for few, final in ((noisy[0] - CERTAIN_SDS, 1.0), (MIN_BLOCK_LEAVES, 0.1)):
        doubts = Decisions.of(
            np.arange(MIN_BLOCK_LEAVES + 1) == 0, 2.0 * limit, np.full(1, few), one
        )
        limited = upward(
            parent, noisy, variance, np.where(np.arange(MIN_BLOCK_LEAVES + 1) == 0, final, 1.0)
        )
        assert np.array_equal(subtree_estimates(parent, noisy, variance, doubts), limited)


def test_sums_are_unbiased_where_all_nodes_are_about_as_full_as_one_that_is_certain():
    """Looks at 1,000 nodes that all go on, about ten deviations above their threshold.

    Had each look decided how much it weighs itself, the sum would be 700 too high, three times the
    five standard errors that it is within.
    """
    random, nodes, exact = np.random.default_rng(2), 1000, 100.0
    looks = exact + random.normal(size=nodes) * 7.0
    children = exact / 16 + random.normal(size=16 * nodes) * 2.4
    inner = np.arange(1, nodes + 1)
    parent = np.concatenate([[-1], np.zeros(nodes, dtype=np.int64), np.repeat(inner, 16)])
    noisy = np.concatenate([[0.0], looks, children])
    variance = np.repeat([np.inf, 49.0, 2.4**2], [1, nodes, 16 * nodes])
    decided = np.isin(np.arange(len(parent)), inner)
    threshold, deviation = np.full(nodes, exact - CERTAIN_SDS * 7.0), np.full(nodes, 7.0)
    doubts = Decisions.of(decided, np.full(nodes, 3.0), threshold, deviation)
    total, spread = (column[0] for column in subtree_estimates(parent, noisy, variance, doubts))
    assert abs(total - nodes * exact) < 5.0 * np.sqrt(spread)
