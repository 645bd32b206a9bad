"""Every noise draw of the project: two sources of randomness, and the mechanisms built on them.

A release uses :class:`SecureNoise` (OpenDP's samplers, entropy of the operating system).
:class:`SimulatedNoise` is fast and repeatable, and therefore not private: it is accepted for public
data only, and says so in the release.
"""

from __future__ import annotations

import math
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.private.budget import Share
from dpviz.progress import Progress

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Words = NDArray[np.uint64]

CHUNK = 20_000
"""Draws between two reports of progress: about 0.2 s of OpenDP's time."""

NO_SPLIT_FLOOR = 2.0**-32
"""Least probability of not splitting: a certain split anywhere would be an infinite loss."""


class Noise(Protocol):
    """A source of randomness: the only two primitives that mechanisms draw from."""

    private: bool

    def words(self, n: int) -> Words:
        """Draw n independent uniform 64-bit integers."""
        ...

    def discrete_laplace(self, n: int, scale: float) -> Int:
        """Draw n independent integers with P(k) proportional to exp(−|k| / scale)."""
        ...


class SecureNoise:
    """Noise fit for release: OpenDP's exact samplers and the operating system's entropy.

    OpenDP draws about 10^5 integers a second and core; long vectors are drawn by as many threads as
    there are cores. ``progress(fraction, what)`` is called between chunks and may raise to cancel
    (what was spent stays spent).
    """

    private = True

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress

    def words(self, n: int) -> Words:
        """See :class:`Noise`."""
        return np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64)

    def discrete_laplace(self, n: int, scale: float) -> Int:
        """See :class:`Noise`; the scale is rounded up, never down."""
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        measure = dp.m.make_laplace(*space, scale=math.nextafter(scale, math.inf))
        if n <= CHUNK:
            return np.array(measure([0] * n), dtype=np.int64)
        draws = np.empty(n, dtype=np.int64)
        starts = range(0, n, CHUNK)
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            # OpenDP's library releases the interpreter while it draws.
            chunks = pool.map(lambda start: measure([0] * min(CHUNK, n - start)), starts)
            for start, chunk in zip(starts, chunks, strict=True):
                draws[start : start + len(chunk)] = chunk
                if self._progress is not None:
                    self._progress((start + len(chunk)) / n, "drawing noise")
        finally:
            pool.shutdown(cancel_futures=True)
        return draws


class SimulatedNoise:
    """Repeatable noise of the same distributions for public data: NOT PRIVATE.

    The draws follow one fixed stream, so the same seed at another epsilon sees the same bits.
    """

    private = False

    def __init__(self, seed: int | None = None) -> None:
        self._random = np.random.default_rng(seed)

    def words(self, n: int) -> Words:
        """See :class:`Noise`."""
        return self._random.integers(0, 2**64, size=n, dtype=np.uint64)

    def discrete_laplace(self, n: int, scale: float) -> Int:
        """See :class:`Noise`: the difference of two geometric draws."""
        stop = -math.expm1(-1.0 / scale)
        up = self._random.geometric(stop, size=n)
        return np.asarray(up - self._random.geometric(stop, size=n), dtype=np.int64)


def laplace_scale(epsilon: float, sensitivity: float = 1.0) -> float:
    """Noise scale sensitivity / epsilon."""
    return sensitivity / epsilon


def geometric_variance(scale: ArrayLike) -> Float:
    """Variance of discrete Laplace noise: 2a / (1 − a)² with a = e^(−1/scale)."""
    rate = 1.0 / np.asarray(scale, dtype=np.float64)
    return np.asarray(2.0 * np.exp(-rate) / np.expm1(-rate) ** 2, dtype=np.float64)


