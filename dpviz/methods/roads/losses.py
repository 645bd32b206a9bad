"""What a cut to L edges loses: from noisy lengths in bins, and measured by class of edges.

Everything here but the mechanisms' inputs is a function of public and noisy numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.lazy import scipy
from dpviz.roads.graph import Float, Int

RATIO = 1.2
"""Of the ends of neighbouring bins: a tail of few bins sums up little noise."""

RESIDUAL = 8.0
"""κ: squared error that is left of a loss F once its size is measured, κ · F² · q^1.5 / |E|² for a
query of q edges. Found on Oldenburg and the built-in city."""

SPREAD = 0.5
"""One standard deviation of the loss of a class about that of all trips: a public guess."""

USUAL, GIVE = 0.1, 0.15
"""What a cut loses of the visits that stay, and one standard deviation of it: a public guess, to
which a factor is drawn as far as it is unsure. Noise that makes the tail of the lengths long makes
limit, reach and factors large at once."""

MOST = 3.0
"""Greatest factor by which counts grow."""


def length_bins(cap: int, ratio: float = RATIO) -> Int:
    """Least length of each bin, and Δ + 1: int64 (bins + 1,).

    >>> length_bins(12).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13]
    """
    ends = [1]
    while ends[-1] <= cap:
        ends.append(min(max(ends[-1] + 1, round(ratio * ends[-1])), cap + 1))
    return np.array(ends, dtype=np.int64)


def middles(bins: Int) -> Float:
    """Mean length in each bin, if all in it are as frequent."""
    return np.asarray((bins[:-1] + bins[1:] - 1) / 2)


@dataclass(frozen=True, eq=False)
class NoisyLengths:
    """Noisy numbers of trips in :func:`length_bins`.

    Attributes:
        counts: (bins,), with independent noise.
        epsilon: that paid for them.
        cap: Δ.
    """

    counts: Int
    epsilon: float
    cap: int

    @property
    def trips(self) -> float:
        """Estimated number of trips, not negative."""
        return max(float(self.counts.sum()), 0.0)

    @cached_property
    def tail(self) -> Float:
        """Counts that beyond their peak never grow with the length, nor fall below 0: (bins,).

        The weighted least-squares fit of what the trips per edge of length are there.
        """
        width = np.diff(length_bins(self.cap)).astype(np.float64)
        fitted = np.maximum(self.counts.astype(np.float64), 0.0)
        narrow = max(int((width == 1).sum()), 1)
        around = np.convolve(self.counts[:narrow], np.ones(3), "same")[:narrow]
        peak = int(np.argmax(around))
        density = (self.counts / width)[peak:]
        falling = scipy.optimize.isotonic_regression(
            density, weights=width[peak:] ** 2, increasing=False
        ).x
        fitted[peak:] = np.maximum(falling, 0.0) * width[peak:]
        return fitted

    def lost(self) -> tuple[Float, Float]:
        """Edge visits lost by a cut to 1 … Δ edges, and the variance of their noise, (Δ,) each.

        The variance is a quarter of that without the fit: a guess on the low side.
        """
        over = np.maximum(middles(length_bins(self.cap)) - np.arange(1, self.cap + 1)[:, None], 0.0)
        return over @ self.tail, 0.5 / self.epsilon**2 * (over**2).sum(axis=1)

    def limit(self, epsilon: float, edges: int, query_edges: float, query_variance: float) -> int:
        """L: least noise and residual loss of a mean query, once losses are made good for.

        Args:
            epsilon: of the counts.
            edges: |E|.
            query_edges: of the mean query.
            query_variance: of its answer, in variances of one count with L = 1.
        """
        lost, variance = self.lost()
        noise = 2 * (np.arange(1, self.cap + 1) / epsilon) ** 2 * query_variance
        square = np.maximum(lost**2 - variance, 0.0)
        left = RESIDUAL * query_edges**1.5 / edges**2 * square
        return int(np.argmin(noise + left)) + 1

    def reach(self, limit: int, epsilon: float) -> int:
        """Edges of a trip up to which losses are measured: less lost beyond than noise within.

        The tail is taken as exponential, with the mean excess over the limit that the noisy lengths
        have.

        Args:
            limit: L.
            epsilon: of the measured losses.
        """
        if limit >= self.cap:
            return self.cap
        ends = length_bins(self.cap)
        beyond = np.clip((ends[1:] - 1 - limit) / np.diff(ends), 0.0, 1.0)
        longer = max(float(beyond @ self.tail), 1.0)
        lost = float(self.lost()[0][limit - 1])
        excess = np.clip(lost / longer, 1.0, self.cap)
        further = np.arange(1, self.cap - limit + 1)
        error = (lost * np.exp(-further / excess)) ** 2 + 2 * (further / epsilon) ** 2
        return limit + 1 + int(np.argmin(error))


def factors(
    lost: Float, variance: float, visits: Float, lengths: NoisyLengths, limit: int, reach: int
) -> tuple[Float, Float]:
    """By how much the counts of each class grow, and how sure that is: float64 (classes,) each.

    Each class has two guesses of its loss: its share, by its visits, of the loss that the lengths
    tell, give or take :data:`SPREAD` of it; and the measured one, with what the lengths tell of
    trips beyond the reach. They are weighed by their variances, and both against :data:`USUAL`.
    What the lengths tell is shrunk by the part of its square that is noise (James and Stein, 1961).

    Args:
        lost: noisy losses between the limit and the reach.
        variance: of their noise; infinite if there are none.
        visits: estimated visits that were not lost.
        lengths: noisy lengths of trips.
        limit: L.
        reach: R, at least L.

    Returns:
        Factors of at least 1, and one standard deviation of the share that is lost of each.
    """
    whole, doubt = lengths.lost()
    whole = whole * np.maximum(1.0 - doubt / np.maximum(whole, 1e-9) ** 2, 0.0)
    seen = np.maximum(visits, 0.0)
    share = seen / max(float(seen.sum()), 1.0)
    guess = whole[limit - 1] * share
    guessed = (SPREAD * guess) ** 2 + doubt[limit - 1] * share**2
    known = guessed / (guessed + variance) if variance > 0 else np.ones(len(lost))
    loss = np.maximum(guess + known * (lost + whole[reach - 1] * share - guess), 0.0)
    deviation = np.sqrt(known * variance) if math.isfinite(variance) else np.sqrt(guessed)
    visited = np.maximum(visits, deviation + 1.0)
    unsure = np.asarray(deviation / visited)
    return np.minimum(1.0 + drawn(loss / visited, unsure), MOST), unsure


def doubt(unsure: Float) -> Float:
    """One standard deviation of a factor that is drawn to :data:`USUAL`."""
    return np.asarray(unsure * GIVE / np.hypot(unsure, GIVE))


def drawn(share: Float, unsure: Float) -> Float:
    """A class's loss as a share of its visits, drawn to :data:`USUAL` as far as it is unsure."""
    return np.asarray(USUAL + (share - USUAL) * GIVE**2 / (GIVE**2 + unsure**2))
