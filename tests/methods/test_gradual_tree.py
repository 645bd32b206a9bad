"""The theorem of the gradual tree: coarse noise has its law, a path's rates add up to ε."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.methods.points import gradual_tree
from dpviz.methods.points.cell_tree import ShrunkTree
from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import (
    SecureNoise,
    SimulatedNoise,
    geometric_variance,
    gradual_at,
)
from tests.methods.cases import any_tree, path_totals, refinement, two_sided

REACH = 4000


@given(st.floats(0.01, 3.0), st.floats(1.0, 50.0))
def test_fine_noise_and_what_is_added_make_coarse_noise(rate, factor):
    """The laws themselves, convolved: no sampling."""
    finest, at = rate * factor, np.arange(-REACH, REACH + 1)
    added = refinement(rate, finest, REACH)
    width = 2 * REACH
    size = 1 << (2 * width + 1).bit_length()
    both = np.fft.irfft(np.fft.rfft(added, size) * np.fft.rfft(two_sided(finest, at), size), size)
    middle = both[width - 50 : width + 51]
    wanted = two_sided(rate, at)[REACH - 50 : REACH + 51]
    np.testing.assert_allclose(middle, wanted, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("noise", [SimulatedNoise(3), SecureNoise()])
def test_coarse_and_fine_noise_have_their_variances_and_covariance(noise):
    """Twelve statistics, each within 5.5 of its standard deviations: false alarm below 1e-6."""
    n = 40_000
    for rate, finest in ((0.3, 0.5), (0.2, 2.0)):
        share = Budget(9.0).spend(9.0, "test", theorem="test")
        zero = np.zeros(n, dtype=np.int64)
        coarse, fine = gradual_at(noise, share, zero, np.full(n, rate), np.full(n, finest))
        for first, second, wanted in (
            (coarse, coarse, geometric_variance(1 / rate)),
            (fine, fine, geometric_variance(1 / finest)),
            (coarse, fine, geometric_variance(1 / finest)),  # the added noise knows nothing of it
        ):
            product = first.astype(float) * second
            assert abs(product.mean() - wanted) < 5.5 * product.std() / np.sqrt(n)


def test_equal_rates_add_nothing():
    share = Budget(1.0).spend(1.0, "test", theorem="test")
    counts = np.arange(5000)
    coarse, fine = gradual_at(SimulatedNoise(1), share, counts, np.ones(5000), np.ones(5000))
    assert (coarse == fine).all()


@settings(max_examples=60)
@any_tree("gradual_tree")
def test_rates_of_every_path_add_up_to_epsilon(index, epsilon, chosen, seed):
    """Every draw is logged; a path costs the rates of its inner nodes and its leaf's finest one."""
    drawn = []

    def logged(noise, share, counts, rates, finest):
        drawn.append((rates, finest))
        return gradual_at(noise, share, counts, rates, finest)

    budget = Budget(epsilon)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradual_tree, "gradual_at", logged)
        patch.setattr(
            ShrunkTree, "finish", lambda _self, tree, _noisy, variance, _limit: (tree, variance)
        )
        tree, variance = chosen.build(index, budget, SimulatedNoise(seed))
    assert [row.epsilon for row in budget.rows] == [epsilon]
    measured = np.flatnonzero(np.isfinite(variance))
    rates = np.zeros(len(variance))
    finest = np.zeros(len(variance))
    rates[measured] = np.concatenate([each for each, _ in drawn])
    finest[measured] = np.concatenate([each for _, each in drawn])
    assert (rates <= finest).all()
    inner = np.isin(np.arange(len(rates)), tree.parent)
    totals = path_totals(tree.parent, np.where(inner, rates, finest))
    assert max(totals) <= Fraction(epsilon)
    assert min(totals) > 0.999 * epsilon  # nothing is left unspent on any path
