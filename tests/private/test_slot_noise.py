"""Noise on counts of slots: exact (ε, δ) and the discrete Gaussian sampler.

Laws are compared with sums in 100 digits; a test on draws fails a correct sampler with probability
at most :data:`ALARM`, on a fixed seed.
"""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpviz.errors import ParameterError
from dpviz.private.mechanisms import gaussian
from dpviz.private.mechanisms.accounting import (
    delta_upper,
    gaussian_delta,
    gaussian_variance,
    largest_rate,
)
from dpviz.private.mechanisms.gaussian import decide, discrete_gaussian, distribution
from dpviz.private.mechanisms.sources import SimulatedNoise

ALARM = 1e-6


def decimal(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def exact_delta(epsilon, k, rate):
    """The sum over numbers of true bits, in the context's digits."""
    a, growth = (-decimal(rate)).exp(), decimal(epsilon).exp()
    terms = (math.comb(k, j) * max(0, a ** (k - j) - growth * a**j) for j in range(k + 1))
    return sum(terms) / (1 + a) ** k


@pytest.mark.parametrize(("epsilon", "k", "rate"), [(0.3, 1, 0.5), (1.0, 7, 0.3), (0.7, 12, 0.2)])
def test_delta_is_the_hockey_stick_of_all_bit_strings(epsilon, k, rate):
    with localcontext(prec=60):
        a, growth = (-decimal(rate)).exp(), decimal(epsilon).exp()
        likely, other = 1 / (1 + a), a / (1 + a)
        total = Decimal(0)
        for bits in itertools.product((0, 1), repeat=k):
            p = likely ** sum(bits) * other ** (k - sum(bits))
            q = other ** sum(bits) * likely ** (k - sum(bits))
            total += max(Decimal(0), p - growth * q)
        assert abs(float(total) / delta_upper(epsilon, k, rate) - 1) < 1e-12


@pytest.mark.parametrize("k", [30, 100, 365])
def test_delta_is_that_of_composed_losses(k):
    """Losses of one bit, ±r, convolved k times: without binomial coefficients or tails."""
    rate = largest_rate(1.0, 1e-6, k)
    true = 1 / (1 + math.exp(-rate))
    odds = np.ones(1)
    for _ in range(k):
        odds = np.append(odds * (1 - true), 0.0) + np.append(0.0, odds * true)
    loss = rate * (2.0 * np.arange(k + 1) - k)
    delta = float(odds @ np.maximum(-np.expm1(1.0 - loss), 0.0))
    assert delta == pytest.approx(delta_upper(1.0, k, rate), rel=1e-9)


def hockey_stick(epsilon, k, weights):
    """Full k-dimensional hockey stick of a one-dimensional law moved by one in each coordinate."""
    moved = np.append(weights, 0.0)
    still = np.append(0.0, weights)
    p, q = np.ones(1), np.ones(1)
    for _ in range(k):
        p, q = np.outer(p, moved).ravel(), np.outer(q, still).ravel()
    return np.maximum(p - math.exp(epsilon) * q, 0.0).sum()


def test_delta_is_that_of_three_counts_with_laplace_noise():
    grid = np.arange(-90, 91)
    weights = np.exp(-0.45 * np.abs(grid))
    assert hockey_stick(0.8, 3, weights / weights.sum()) == pytest.approx(
        delta_upper(0.8, 3, 0.45), rel=1e-9
    )


@pytest.mark.parametrize("k", [1, 2])
def test_delta_is_that_of_counts_with_gaussian_noise(k):
    weights = np.exp(-(np.arange(-60, 61) ** 2) / (2 * 2.3**2))
    exact = hockey_stick(1.0, k, weights / weights.sum())
    assert exact <= gaussian_delta(1.0, k, 2.3**2) <= exact * (1 + 1e-5)


@pytest.mark.slow
@settings(max_examples=1000)
@given(st.floats(0, 5), st.integers(1, 60), st.floats(1e-3, 2.0))
def test_bound_is_never_below_delta_and_close_to_it(epsilon, k, rate):
    bound = delta_upper(epsilon, k, rate)
    with localcontext(prec=100):
        exact = exact_delta(epsilon, k, rate)
        assert exact <= decimal(bound) + Decimal("1e-95")  # rounding of the sum itself
        assert decimal(bound) <= exact * (1 + Decimal("1e-9")) + Decimal("1e-95")


@pytest.mark.parametrize("k", [1, 8, 12, 20, 30, 100, 365])
def test_rates_and_variances_keep_their_claim(k):
    rate, variance = largest_rate(1.0, 1e-6, k), gaussian_variance(1.0, 1e-6, k)
    assert delta_upper(1.0, k, rate) <= 1e-6
    assert gaussian_delta(1.0, k, variance) <= 1e-6
    assert delta_upper(1.0, k, rate * 1.0001) > 1e-6 or k == 1
    assert gaussian_delta(1.0, k, variance * 0.999) > 1e-6


def test_sizes_are_those_of_the_published_table():
    """Standard deviations at δ = 1e-6 of the theory's table, three digits."""
    table = {(0.5, 10): "25.5", (1.0, 10): "13.4", (1.0, 100): "42.3", (2.0, 30): "12.2"}
    for (epsilon, k), shown in table.items():
        assert f"{math.sqrt(gaussian_variance(epsilon, 1e-6, k)):.3g}" == shown


def test_many_slots_are_bounded_through_zcdp_with_little_more_noise():
    variance = gaussian_variance(1.0, 1e-6, 20_000)
    assert 1.05 < math.sqrt(variance / 20_000) * 0.2367 < 1.1


@pytest.mark.parametrize(("delta", "k"), [(0.0, 5), (1e-201, 5), (1.0, 5), (1e-6, 100_001)])
def test_impossible_claims_are_refused(delta, k):
    with pytest.raises(ParameterError, match="give"):
        gaussian_variance(1.0, delta, k)


def exact_law(variance, most):
    """P(|K| ≤ k), k from 0 on, in the context's digits."""
    last = math.ceil(math.sqrt(variance) * 17) + 9
    weights = [(-decimal(Fraction(k * k) / (2 * Fraction(variance)))).exp() for k in range(last)]
    sums = list(itertools.accumulate([weights[0], *(2 * each for each in weights[1:])]))
    return [each / sums[-1] for each in sums[:most]]


@pytest.mark.parametrize("scale", [2.0**-5, 0.55, 4.2, 23.1])
@pytest.mark.parametrize("bits", [64, 192])
def test_distribution_holds_the_exact_law(scale, bits):
    """Each outcome's own probability is then known to 2^(1 − bits)."""
    low, high = distribution(scale**2, bits)
    with localcontext(prec=80):
        law = exact_law(scale**2, len(low))
        for below, exact, above in zip(low, law, high, strict=False):
            assert below <= exact * 2**bits + Decimal("1e-3")
            assert exact * 2**bits <= above + Decimal("1e-3")
    assert max(above - below for below, above in zip(low, high, strict=True)) <= 2


@given(st.integers(0, 2**64 - 1), st.sampled_from([0.55, 4.2]), st.booleans(), st.data())
def test_a_draw_is_that_of_the_whole_uniform_number(drawn, scale, near, data):
    """Even if the first 64 bits do not decide: at a bound of the table, and in its tail."""
    low, high = distribution(scale**2, 64)
    if near:
        drawn = data.draw(st.sampled_from([*low, *(each - 1 for each in high), 2**64 - 1]))
        drawn = min(drawn, 2**64 - 1)
    behind = data.draw(st.integers(0, 2**64 - 1))
    todo = [behind, 2**63, *[0] * 3]
    k = decide(lambda _: np.array([todo.pop(0)], dtype=np.uint64), drawn, 64, scale**2)
    with localcontext(prec=80):
        whole = Decimal((drawn << 128) + (behind << 64) + 2**63) / Decimal(2**192)
        law = exact_law(scale**2, k + 1)
        assert k == 0 or law[k - 1] <= whole
        assert whole < law[k]


def test_first_bits_decide_as_the_exact_rule(monkeypatch):
    """The table in arrays against one decision at a time, at the table's own bounds."""
    monkeypatch.setattr(gaussian, "fair_bits", lambda words, n: np.ones(n, dtype=bool))
    low, high = distribution(4.2**2, 64)
    edges = sorted({*low, *(each - 1 for each in high), *(max(each - 1, 0) for each in low)})
    drawn = np.array(edges, dtype=np.uint64)

    def words(n):
        return drawn if n == len(drawn) else np.array([2**63 + 12345], dtype=np.uint64)

    expected = [decide(lambda _: words(1), each, 64, 4.2**2) for each in edges]
    assert discrete_gaussian(words, len(drawn), 4.2**2).tolist() == expected


@pytest.mark.parametrize("scale", [0.55, 1.0, 13.4, 154.0, 10_000.0])
def test_draws_follow_the_law(scale):
    draws = discrete_gaussian(SimulatedNoise(62).words, 200_000, scale**2)
    reach = np.arange(-math.ceil(scale * 12), math.ceil(scale * 12) + 1)
    weights = np.exp(-(reach**2) / (2 * scale**2))
    cells = np.clip(np.floor(reach / max(1.0, scale / 4)), -16, 16).astype(int) + 16
    where = np.clip(np.floor(draws / max(1.0, scale / 4)), -16, 16).astype(int) + 16
    odds = np.bincount(cells, weights / weights.sum(), minlength=33)
    seen = np.bincount(where, minlength=33)
    many = odds * len(draws) > 10
    assert seen[~many].sum() < 200
    chance = stats.chisquare(seen[many], odds[many] / odds[many].sum() * seen[many].sum()).pvalue
    assert chance > ALARM


@pytest.mark.parametrize("variance", [0.0, math.nan, 2.0**-11, 2.0**35])
def test_variances_out_of_range_are_refused(variance):
    with pytest.raises(ParameterError, match="noise of scale"):
        discrete_gaussian(SimulatedNoise(0).words, 1, variance)