def geometric(
    noise: Noise, share: Share, counts: ArrayLike, sensitivity: float = 1.0
) -> tuple[Int, Float]:
    """The geometric mechanism: integer counts plus discrete Laplace noise.

    ε-DP for a vector of counts whose L1 norm moves by at most ``sensitivity`` (an integer vector;
    A. Ghosh, T. Roughgarden and M. Sundararajan, STOC 2009): disjoint cells under add/remove of one
    record have sensitivity 1.

    Args:
        noise: the source of randomness.
        share: pays for this one vectorised draw.
        counts: exact counts, int64, any shape.
        sensitivity: L1 sensitivity of the vector.

    Returns:
        Noisy counts (int64) and the variance of each (float64), of the shape of ``counts``.
    """
    counts = np.asarray(counts, dtype=np.int64)
    scale = laplace_scale(share.use(), sensitivity)
    draws = noise.discrete_laplace(counts.size, scale).reshape(counts.shape)
    return counts + draws, np.full(counts.shape, geometric_variance(scale))


def geometric_at(noise: Noise, share: Share, counts: ArrayLike, rates: ArrayLike) -> Int:
    """Counts plus discrete Laplace noise of a rate (epsilon) of their own each, shape (n,).

    The theorem behind ``share`` says why the rates along any path add up to its epsilon.
    """
    share.use()
    counts = np.asarray(counts, dtype=np.int64)
    distinct, group = np.unique(np.asarray(rates, dtype=np.float64), return_inverse=True)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=len(distinct))
    draws = [
        noise.discrete_laplace(int(size), laplace_scale(float(rate)))
        for rate, size in zip(distinct, sizes, strict=True)
    ]
    noisy = counts.copy()
    noisy[order] += np.concatenate(draws) if draws else np.empty(0, dtype=np.int64)
    return noisy


def gradual_at(
    noise: Noise, share: Share, counts: ArrayLike, rates: ArrayLike, finest: ArrayLike
) -> tuple[Int, Int]:
    """Each count twice: with discrete Laplace noise of its rate, and with a part of that noise.

    The fine one has noise of the higher rate ``finest``; the coarse one is it plus U − V, where U
    and V are each 0 with probability (q/p)(1 − p)/(1 − q), else geometric of ratio p, with
    p = e^(−rate), q = e^(−finest): by their generating functions the coarse one's noise is then
    discrete Laplace of ``rate``. So the coarse one alone is rate-DP, and both together are
    finest-DP, since the coarse one is the fine one plus noise that knows no count (for Laplace
    noise: F. Koufogiannis, S. Han, G. Pappas, 2016). The theorem behind ``share`` says which leave
    the vault.

    Args:
        noise: the source of randomness.
        share: pays for all of it.
        counts: exact counts, int64 (n,).
        rates: positive, (n,).
        finest: at least the rates, (n,).

    Returns:
        Coarse and fine noisy counts, int64 (n,) each.
    """
    rates = np.asarray(rates, dtype=np.float64)
    fine = geometric_at(noise, share, counts, finest)
    nothing = np.minimum(nothing_added(rates, finest), 1.0 - 2.0**-53)
    threshold = np.floor(nothing * 2.0**64).astype(np.uint64)
    coarse = fine.copy()
    for sign in (1, -1):
        rows = np.flatnonzero(noise.words(len(fine)) >= threshold)
        coarse[rows] += sign * _one_sided_at(noise, share, rates[rows])
    return coarse, fine


def nothing_added(rates: ArrayLike, finest: ArrayLike) -> Float:
    """The probability (q/p)(1 − p)/(1 − q) of :func:`gradual_at`; 1 where the rates are equal."""
    rates, finest = np.asarray(rates, dtype=np.float64), np.asarray(finest, dtype=np.float64)
    return np.asarray(np.exp(rates - finest) * np.expm1(-rates) / np.expm1(-finest))


def _one_sided_at(noise: Noise, share: Share, rates: Float) -> Int:
    """Integers k ≥ 0 with P(k) ∝ e^(−rate·k): discrete Laplace, the negative redrawn."""
    draws = geometric_at(noise, share, np.zeros(len(rates), dtype=np.int64), rates)
    while True:
        negative = np.flatnonzero(draws < 0)
        if not len(negative):
            return draws
        draws[negative] = _one_sided_at(noise, share, rates[negative])


