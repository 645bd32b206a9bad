"""Statistics of the mechanisms: fixed seeds if possible, false alarms about 1e-6 per test."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from dpviz.private.budget import Budget
from dpviz.private.mechanisms import selection
from dpviz.private.mechanisms.noise import (
    NO_SPLIT_FLOOR,
    SecureNoise,
    SimulatedNoise,
    bernoulli,
    biased_laplace,
    exponential,
    geometric,
    geometric_variance,
)
from tests.strategies import share

ALARM = 1e-6


@pytest.mark.parametrize("scale", [0.3, 1.0, 40.0])
def test_the_variance_is_that_of_the_distribution(scale):
    values, ratio = np.arange(-int(60 * scale) - 60, 60 * scale + 61), math.exp(-1 / scale)
    probability = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values)
    assert geometric_variance(scale) == pytest.approx((values**2 * probability).sum(), rel=1e-9)


def test_geometric_uses_sensitivity_over_epsilon():
    once = Budget(0.5).spend(0.5, "counts")
    noisy, variance = geometric(SimulatedNoise(0), once, np.full(50_000, 10), sensitivity=2)
    assert variance[0] == pytest.approx(geometric_variance(4.0))
    # Kurtosis of Laplace noise is 6: sd of the sample variance is sqrt(5/n) of it.
    assert noisy.var() == pytest.approx(variance[0], rel=4.9 * math.sqrt(5 / 50_000))
    assert noisy.mean() == pytest.approx(10, abs=4.9 * math.sqrt(variance[0] / 50_000))


def as_likely(yes, n, probability):
    """Return whether a number of true bits is plausible for this probability."""
    low, high = stats.binom.ppf([ALARM / 2, 1 - ALARM / 2], n, probability)
    return low <= yes <= high


@pytest.mark.parametrize("no", [0.0, 0.125, 0.5, 0.999, 1.0])
def test_splits_come_at_the_stated_frequency(no):
    n = 100_000
    yes = bernoulli(SimulatedNoise(2), share(), np.full(n, no)).sum()
    assert as_likely(yes, n, 1 - no)


def test_a_certain_split_can_still_fail_and_an_impossible_one_succeed():
    class Fixed:
        private = False

        def __init__(self, word):
            self.word = word

        def words(self, n):
            return np.full(n, self.word, dtype=np.uint64)

    assert not bernoulli(Fixed(int(NO_SPLIT_FLOOR * 2**64) - 1), share(), [0.0])[0]
    assert bernoulli(Fixed(int(NO_SPLIT_FLOOR * 2**64)), share(), [0.0])[0]
    assert bernoulli(Fixed(2**64 - 1), share(), [1.0])[0]


@pytest.mark.parametrize("count", [0, 3, 40])
@pytest.mark.parametrize("depth", [0, 2])
def test_exact_split_odds_are_those_of_the_formula(count, depth):
    """The bounds close in on P(max(θ − δ, c − iδ) + Lap(λ) ≤ θ), and the doubles are as near."""
    threshold, bias, scale = 1.5, 4.25, 2.75
    b = max(threshold - bias, count - depth * bias)
    z = (b - threshold) / scale
    wanted = 0.5 * math.exp(-z) if z > 0 else 1 - 0.5 * math.exp(z)
    exact = biased_laplace([count], depth, threshold, bias, scale)
    low, high = exact.bounds(0)(60)
    assert high - low <= 2
    assert low / 2**60 == pytest.approx(wanted, rel=1e-12)
    assert exact.error[0] < 2.0**-40


def test_doubtful_splits_are_decided_by_integers():
    """With doubles that are wrong by a tenth and say so, the distribution is still exact."""
    n = 20_000
    counts = np.full(n, 3)
    exact = biased_laplace(counts, 1, 0.0, 2.0, 1.5)
    q = 0.5 * math.exp(-(3 - 2.0) / 1.5)
    wide = dataclasses.replace(exact, error=np.full(n, 0.2))
    yes = bernoulli(SecureNoise(), share(), np.full(n, q + 0.1), wide).sum()
    assert as_likely(yes, n, 1 - q)


@pytest.mark.slow
@pytest.mark.parametrize("sensitivity", [1, 20])
def test_the_exponential_mechanism_follows_its_law(sensitivity):
    """A chi-square test, for the doubles and for the integers; false alarm 1e-6 each."""
    scores, n = np.array([0, 3, 4, 4, -30]), 5000
    weights = np.exp(1.5 * scores / (2 * sensitivity))
    wanted = n * weights / weights.sum()
    for margin in (selection.MARGIN, 2**40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(selection, "MARGIN", margin)
            paid = share(1.5)
            chosen = [exponential(SecureNoise(), paid, scores, sensitivity) for _ in range(n)]
        seen = np.bincount(chosen, minlength=5)
        frequent = wanted > 5
        assert seen[~frequent].sum() <= 2  # below 1e-6 if expected at most 5e-5 times
        scaled = wanted[frequent] * seen[frequent].sum() / wanted[frequent].sum()
        assert stats.chisquare(seen[frequent], scaled).pvalue > ALARM


def test_a_candidate_of_tiny_weight_is_chosen_by_the_bits_that_say_so():
    """Weights 1 and e^(−200): the last 2^−280 of [0, 1) belong to the second, not nothing."""

    class Ones(SecureNoise):
        def __init__(self, words):
            self.left = words

        def words(self, n):
            self.left -= n
            return np.full(n, 2**64 - 1 if self.left >= 0 else 0, dtype=np.uint64)

    assert exponential(Ones(20), share(), [400, 0]) == 1
    assert exponential(Ones(3), share(), [400, 0]) == 0


def test_the_sums_of_many_candidates_do_not_overflow(monkeypatch):
    """2^10 equal weights of 2^60 units each would pass 2^63: there are fewer units to each."""
    monkeypatch.setattr(selection, "UNITS", 2.0**60)
    n = 1 << 10
    drawn = np.array([(3 << 62) + (1 << 53)], dtype=np.uint64)  # half a candidate above 3/4
    rows, exactly = selection.chosen_rows(lambda _: drawn, np.array([0, n]), np.ones(n), None)
    assert not exactly
    assert rows.tolist() == [3 << 8]
