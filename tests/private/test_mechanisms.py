"""Statistics: every bound has a false-alarm probability of about 1e-6 per test; seeds are fixed
where the source has one. Secure noise has no seed, so its tests are bounds, not golden values."""

import math

import numpy as np
import pytest
from scipy import stats

from dpviz.private.budget import Budget
from dpviz.private.mechanisms.noise import (
    NO_SPLIT_FLOOR,
    SecureNoise,
    SimulatedNoise,
    bernoulli,
    geometric,
    geometric_variance,
)
from dpviz.private.mechanisms.sources import BLOCK

ALARM = 1e-6


def discrete_laplace_probabilities(scale, reach):
    values = np.arange(-reach, reach + 1)
    ratio = math.exp(-1 / scale)
    return values, (1 - ratio) / (1 + ratio) * ratio ** np.abs(values)


@pytest.mark.parametrize("noise", [SecureNoise(), SimulatedNoise(1)], ids=["secure", "simulated"])
@pytest.mark.parametrize("scale", [0.2, 1.0, 7.5])
def test_draws_follow_the_discrete_laplace_distribution(noise, scale):
    draws = noise.two_sided(20_000, 1 / scale)
    reach = max(1, int(scale * 4))
    _, expected = discrete_laplace_probabilities(scale, reach)
    inner = np.bincount(np.clip(draws, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    tail = (1 - expected.sum()) / 2
    probability = np.concatenate([[tail], expected, [tail]])
    kept = probability * len(draws) > 10
    observed = np.append(inner[kept], inner[~kept].sum())
    wanted = np.append(probability[kept], probability[~kept].sum()) * len(draws)
    chosen = wanted > 0
    assert stats.chisquare(observed[chosen], wanted[chosen]).pvalue > ALARM


@pytest.mark.parametrize("scale", [0.3, 1.0, 40.0])
def test_variance_formula(scale):
    values, probability = discrete_laplace_probabilities(scale, int(60 * scale) + 60)
    assert geometric_variance(scale) == pytest.approx((values**2 * probability).sum(), rel=1e-9)


def test_geometric_uses_sensitivity_over_epsilon():
    share = Budget(0.5).spend(0.5, "counts")
    noisy, variance = geometric(SimulatedNoise(0), share, np.full(50_000, 10), sensitivity=2)
    assert variance[0] == pytest.approx(geometric_variance(4.0))
    # Kurtosis of Laplace noise is 6: sd of the sample variance is sqrt(5/n) of it.
    assert noisy.var() == pytest.approx(variance[0], rel=4.9 * math.sqrt(5 / 50_000))
    assert noisy.mean() == pytest.approx(10, abs=4.9 * math.sqrt(variance[0] / 50_000))


@pytest.mark.parametrize("no", [0.0, 0.125, 0.5, 0.999, 1.0])
def test_bernoulli_frequency(no):
    n = 100_000
    share = Budget(1).spend(1, "bits", theorem="test")
    yes = bernoulli(SimulatedNoise(2), share, np.full(n, no)).sum()
    low, high = stats.binom.ppf([ALARM / 2, 1 - ALARM / 2], n, 1 - no)
    assert low <= yes <= high


def test_a_certain_split_can_still_fail_and_an_impossible_one_succeed():
    class Fixed:
        private = False

        def __init__(self, word):
            self.word = word

        def words(self, n):
            return np.full(n, self.word, dtype=np.uint64)

    share = Budget(1).spend(1, "bits", theorem="test")
    assert not bernoulli(Fixed(int(NO_SPLIT_FLOOR * 2**64) - 1), share, [0.0])[0]
    assert bernoulli(Fixed(int(NO_SPLIT_FLOOR * 2**64)), share, [0.0])[0]
    assert bernoulli(Fixed(2**64 - 1), share, [1.0])[0]


def test_simulation_repeats_and_secure_noise_does_not():
    first, second = (SimulatedNoise(5).two_sided(64, 1 / 9) for _ in range(2))
    assert (first == second).all()
    # Equal by chance with probability below 2^-128 (at most 1/19 each, 64 draws).
    one, two = (SecureNoise().two_sided(64, 1 / 9) for _ in range(2))
    assert (one != two).any()
    assert (SecureNoise().words(4) != SecureNoise().words(4)).any()


def test_progress_can_cancel_secure_draws():
    seen = []

    def report(fraction, what):
        seen.append((fraction, what))
        if fraction >= 0.5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        SecureNoise(report).two_sided(3 * BLOCK, 1.0)
    assert [round(fraction, 2) for fraction, _ in seen] == [0.33, 0.67]