def asymmetric_geometric(
    noise: Noise, share: Share, counts: ArrayLike, up: float, down: float
) -> tuple[Float, Float]:
    """Counts plus G − H of one-sided geometric draws, P(G=k) ∝ e^(−up·k), P(H=k) ∝ e^(−down·k).

    P(k) is proportional to e^(−up·k) for k ≥ 0 and to e^(−down·|k|) below: moving a count by one
    changes the log probability of any outcome by exactly ``up`` one way or ``down`` the other.

    Returns:
        Noisy counts less the noise's known mean (float64), and their variances.
    """
    share.use()
    counts = np.asarray(counts, dtype=np.int64)
    draws = one_sided_geometric(noise, counts.size, up) - one_sided_geometric(
        noise, counts.size, down
    )
    mean = sum(sign * math.exp(-rate) / -math.expm1(-rate) for sign, rate in ((1, up), (-1, down)))
    variance = sum(0.5 * float(geometric_variance(1.0 / rate)) for rate in (up, down))
    return counts + draws.reshape(counts.shape) - mean, np.full(counts.shape, variance)


def one_sided_geometric(noise: Noise, n: int, rate: float) -> Int:
    """Draw n integers k ≥ 0 with P(k) ∝ e^(−rate·k): discrete Laplace, the negative redrawn."""
    draws = noise.discrete_laplace(n, 1.0 / rate)
    while True:
        negative = np.flatnonzero(draws < 0)
        if not len(negative):
            return draws
        draws[negative] = noise.discrete_laplace(len(negative), 1.0 / rate)


def bernoulli(noise: Noise, share: Share, no_probability: ArrayLike) -> NDArray[np.bool_]:
    """One exact Bernoulli bit per entry: true with probability 1 − ``no_probability``.

    The probability is compared as ⌊2^64·q⌋ with a uniform 64-bit integer, q floored at 2^−32. The
    theorem behind ``share`` bounds the loss of the bits: this function adds no noise of its own.
    """
    share.use()
    no = np.clip(np.asarray(no_probability, dtype=np.float64), NO_SPLIT_FLOOR, 1.0 - 2.0**-53)
    threshold = np.floor(no * 2.0**64).astype(np.uint64)
    return np.asarray(noise.words(threshold.size).reshape(threshold.shape) >= threshold)


def exponential(noise: Noise, share: Share, scores: ArrayLike, sensitivity: float = 1.0) -> int:
    """The exponential mechanism: index of one candidate, with P ∝ exp(ε·score / (2·sensitivity)).

    ε-DP when one record moves every score by at most ``sensitivity`` (F. McSherry and K. Talwar,
    FOCS 2007). The computed probabilities are cumulated and compared with one uniform
    64-bit integer.

    Args:
        noise: the source of randomness.
        share: pays for this one choice.
        scores: one finite number per public candidate, float64 (k,).
        sensitivity: the most that one record moves a score.
    """
    scores = np.asarray(scores, dtype=np.float64)
    weight = np.exp(share.use() * (scores - scores.max()) / (2.0 * sensitivity))
    cumulative = np.cumsum(weight)
    word = float(noise.words(1)[0]) * 2.0**-64 * cumulative[-1]
    return min(int(np.searchsorted(cumulative, word, side="right")), len(scores) - 1)


def geometric_each(
    noise: Noise, share: Share, values: ArrayLike, sensitivities: ArrayLike
) -> tuple[Int, Float]:
    """The geometric mechanism on one integer value per disjoint cell, each of its own sensitivity.

    A sensitivity is rounded up to the next step of 2^(1/8), so that a level of cells needs a few
    vectorised draws: at most 9 % more noise, never less. Sensitivities must be public.

    Returns:
        Noisy values (int64) and the variance of each (float64).
    """
    values = np.asarray(values, dtype=np.int64)
    steps = np.ceil(8 * np.log2(np.asarray(sensitivities, dtype=np.float64)) - 1e-9)
    epsilon = share.use()
    noisy, variance = values.copy(), np.empty(values.shape)
    for step in np.unique(steps):
        scale = laplace_scale(epsilon, 2.0 ** (step / 8) * (1 + 1e-9))
        rows = np.flatnonzero(steps == step)
        noisy[rows] += noise.discrete_laplace(len(rows), scale)
        variance[rows] = geometric_variance(scale)
    return noisy, variance


