"""Counts with two-sided geometric noise: one rate for all, one each, refined step by step."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.private.budget import Share
from dpviz.private.mechanisms.bounds import Bounds, changed
from dpviz.private.mechanisms.comparison import Float, fair_bits, is_below
from dpviz.private.mechanisms.gaussian import discrete_gaussian
from dpviz.private.mechanisms.samplers import Int, checked_rates
from dpviz.private.mechanisms.sources import Noise
from dpviz.trees.consistency import geometric_variance as geometric_variance

MAX_COUNT = 1 << 61
"""Counts are cut to ±2^61, noise to ±2^62 (by the sampler), and their sum to ±2^61 again, so that
nothing overflows. To cut counts moves no two of them further apart, so it keeps every sensitivity;
a sum with noise that was cut is cut to what it had been with the whole of it."""

MIN_RATE = 2.0**-40
"""Counts with noise of a larger scale than 2^40 are refused: they say nothing."""


def laplace_rate(epsilon: float, sensitivity: float = 1.0) -> float:
    """The largest double that is not above epsilon / sensitivity, so that noise is never less."""
    rate = epsilon / sensitivity
    exact = Fraction(epsilon) / Fraction(sensitivity)
    return rate if Fraction(rate) <= exact else math.nextafter(rate, 0.0)


def geometric(
    noise: Noise, share: Share, counts: ArrayLike, sensitivity: float = 1.0
) -> tuple[Int, Float]:
    """The geometric mechanism: integer counts plus discrete Laplace noise.

    ε-DP for a vector of counts whose L1 norm moves by at most ``sensitivity`` (an integer vector;
    A. Ghosh, T. Roughgarden and M. Sundararajan, STOC 2009): disjoint cells under add/remove of one
    record have sensitivity 1.

    Returns noisy counts (int64) and the variance of each (float64), of the shape of ``counts``.

    Args:
        share: pays for this one vectorised draw.
        counts: exact counts, int64, any shape.
    """
    rate = float(checked_rates(laplace_rate(share.use(), sensitivity), MIN_RATE))
    counts = np.asarray(counts, dtype=np.int64)
    noisy = _noisy(noise, counts.ravel(), rate).reshape(counts.shape)
    return noisy, np.full(counts.shape, geometric_variance(1.0 / rate))


def slot_counts(noise: Noise, share: Share, counts: ArrayLike) -> tuple[Int | Float, Float]:
    """Noisy counts of slots, given in steps of the share, and the variance of each.

    Discrete Gaussian noise where the share says so: then one person moves at most that many of all
    its counts, each by one, as the share was computed for. Otherwise :func:`geometric`.
    """
    if share.variance is None:
        return geometric(noise, share, counts)
    share.use_once()
    counts = np.asarray(counts, dtype=np.int64)
    draws = discrete_gaussian(noise.words, counts.size, share.variance).reshape(counts.shape)
    noisy = draws + np.clip(counts, -MAX_COUNT, MAX_COUNT)
    return noisy / share.step, np.full(counts.shape, share.variance / share.step**2)


def geometric_by_rate(noise: Noise, share: Share, counts: ArrayLike, rates: ArrayLike) -> Int:
    """Counts plus discrete Laplace noise of a rate (epsilon) of their own each, shape (n,).

    The theorem behind ``share`` says why the rates along any path add up to its epsilon.
    """
    share.use()
    rates = checked_rates(rates, MIN_RATE)
    return _noisy(noise, np.asarray(counts, dtype=np.int64), rates)


def _noisy(noise: Noise, counts: Int, rates: ArrayLike) -> Int:
    """Counts (n,) plus noise, in integers that cannot overflow."""
    draws = noise.two_sided(len(counts), rates)
    draws += np.clip(counts, -MAX_COUNT, MAX_COUNT)
    return np.clip(draws, -MAX_COUNT, MAX_COUNT, out=draws)


def nested_counts(noise: Noise, share: Share, counts: ArrayLike, rates: ArrayLike) -> Int:
    """Each count k times, with noise of k rates, each coarser one made from the next finer one.

    With rates r₁ ≤ … ≤ rₖ, N_k = count + two-sided geometric noise of rate rₖ, and
    N_i = N_{i+1} + W, where W is independent of everything: 0 with probability 1 − t, else of fair
    sign and of size 1 + a one-sided geometric draw of ratio p, with p = e^(−r_i),
    q = e^(−r_{i+1}) and t = 2(p − q)(1 − pq) / ((1 + p)(1 − q)²) (r_i = r_{i+1}: t = 0).

    *Every N_i has noise of rate r_i exactly.* The generating function of two-sided noise of ratio a
    is (1 − a)² / ((1 − az)(1 − a/z)), so what turns the distribution of ratio q into that of ratio
    p has [(1 − p)/(1 − q)]² · (1 − qz)(1 − q/z) / ((1 − pz)(1 − p/z)). As 1/((1 − pz)(1 − p/z)) is
    Σ p^|k|·z^k / (1 − p²), its coefficient at z^k and z^−k, k ≥ 1, is [(1 − p)/(1 − q)]² · (p^k(1 +
    q²) − q·p^(k−1) − q·p^(k+1)) / (1 − p²) = (1 − p)(p − q)(1 − pq) / ((1 − q)²(1 + p)) · p^(k−1) =
    t/2 · (1 − p)p^(k−1), not below 0 as q ≤ p: that of W. At z = 1 the function is 1, so the rest,
    1 − t, is at 0. Induction from k on.

    *Who looks at N_1 … N_i only pays r_i.* Given N_{i+1}, N_i knows
    nothing of the count, so the probability of (N_1, …, N_i) is P(N_i | count) times factors
    without the count, and the first factor moves by at most e^(r_i) when the count moves by one.
    A decision from N_1, …, N_i whether to look at N_{i+1} pays for the last one looked at (for
    Laplace noise: F. Koufogiannis, S. Han, G. Pappas: Gradual Release of Sensitive Data under
    Differential Privacy, 2016). The theorem behind ``share`` says which leave the vault.

    Returns noisy counts, int64 (k, n), in the order of the rates: coarsest first.

    Args:
        counts: exact counts, int64 (n,).
        rates: positive and ascending along the first axis, (k, n), k ≥ 1.
    """
    counts = np.asarray(counts, dtype=np.int64)
    rates = np.atleast_2d(checked_rates(rates, MIN_RATE))
    if (rates[1:] < rates[:-1]).any():
        raise ValueError("rates of nested counts must not fall from coarse to fine")
    noisy = np.empty((len(rates), len(counts)), dtype=np.int64)
    noisy[-1] = geometric_by_rate(noise, share, counts, rates[-1])
    for level in range(len(rates) - 2, -1, -1):
        noisy[level] = noisy[level + 1]
        differ = np.flatnonzero(rates[level] < rates[level + 1])
        rows, added = _added(noise, rates[level].take(differ), rates[level + 1].take(differ))
        noisy[level, differ[rows]] += added
    return noisy


def change_probability(rates: ArrayLike, finest: ArrayLike) -> NDArray[np.floating[Any]]:
    """The probability t of :func:`nested_counts` that W is not 0; 0 where the rates are equal.

    In single precision where both rates are: to within a quarter of
    :data:`~dpviz.private.mechanisms.comparison.MAX_ERROR`.
    """
    # 1 − p and 1 − q; p − q, 1 − pq and 1 + p are sums of them: exact even for the smallest rates.
    coarse, fine = (-np.expm1(-np.asarray(each)) for each in (rates, finest))
    ratio = coarse / fine
    return np.asarray(2.0 * (1.0 - ratio) * (ratio + 1.0 - coarse) / (2.0 - coarse))


def _added(noise: Noise, rates: Float, finest: Float) -> tuple[Int, Int]:
    """W of :func:`nested_counts`: the rows where it is not 0, and its values there."""

    def bounds(row: int) -> Bounds:
        return changed(Fraction(float(rates[row])), Fraction(float(finest[row])))

    odds = change_probability(rates.astype(np.float32), finest.astype(np.float32))
    rows = np.flatnonzero(is_below(noise.words, len(rates), odds, bounds))
    sizes = 1 + noise.one_sided(len(rows), rates.take(rows))
    signs = 2 * fair_bits(noise.words, len(rows)).view(np.int8) - 1
    return rows, sizes * signs


def geometric_each(
    noise: Noise, share: Share, values: ArrayLike, sensitivities: ArrayLike
) -> tuple[Int, Float]:
    """Geometric mechanism on one integer per disjoint cell, each of its own sensitivity.

    Sensitivities must be public.

    Returns noisy values (int64) and the variance of each (float64).
    """
    rates = np.nextafter(share.use() / np.asarray(sensitivities, dtype=np.float64), 0.0)
    values = np.asarray(values, dtype=np.int64)
    return _noisy(noise, values, rates), geometric_variance(1.0 / rates)
