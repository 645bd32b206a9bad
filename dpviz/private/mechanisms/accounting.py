"""Exact (ε, δ) of noise on counts of persons: each of K slots moves by at most one.

A slot is a cell of a flat table (area, step, kind), and its count is the number of persons in it.
With at most K slots per person, one person more or less moves the vector of counts by some
v ∈ {0, 1}^d with at most K ones (:mod:`dpviz.private.slots`). Every number here is an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ParameterError
from dpviz.private.mechanisms.bounds import exponential_bounds, power

MAX_SLOTS = 100_000
"""Most slots per person: beyond it noise hides everything."""

MIN_DELTA = 1e-200
"""Smallest delta that double precision can represent reliably."""

MAX_POINTS = 100_000
"""Points of a sum's probabilities; more would take too long, and zCDP bounds delta instead."""

MIN_VARIANCE = 2.0**-10
"""Smallest variance parameter of discrete Gaussian noise; its noise is 0 almost surely."""

ROUNDING = 1.0 + 2.0**-20
"""Factor for rounding: sums of positive numbers here have relative errors below 10⁻⁹."""

BLOCK = 128
"""Rows of the matrices of a convolution."""

BITS = 512
"""Fixed-point bits of the exact bound."""


def delta_upper(epsilon: float, k: int, rate: float) -> float:
    """Smallest delta of discrete Laplace noise of this rate on K slots, rounded up.

    In a coordinate that moves by one, noise of rate r has likelihood ratio e^r on a half line and
    e^−r on the other; the half line has probability 1/(1 + a), and a/(1 + a) in the other world,
    with a = e^−r. So K coordinates say as much as K such bits, whose number is sufficient:
    δ = Σ C(K, j)·(a^(K−j) − e^ε·a^j)/(1 + a)^K over all j with (2j − K)·r > ε. For two worlds that
    differ in K slots no smaller delta is true; r in place of a double is that very number.

    >>> delta_upper(1.0, 1, 1.0), f"{delta_upper(1.0, 10, 0.2):.4g}"
    (0.0, '0.02473')
    """
    exact, each = Fraction(epsilon), Fraction(rate)
    one = 1 << BITS
    total = 0
    for j in range(k, -1, -1):
        if (2 * j - k) * each <= exact:
            break
        high = exponential_bounds((k - j) * each, BITS)[1]
        low = exponential_bounds(j * each - exact, BITS)[0]  # e^ε·a^j, below 1 where the loss is
        total += math.comb(k, j) * (high - low)
    bound = Fraction(total, power(one + exponential_bounds(each, BITS)[0], k, BITS, 0))
    nearest = float(bound)
    return nearest if Fraction(nearest) >= bound else math.nextafter(nearest, math.inf)


