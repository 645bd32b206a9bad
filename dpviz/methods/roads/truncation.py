"""Limit on the length of trips: the split of ε, the choice of L, a private quantile.

A trip cut to L edges moves at most L counts by one (the paper's L − 1 holds only where L counts
vertices), so the noise grows with L and the loss shrinks. Lengths are in edges.

The rule for a workload: one edge more costs a query √(2V)/ε₂ of noise and gives it back
κq/|E| of a visit for each trip that is longer, with V the variance of its answer, q its edges, κ
how much more than others its edges lose. So L is best where c/ε₂ trips are longer,
c = √(2V)·|E|/(κq): a public number (K. Amin et al.: Bounding User Contributions, ICML 2019, have
the same rule for sums). Numbers of longer trips have noise of a few 1/ε₁; what they lose, which the
paper squares, has up to Δ times as much.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpviz.methods.roads.base import RoadTask
from dpviz.private.budget import Share
from dpviz.private.mechanisms.noise import Noise, exponential, geometric
from dpviz.private.roads import length_histogram
from dpviz.roads.graph import Float, Int
from dpviz.roads.paths import Paths

NOISE_SDS = 2.0
"""Standard deviations of noise beyond which a number is distinguished from it."""

BELOW_ONE = 0.9999
"""An estimated share that is not all, in the digits of a header."""

LOSS_SKEW = 3.0**0.5
"""κ of the workload rule: how much more than the mean edge a queried edge loses; a public guess."""

BIN_RATIO = 1.1
"""Ends of neighbouring bins of lengths: L, the end of one, is at most a tenth too large."""

BAND, ALONE = 2.5, 6.0
"""Bound on the noise of w bins together, (BAND·√(2w) + ALONE)/ε₁: over all sums of neighbouring
bins it is exceeded in less than 1 % of builds (``test_noise_alone_lengthens_no_trip``)."""

DOUBT, MAX_SHARE = 30.0, 0.25
"""Twice that bound for a dozen bins, and the largest share of ε for lengths."""


def length_bins(cap: int, ratio: float = BIN_RATIO) -> Int:
    """Least length of each bin, and Δ + 1: int64 (bins + 1,).

    >>> length_bins(12, 1.2).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13]
    """
    ends = [1]
    while ends[-1] <= cap:
        ends.append(min(max(ends[-1] + 1, round(ratio * ends[-1])), cap + 1))
    return np.array(ends, dtype=np.int64)


class NoisyLengths(NamedTuple):
    """Noisy numbers of trips in bins of lengths.

    Attributes:
        bins: see :func:`length_bins`, (k + 1,).
        counts: noisy numbers of trips, with independent noise, (k,).
        variance: variance of each count, (k,).
        epsilon: ε₁, which paid for them.
    """

    bins: Int
    counts: Int
    variance: Float
    epsilon: float

    @classmethod
    def measure(
        cls, task: RoadTask, trips: Paths, cap: int, part: float, ratio: float = BIN_RATIO
    ) -> NoisyLengths:
        """Spend a part of what is left of ε on the lengths of trips of at most Δ edges."""
        share = task.budget.spend(
            task.budget.left * part,
            "trip lengths",
            mechanism="geometric",
            why="a trip is in one bin: sensitivity 1 in L1",
        )
        bins = length_bins(cap, ratio)
        exact = np.add.reduceat(length_histogram(trips, cap), bins[:-1] - 1)
        noisy, variance = geometric(task.noise, share, exact)
        return cls(bins, noisy, variance, share.epsilon)

    @property
    def middle(self) -> Float:
        """Mean length in each bin, if all in it are as frequent."""
        return np.asarray((self.bins[:-1] + self.bins[1:] - 1) / 2)

    def limit(self, epsilon: float, c: float) -> int:
        """L where counts have ε₂ = ``epsilon``: see :func:`workload_length`."""
        return workload_length(self.counts, self.bins, self.epsilon, epsilon, c)


def length_share(cap: int, edges: int) -> float:
    """The part of ε for the length histogram, theorem 3 of the paper with sensitivity L.

    ε₁ : ε₂ = (Σ_L A₁)^⅓ : (Σ_L A₂)^⅓ with A₁ = (Δ−L)(Δ−L+1)(2Δ−2L+1)/3 and A₂ = 2L²|E|.

    Args:
        cap: Δ, the public bound on lengths.
        edges: |E|.

    >>> round(length_share(100, 7032), 4)
    0.1318
    """
    length = np.arange(1, cap + 1, dtype=np.float64)
    lengths = np.cbrt(_tail_variance(cap, length).sum())
    counts = np.cbrt((2.0 * length**2 * edges).sum())
    # A cap of 1 needs no histogram; the split must still be a positive number.
    return float(np.clip(lengths / (lengths + counts), 0.01, 0.5))


def _tail_variance(cap: int, length: Float) -> Float:
    """A₁: variance of Σ_j j·Ĉ_{L+j} for Laplace noise of scale 1."""
    beyond = cap - length
    return np.asarray(beyond * (beyond + 1) * (2 * beyond + 1) / 3, dtype=np.float64)


def lost_visits(histogram: ArrayLike) -> Float:
    """F(L) = Σ_j j·C_{L+j} for L = 1 … Δ: edge visits lost by a cut to L edges."""
    counts = np.asarray(histogram, dtype=np.float64)
    # longer[L] trips lose an edge when the limit falls from L + 1 to L, for each L downwards.
    longer = np.append(np.cumsum(counts[::-1])[::-1][1:], 0.0)
    return np.asarray(np.cumsum(longer[::-1])[::-1], dtype=np.float64)


def paper_length(histogram: ArrayLike, edges: int, epsilon_counts: float) -> int:
    """L by the paper's bound (1): least 2L²|E|/ε₂² + F̂(L)², with sensitivity L."""
    length = np.arange(1, len(np.asarray(histogram)) + 1, dtype=np.float64)
    noise = 2.0 * (length / epsilon_counts) ** 2 * edges
    return int(np.argmin(noise + lost_visits(histogram) ** 2)) + 1