def exponential_draws(noise: Noise, n: int) -> Float:
    """Draw n standard exponential numbers; small ones are fine to 2^−64, for races of tiny odds."""
    uniform = (noise.words(n).astype(np.float64) + 0.5) * 2.0**-64
    return np.asarray(-np.log1p(-np.minimum(uniform, 1.0 - 2.0**-53)), dtype=np.float64)


def laplace(noise: Noise, n: int) -> Float:
    """Draw n continuous Laplace numbers of scale 1, in double precision.

    For smooth sensitivity, where the result is rounded to the lattice, and for methods without a
    guarantee, built as published. Counts get :func:`geometric`.
    """
    sign = np.where(noise.words(n) >> np.uint64(63) == 0, 1.0, -1.0)
    return sign * exponential_draws(noise, n)


def uniform_below(noise: Noise, bounds: ArrayLike) -> Int:
    """One exactly uniform integer from 0 to below each positive bound.

    Words that would favour small numbers are drawn again.
    """
    bounds = np.asarray(bounds, dtype=np.int64).astype(np.uint64)
    drawn = noise.words(len(bounds))
    # 2^64 mod bound: the words below it are one too many for the small numbers.
    surplus = (np.uint64(0) - bounds) % bounds
    again = np.flatnonzero(drawn < surplus)
    while len(again):
        drawn = drawn.copy()
        drawn[again] = noise.words(len(again))
        again = again[drawn[again] < surplus[again]]
    return np.asarray(drawn % bounds, dtype=np.int64)


def poisson_sample(noise: Noise, weights: ArrayLike, rate: float) -> Int:
    """How many of each cell's records stay when every record stays with probability ``rate``.

    The mechanism that looks at the sample is paid for by :meth:`Share.on_sample`. The sample and
    its size must stay unpublished.
    """
    weights = np.asarray(weights, dtype=np.int64)
    ends = np.cumsum(weights)
    n = int(ends[-1]) if len(ends) else 0
    # From one record that stays to the next: geometric gaps, so that the work is of the sample's
    # size; the draws reach past the last record but for odds of e^−30, and then there are more.
    many = int(n * rate + 8 * math.sqrt(n * rate) + 40)
    stays: Int = np.zeros(0, dtype=np.int64)
    reached = -1
    while reached < n - 1:
        gaps = np.floor(exponential_draws(noise, many) / -math.log1p(-rate)) + 1
        places = reached + np.cumsum(np.minimum(gaps, n)).astype(np.int64)
        stays, reached = np.concatenate([stays, places]), int(places[-1])
    owner = np.searchsorted(ends, stays[stays < n], side="right")
    return np.bincount(owner, minlength=len(weights))


def published_laplace(noise: Noise, share: Share, values: ArrayLike, scale: ArrayLike) -> Float:
    """Values plus continuous Laplace noise of the scale that a refuted paper states.

    It makes nothing private: for methods whose guarantee is "none", built as published.
    """
    share.use()
    values = np.asarray(values, dtype=np.float64)
    return np.asarray(values + np.asarray(scale) * laplace(noise, values.size), dtype=np.float64)


def random_ranks(noise: Noise, groups: ArrayLike) -> Int:
    """A uniformly random order inside each group, as ranks from 0: int64 of the length of groups.

    It looks at no record: ``groups`` are public, or belong to a method without a guarantee.
    """
    groups = np.asarray(groups)
    order = np.lexsort((noise.words(len(groups)), groups))
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    ranks = np.empty(len(groups), dtype=np.int64)
    sizes = np.diff(np.append(starts, len(groups)))
    ranks[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return ranks