@lru_cache(maxsize=256)
def largest_rate(epsilon: float, delta: float, k: int) -> float:
    """A rate of discrete Laplace noise that is (ε, δ)-DP on K slots, near the largest one.

    Found in floating point; its claim rests on :func:`delta_upper` alone. It is also K·rate-DP.

    >>> largest_rate(1.0, 1e-6, 12) * 12 > 1.0
    True
    """
    require_claim(delta, k)
    from scipy.special import bdtrc

    def falls_short(rate: float) -> bool:
        a = math.exp(-rate)
        below = math.floor((epsilon / rate + k) / 2)  # terms up to this j are not positive
        if below >= k:
            return True
        tails = bdtrc(below, k, 1 / (1 + a)), bdtrc(below, k, a / (1 + a))
        return bool(tails[0] - math.exp(min(epsilon, 700.0)) * tails[1] <= delta)

    low, high = epsilon / k, epsilon
    while high > low * (1.0 + 2.0**-40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if falls_short(middle) else (low, middle)
    step = 2.0**-40
    while delta_upper(epsilon, k, low) > delta:
        low, step = low * (1.0 - step), 2.0 * step
    exact = Fraction(epsilon) / k
    pure = float(exact)
    return max(low, pure if Fraction(pure) <= exact else math.nextafter(pure, 0.0))


@lru_cache(maxsize=256)
def gaussian_delta(epsilon: float, k: int, variance: float) -> float:
    """Delta of discrete Gaussian noise, P(z) ∝ e^(−z²/2s²) with s² = ``variance``, on K slots.

    The privacy loss of v ∈ {0, 1}^d with K ones is (2S + K)/(2s²), S the sum of K independent draws
    (fewer ones are a marginal of it, and the law is symmetric), so
    δ = Σ P(S)·max(0, 1 − e^(ε − (2S + K)/(2s²))). P(S) by convolution, without FFT, whose absolute
    errors hide tails; what is cut off is added to delta. Where the sum has too many points, from
    K/(2s²)-zCDP (C. Canonne, G. Kamath, T. Steinke, NeurIPS 2020, proposition 12), 7 % more noise.

    >>> f"{gaussian_delta(1.0, 10, 13.4 ** 2):.3g}"
    '9.4e-07'
    """
    return gaussian_deltas((epsilon,), k, variance)[0]


def gaussian_deltas(epsilons: Sequence[float], k: int, variance: float) -> list[float]:
    """Delta at each ε, from one sum of draws: see :func:`gaussian_delta`."""
    scale, rho = math.sqrt(variance), k / (2.0 * variance)
    bounds = [max(zcdp_delta(each, rho), 1e-300) for each in epsilons]
    # In standard deviations, so far out that the probability beyond is far below delta.
    reach = math.sqrt(2.0 * (math.log(k * 2.0**24) - math.log(min(bounds))))
    if 2.0 * reach * scale * math.sqrt(k) > MAX_POINTS:
        return [bound * ROUNDING for bound in bounds]
    once, lost_once = _gaussian(variance, math.ceil(reach * scale))
    total, lost, count = once, lost_once, 1
    for bit in bin(k)[3:]:
        count *= 2
        total, cut = _convolved(total, total, reach * scale * math.sqrt(count))
        lost = 2.0 * lost + cut
        if bit == "1":
            count += 1
            total, cut = _convolved(total, once, reach * scale * math.sqrt(count))
            lost += lost_once + cut
    middle = len(total) // 2
    loss = (2.0 * np.arange(-middle, middle + 1) + k) / (2.0 * variance)
    deltas = []
    for epsilon, bound in zip(epsilons, bounds, strict=True):
        beyond = loss > epsilon
        exact = float(-np.expm1(epsilon - loss[beyond]) @ total[beyond])
        deltas.append(min((exact + lost) * ROUNDING, bound * ROUNDING))
    return deltas


def _gaussian(variance: float, most: int) -> tuple[NDArray[np.float64], float]:
    """Probabilities from −most to most, none too small, and the mass beyond them, rounded up."""
    weights = np.exp(-(np.arange(-most, most + 1.0) ** 2) / (2.0 * variance))
    weights /= weights.sum()
    # Σ_{z>T} w(z) ≤ w(T)·q/(1 − q) with ratio q = e^(−(2T + 1)/2s²), and q/(1 − q) ≤ 2s²/(2T + 1).
    return weights, float(2.0 * weights[-1] * 2.0 * variance / (2.0 * most + 1.0))


def _convolved(
    one: NDArray[np.float64], other: NDArray[np.float64], reach: float
) -> tuple[NDArray[np.float64], float]:
    """Probabilities of a sum within ±reach, and the mass of the rest.

    By products of matrices, blocks of one by shifts of the other: the fastest direct way.
    """
    blocks = np.pad(other, (0, -len(other) % BLOCK)).reshape(-1, BLOCK)
    width = len(one) + BLOCK - 1
    shifts = np.zeros((BLOCK, width))
    for row in range(BLOCK):
        shifts[row, row : row + len(one)] = one
    both = np.zeros((len(blocks) - 1) * BLOCK + width)
    for start in range(0, len(blocks), BLOCK):
        for at, part in enumerate(blocks[start : start + BLOCK] @ shifts, start):
            both[at * BLOCK : at * BLOCK + width] += part
    both = both[: len(one) + len(other) - 1]
    cut = max(0, len(both) // 2 - math.ceil(reach))
    inner = both[cut : len(both) - cut]
    return inner, float(both[:cut].sum() + both[len(both) - cut :].sum())


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Delta of a ρ-zCDP mechanism: any order α > 1 gives a bound."""
    middle = max((epsilon / rho + 1.0) / 2.0, 1.0 + 1e-6)
    orders = 1.0 + (middle - 1.0) * np.geomspace(0.25, 16.0, 1024)
    exponents = (orders - 1.0) * (orders * rho - epsilon) + orders * np.log1p(-1.0 / orders)
    least = float((exponents - np.log(orders - 1.0)).min())
    return min(1.0, math.exp(min(least, 0.0)))


@lru_cache(maxsize=256)
def gaussian_variance(epsilon: float, delta: float, k: int) -> float:
    """A variance of discrete Gaussian noise that is (ε, δ)-DP on K slots, near the least one.

    From that of continuous noise, K/μ², upwards until :func:`gaussian_delta` is at most delta. It
    is not known to fall with the variance; the claim rests on that number alone.

    >>> f"{math.sqrt(gaussian_variance(1.0, 1e-6, 30)):.3g}"
    '23.1'
    """
    require_claim(delta, k)
    variance = max(k / _gaussian_mu(epsilon, delta) ** 2, MIN_VARIANCE)
    while gaussian_delta(epsilon, k, variance) > delta:
        variance *= 1.0 + 2.0**-12
    return variance


@lru_cache(maxsize=256)
def zcdp_variance(epsilon: float, delta: float, square: int) -> float:
    """A variance of discrete Gaussian noise that is (ε, δ)-DP for integer moves of this ‖·‖₂².

    Such noise is ‖v‖₂²/(2s²)-zCDP (C. Canonne, G. Kamath, T. Steinke, NeurIPS 2020, theorem 4).

    >>> f"{math.sqrt(zcdp_variance(1.0, 1e-6, 30)):.3g}"
    '24.8'
    """
    require_claim(delta, square)
    variance = max(square / _gaussian_mu(epsilon, delta) ** 2, MIN_VARIANCE)
    while zcdp_delta(epsilon, square / (2.0 * variance)) * ROUNDING > delta:
        variance *= 1.0 + 2.0**-12
    return variance


def _gaussian_mu(epsilon: float, delta: float) -> float:
    """The μ with Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2) = δ; to start a search from."""
    from scipy.special import log_ndtr

    low, high = 1e-12, 1e6
    while high > low * (1.0 + 1e-13):
        mu = math.sqrt(low * high)
        first, second = log_ndtr(-epsilon / mu + mu / 2), log_ndtr(-epsilon / mu - mu / 2)
        if math.exp(first) * -math.expm1(min(epsilon + second - first, 0.0)) > delta:
            high = mu
        else:
            low = mu
    return low


def require_claim(delta: float, k: int) -> None:
    """Refuse a delta or a bound for which no noise is computed."""
    if not MIN_DELTA <= delta < 1.0:
        raise ParameterError(
            f"delta={delta:g}: give a number from {MIN_DELTA:g} to below 1, such as 1e-6"
        )
    if k > MAX_SLOTS:
        raise ParameterError(
            f"at most {k:,} slots per unit: the noise would hide everything, give up to "
            f"{MAX_SLOTS:,} (max_per_unit, --max-per-unit)"
        )
