"""Privacy profile and μ of a release, against enumeration and the definition of each."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

import dpviz
from dpviz.private.curve import (
    GAUSSIAN,
    LAPLACE,
    PURE,
    ZCDP,
    gaussian_mu,
    laplace_mu,
    privacy_curve,
    response_delta,
)
from dpviz.private.slots import SlotNoise


def header(epsilon, delta=0.0, noise=None, k=1):
    """Header of a release, of slots if there is noise."""
    theorem = f"sensitivity 1; {k} records: {k} times ε (group privacy)" if k > 1 else ""
    return dpviz.Header(
        "ugrid",
        {},
        True,
        "private",
        epsilon,
        delta,
        budget=({"purpose": "counts", "epsilon": epsilon, "theorem": theorem},),
        extra={} if noise is None else noise.facts,
    )


def laplace(rate, most=400):
    """Probabilities of discrete Laplace noise from −most to most."""
    return np.exp(-rate * np.abs(np.arange(-most, most + 1))) * math.tanh(rate / 2)


def gaussian(variance, most=400):
    weights = np.exp(-(np.arange(-most, most + 1.0) ** 2) / (2 * variance))
    return weights / weights.sum()


def worlds(law, k):
    """Probabilities of all outcomes of k counts with and without one unit."""
    there, here = np.pad(law, (1, 0)), np.pad(law, (0, 1))
    one, other = np.ones(1), np.ones(1)
    for _ in range(k):
        one, other = np.outer(one, there).ravel(), np.outer(other, here).ravel()
    return one, other


def hockey_stick(law, k, epsilon):
    one, other = worlds(law, k)
    return np.maximum(one - math.exp(epsilon) * other, 0).sum()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_geometric_count_attains_the_bound_of_all_pure_mechanisms(epsilon):
    curve = privacy_curve(header(epsilon))
    assert curve.basis == PURE
    for at, delta in curve.points:
        assert delta == pytest.approx(hockey_stick(laplace(epsilon), 1, at), rel=1e-5, abs=1e-12)
    assert curve.points[-1] == (epsilon, 0.0)


def test_the_curve_of_slots_is_that_of_their_noise():
    pure = SlotNoise(1.0, 1e-6, 2, 2)
    curve = privacy_curve(header(1.0, 0.0, pure, 2))
    assert curve.basis == LAPLACE.format(2)
    for at, delta in curve.points:
        assert delta == pytest.approx(hockey_stick(laplace(0.5, 90), 2, at), rel=1e-6, abs=1e-12)
        assert delta <= response_delta(at, 1.0)
    normal = SlotNoise(1.0, 1e-2, 2, 2)
    curve = privacy_curve(header(1.0, 1e-2, normal, 1))
    assert curve.basis == GAUSSIAN.format(2)
    for at, delta in curve.points:
        assert delta == pytest.approx(hockey_stick(gaussian(normal.variance, 90), 2, at), rel=1e-5)
    assert dict(curve.points)[1.0] <= 1e-2


def test_long_sums_of_draws_are_bounded_by_zcdp_above_the_exact_curve():
    noise = SlotNoise(0.05, 1e-6, 1_000, 1_000)
    curve = privacy_curve(header(0.05, 1e-6, noise))
    assert curve.basis == ZCDP.format(1_000)
    mu = math.sqrt(1_000 / noise.variance)
    for at, delta in curve.points:
        normal = norm.cdf(mu / 2 - at / mu) - math.exp(at) * norm.cdf(-mu / 2 - at / mu)
        assert normal <= delta <= 1


def least_mu(law, k):
    """Largest difference of quantiles of both errors of all tests by likelihood ratio."""
    one, other = worlds(law, k)
    order = np.argsort(-one / np.maximum(other, 1e-300), kind="stable")
    power, false = np.cumsum(one[order]), np.cumsum(other[order])
    seen = (false > 1e-12) & (false < 0.5) & (power < 1 - 1e-12)
    return (ndtri(power[seen]) - ndtri(false[seen])).max()


@pytest.mark.parametrize(("k", "rate"), [(1, 1.0), (1, 0.1), (2, 0.5), (2, 3.0)])
def test_mu_of_laplace_noise_is_the_least_with_which_every_test_agrees(k, rate):
    assert laplace_mu(k, rate) == pytest.approx(least_mu(laplace(rate, 120), k), rel=1e-4)


@pytest.mark.parametrize(("k", "scale"), [(1, 1.0), (1, 5.0), (2, 1.0), (2, 4.0)])
def test_mu_of_gaussian_noise_is_enough_for_every_threshold(k, scale):
    least = least_mu(gaussian(scale**2, 60), k)
    assert least <= gaussian_mu(k, scale**2) <= least * (1 + 0.06 / scale**2)


def test_what_no_guarantee_covers_has_no_curve():
    assert privacy_curve(dpviz.Header("ugrid", {}, False, "NOT PRIVATE", 1.0)) is None


def test_extreme_prices_have_a_curve():
    for epsilon in (1e-12, 700.0, 1e12):
        curve = privacy_curve(header(epsilon))
        assert curve.points[-1][1] == 0
        assert math.isfinite(curve.mu)
    assert gaussian_mu(1, 1e-3) is None
