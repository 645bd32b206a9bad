"""Public priors: masses of cells, the fit of a level, sub-cells below leaves."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.trees import guided, prior
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.prior import Fit, Fitting, Prior

BITS = 26


def prior_of(mass, level):
    """A prior of these masses of all cells of a level, in the order of their codes."""
    codes = np.arange(4**level, dtype=np.uint64) << np.uint64(2 * (BITS - level))
    size = np.full(len(codes), 4.0 ** (BITS - level))
    return Prior.of_cells(codes, size, np.asarray(mass, dtype=np.float64), (), {})


def masses(public, level):
    """Masses of all cells of a level, in the order of their codes."""
    size = 4 ** (BITS - level)
    return public.masses(np.arange(4**level) * size, size)


@given(st.lists(st.tuples(st.integers(0, 63), st.integers(0, 3), st.floats(0, 1e4)), max_size=20))
def test_masses_are_sums_over_cells_that_share_evenly_inside(given_cells):
    """Masses of cells of any level, which may overlap and are even inside."""
    number, level, mass = (np.array(each) for each in zip((0, 0, 1.0), *given_cells, strict=True))
    codes = number.astype(np.uint64) << np.uint64(2 * (BITS - 3))
    public = Prior.of_cells(codes, 4.0 ** (BITS - level), mass, (), {})
    expected = np.zeros(4**4)
    for at, depth, each in zip(number.astype(int), level.astype(int), mass, strict=True):
        size = 4 ** (4 - depth)
        start = at * 4 // size * size
        expected[start : start + size] += each / size
    for depth in range(5):
        sums = expected.reshape(4**depth, -1).sum(axis=1)
        np.testing.assert_allclose(masses(public, depth), sums, rtol=1e-9, atol=1e-6)


def families_of(mass, random, epsilon=0.2):
    """Noisy counts of families whose records lie as masses say."""
    count = random.poisson(mass) + random.laplace(0, 1 / epsilon, mass.shape)
    return count, np.full(mass.shape, 2 / epsilon**2)


def test_the_misfit_of_the_true_shares_is_unbiased_whatever_the_noise():
    """φ of shares that are off by a known variance, less what noise and sampling add."""
    random = np.random.default_rng(0)
    share = random.dirichlet(np.ones(4), 40_000)
    true = 300 * share
    count = true + random.laplace(0, 10, true.shape)
    with patch.object(prior, "ADDED", (1e-9,)):
        fitting = Fitting()
        fit = fitting.add(count, np.full(count.shape, 200.0), share)
    assert fit.used
    # Shares are true ones: no error remains, up to four standard errors of 40,000.
    assert fitting.sums[0, 1] / fitting.sums[2, 1] == pytest.approx(0.0, abs=0.002)
    # Reference, shares by area: Σ(s − ¼)² / (1 − ¼), on average 0.2 over all s.
    assert fitting.sums[0, 0] / fitting.sums[2, 0] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("public", ["true", "mirrored", "even", "none inside"])
def test_a_prior_is_used_only_where_noisy_counts_agree_with_it(public):
    random = np.random.default_rng(1)
    mass = 400 * random.dirichlet(np.full(4, 0.7), 60)
    given_masses = {
        "true": mass,
        "mirrored": mass[::-1, ::-1],
        "even": np.full(mass.shape, 100.0),
        "none inside": np.zeros(mass.shape),
    }[public]
    fit = Fitting().add(*families_of(mass, random), given_masses)
    assert fit.trusted == (public == "true")
    if public != "true":
        assert fit == Fit()
    few = Fitting().add(*families_of(mass[:5], random), mass[:5])
    assert not few.used  # five families are too few to fit


def test_levels_hand_on_what_they_found_to_levels_with_few_families():
    random = np.random.default_rng(2)
    mass = 400 * random.dirichlet(np.full(4, 0.7), 60)
    fitting = Fitting()
    fitting.add(*families_of(mass, random), mass)
    assert fitting.add(*families_of(mass[:2], random), mass[:2]).used


def whole(fit, public, count=1000.0):
    """The root alone as a leaf, with sub-cells by a fit."""
    root = Decomposition(
        lo=[[0, 0]], hi=[[1 << BITS] * 2], parent=[-1], count=[count], variance=[50]
    )
    return guided.with_sub_cells(root, np.full((1, 4), 0.25), [fit], public)


def test_sub_cells_share_their_leaf_as_the_prior_does():
    """Each family adds up to its parent; its spread is that of the fit, and never understated."""
    mass = np.random.default_rng(3).dirichlet(np.full(64, 0.4)) * 500
    fit, public = Fit(1.0, 0.1, 0.05, 3.0), prior_of(mass, 3)
    nodes = whole(fit, public)
    assert nodes.depth == 3
    assert nodes.is_partition()
    inner = ~nodes.leaf
    sums, spread = (
        np.bincount(nodes.parent[1:], column[1:], minlength=len(nodes))[inner]
        for column in (nodes.count, nodes.variance)
    )
    np.testing.assert_allclose(sums, nodes.count[inner])
    assert (spread >= nodes.variance[inner] * (1 - 1e-12)).all()
    first = fit.shares(masses(public, 1)[None])[0]
    np.testing.assert_allclose(nodes.count[1:5], 1000 * first)
    expected = first * 50 + first * (1 - first) * 1000 * (1 + 0.05 * 1000)
    np.testing.assert_allclose(nodes.variance[1:5], expected)


def test_leaves_with_few_records_or_an_even_prior_stay_whole():
    mass = np.random.default_rng(3).dirichlet(np.full(64, 0.4)) * 500
    fit = Fit(1.0, 0.1, 0.05, 3.0)
    for count, public in ((guided.MIN_RECORDS, mass), (1000.0, np.full(64, 10.0))):
        assert len(whole(fit, prior_of(public, 3), count)) == 1
    with patch.object(guided, "MAX_NODES", 20):
        assert len(whole(fit, prior_of(mass, 3))) == 5