def break_even(edges: int, query_edges: float, query_variance: float) -> float:
    """Constant c of the workload rule.

    Divided by ε₂, it is the number of trips that one edge more must reach to be worth its noise.

    Args:
        edges: |E|.
        query_edges: mean number of edges of a query.
        query_variance: mean variance of an answer, in units of that of one edge of a flat
            histogram with L = 1.

    >>> round(break_even(7032, 10.0, 10.0))
    1816
    """
    return float(np.sqrt(2.0 * query_variance) * edges / (LOSS_SKEW * query_edges))


def lengths_part(c: float) -> float:
    """The part of ε for the lengths in bins: least 1/(1 − s) + DOUBT/(s·c), at most
    :data:`MAX_SHARE`.

    The first is the noise of the counts. The second is how much too few edges may cost: L may stop
    where DOUBT/ε₁ trips more than c/ε₂ are longer.

    >>> round(lengths_part(1816), 3)
    0.114
    """
    ratio = math.sqrt(DOUBT / c)
    return min(ratio / (1.0 + ratio), MAX_SHARE)


def workload_length(
    noisy: ArrayLike, bins: Int, epsilon_lengths: float, epsilon_counts: float, c: float
) -> int:
    """L for the workload: the first end of a bin that no more than c/ε₂ trips surely exceed.

    At least as many trips are longer as in any row of later bins, so the largest bound from below
    counts: the noise of bins that are nearly empty must not hide a full one, or pass for it.
    Going too far costs up to Δ times the noise, stopping early little more than what is doubtful.
    Post-processing of noisy numbers.

    Args:
        noisy: trips in each bin.
        bins: see :func:`length_bins`.
        epsilon_lengths: ε₁.
        epsilon_counts: ε₂.
    """
    total = np.concatenate([[0.0], np.cumsum(np.asarray(noisy, dtype=np.float64))])
    at = np.arange(len(total))
    many = at[None, :] - at[:, None]
    bound = (BAND * np.sqrt(2.0 * np.maximum(many, 0)) + ALONE) / epsilon_lengths
    surely = np.where(many > 0, total[None, :] - total[:, None] - bound, 0.0).max(axis=1)
    longer = np.maximum.accumulate(surely[::-1])[::-1][1:]
    return int(bins[1 + np.argmax(longer <= c / epsilon_counts)]) - 1


def private_quantile(noise: Noise, share: Share, lengths: Int, cap: int, q: float) -> int:
    """A length in 1 … cap that about q of the trips do not exceed, by the exponential mechanism.

    Score −|#{lengths ≤ x} − q·n| / max(q, 1 − q): adding or removing one trip moves the difference
    by q or 1 − q, so the score by at most 1.

    ``lengths``: exact lengths: private.
    """
    within = np.cumsum(np.bincount(np.minimum(lengths, cap), minlength=cap + 1))[1:]
    # q as a fraction a/b: b times the score's difference is an integer, and moves by a or b − a.
    part = Fraction(q).limit_denominator(10**6)
    score = -np.abs(within * part.denominator - part.numerator * len(lengths))
    most = max(part.numerator, part.denominator - part.numerator)
    return exponential(noise, share, score, Fraction(most)) + 1


def retained_share(
    counts: ArrayLike, length: ArrayLike, limit: int, variance: ArrayLike = 0.0
) -> float | None:
    """Estimated share of edge visits that a cut to ``limit`` keeps, from noisy lengths.

    Noise adds up to nothing over the bins as they are. Were those below zero left out, the others
    would be long trips that do not exist: of 300 trips of one edge each, 8 % of all visits.

    Returns 1 only where L cuts nothing: no noisy number tells that no trip is longer. None where
    all visits together cannot be distinguished from noise.

    Args:
        counts: noisy numbers of trips.
        length: their mean lengths, ascending.
        limit: L; no bin has lengths on both sides of it.
    """
    counts = np.asarray(counts, dtype=np.float64)
    length = np.asarray(length, dtype=np.float64)
    whole = float(counts @ length)
    sd = float(np.sqrt(np.sum(length**2 * np.asarray(variance))))
    if whole <= 0 or whole < NOISE_SDS * sd:
        return None
    highest = 1.0 if limit >= length[-1] else BELOW_ONE
    return min(max(float(counts @ np.minimum(length, limit)) / whole, 0.0), highest)
