"""How long a trip may be: the split of ε, the choice of L, a private quantile.

A trip cut to L edges moves at most L counts by one (the paper's L − 1 holds only where L counts
vertices), so the noise grows with L and the loss shrinks. Lengths are in edges.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dpviz.private.budget import Share
from dpviz.private.mechanisms.noise import Noise, exponential
from dpviz.roads.graph import Float, Int

STANDS = 2.0
"""Standard deviations of noise beyond which a number is distinguished from it."""

BELOW_ONE = 0.9999
"""An estimated share that is not all, in the digits of a header."""

SKEW = 3.0
"""κ of the workload rule: how much more than the mean edge a queried edge loses, squared; a public
guess."""


def length_share(cap: int, edges: int, inflation: float = 1.0) -> float:
    """The part of ε for the length histogram, theorem 3 of the paper with sensitivity L.

    ε₁ : ε₂ = (Σ_L A₁)^⅓ : (Σ_L A₂)^⅓ with A₁ = (Δ−L)(Δ−L+1)(2Δ−2L+1)/3 and A₂ = 2L²|E|.

    Args:
        cap: Δ, the public bound on lengths.
        edges: |E|.
        inflation: variance of an answer over that of a flat histogram, where trees are published.

    >>> round(length_share(100, 7032), 4)
    0.1318
    """
    length = np.arange(1, cap + 1, dtype=np.float64)
    lengths = np.cbrt(_tail_variance(cap, length).sum())
    counts = np.cbrt((2.0 * length**2 * edges * inflation).sum())
    # A cap of 1 needs no histogram; the split must still be a positive number.
    return float(np.clip(lengths / (lengths + counts), 0.01, 0.5))


def _tail_variance(cap: int, length: Float) -> Float:
    """A₁: variance of Σ_j j·Ĉ_{L+j} for Laplace noise of scale 1."""
    rest = cap - length
    return np.asarray(rest * (rest + 1) * (2 * rest + 1) / 3, dtype=np.float64)


def lost_visits(histogram: ArrayLike) -> Float:
    """F(L) = Σ_j j·C_{L+j} for L = 1 … Δ: edge visits lost by a cut to L edges."""
    counts = np.asarray(histogram, dtype=np.float64)
    # longer[L] trips lose an edge when the limit goes from L + 1 to L, and so on downwards.
    longer = np.append(np.cumsum(counts[::-1])[::-1][1:], 0.0)
    return np.asarray(np.cumsum(longer[::-1])[::-1], dtype=np.float64)


def paper_length(histogram: ArrayLike, edges: int, epsilon_counts: float) -> int:
    """L by the paper's bound (1): least 2L²|E|/ε₂² + F̂(L)², with sensitivity L."""
    length = np.arange(1, len(np.asarray(histogram)) + 1, dtype=np.float64)
    noise = 2.0 * (length / epsilon_counts) ** 2 * edges
    return int(np.argmin(noise + lost_visits(histogram) ** 2)) + 1


def workload_length(
    histogram: ArrayLike,
    edges: int,
    epsilon_lengths: float,
    epsilon_counts: float,
    *,
    query_edges: float,
    query_variance: float,
) -> int:
    """L for the workload: least noise variance plus squared loss of its mean query.

    The paper's bound puts all lost visits on one edge and squares a noisy number. Here the loss of
    a query is its share of them, F̂ is not negative, and the square is freed of the noise's own
    variance A₁(L)/ε₁². Everything is post-processing of the noisy histogram.

    Args:
        histogram: noisy lengths 1 … Δ.
        edges: |E|.
        epsilon_lengths: ε₁.
        epsilon_counts: ε₂.
        query_edges: mean number of edges of a query.
        query_variance: mean variance of an answer, in units of that of one edge of a flat
            histogram with L = 1.
    """
    cap = len(np.asarray(histogram))
    length = np.arange(1, cap + 1, dtype=np.float64)
    noise = 2.0 * (length / epsilon_counts) ** 2 * query_variance
    lost = np.maximum(lost_visits(histogram), 0.0)
    tail = _tail_variance(cap, length) / epsilon_lengths**2
    square = np.maximum(lost**2 - tail, 0.0)
    return int(np.argmin(noise + SKEW * (query_edges / edges) ** 2 * square)) + 1


def private_quantile(noise: Noise, share: Share, lengths: Int, cap: int, q: float) -> int:
    """A length in 1 … cap that about q of the trips do not exceed, by the exponential mechanism.

    Score −|#{lengths ≤ x} − q·n| / max(q, 1 − q): adding or removing one trip moves the difference
    by q or 1 − q, so the score by at most 1.

    Args:
        noise: the source of randomness.
        share: pays for the choice.
        lengths: exact lengths: private.
        cap: largest candidate, public.
        q: the quantile, between 0 and 1.
    """
    within = np.cumsum(np.bincount(np.minimum(lengths, cap), minlength=cap + 1))[1:]
    # q as a fraction a/b: b times the score's difference is an integer, and moves by a or b − a.
    part = Fraction(q).limit_denominator(10**6)
    score = -np.abs(within * part.denominator - part.numerator * len(lengths))
    most = max(part.numerator, part.denominator - part.numerator)
    return exponential(noise, share, score, Fraction(most)) + 1


def kept_share(histogram: ArrayLike, limit: int, variance: ArrayLike = 0.0) -> float | None:
    """Estimated share of edge visits that a cut to ``limit`` keeps, from noisy lengths.

    Noise adds up to nothing over the bins as they are. Were those below zero left out, the others
    would be long trips that nobody made: of 300 trips of one edge each, 8 % of all visits.

    Args:
        histogram: noisy lengths 1 … Δ.
        limit: L.
        variance: of the noise in each of them.

    Returns:
        1 only where L cuts nothing: no noisy number tells that no trip is longer. None where all
        visits together cannot be distinguished from noise.
    """
    counts = np.asarray(histogram, dtype=np.float64)
    length = np.arange(1, len(counts) + 1)
    whole = float(counts @ length)
    sd = float(np.sqrt(np.sum(length**2 * np.asarray(variance))))
    if whole <= 0 or whole < STANDS * sd:
        return None
    highest = 1.0 if limit >= len(counts) else BELOW_ONE
    return min(max(float(counts @ np.minimum(length, limit)) / whole, 0.0), highest)
