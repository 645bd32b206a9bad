"""Private medians of many disjoint cells at once: where a kd-tree cuts.

A cut x of the lattice cell [lo, hi) sends values below x to the left, so x is one of lo+1 … hi−1.
All cells of a level are handled together; they are disjoint, so one share pays for a level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.private.budget import Share
from dpviz.private.mechanisms.noise import (
    Noise,
    exponential_draws,
    geometric,
    geometric_each,
    laplace,
    uniform_below,
)
from dpviz.trees.lattice import Float, Int

REACH = 49.0
"""ln of an exponential draw lies in [−45.1, 3.7]: a cut whose log weight is this far below the best
one's cannot win the race, and is left out of it without any effect."""


@dataclass(frozen=True)
class Column:
    """One coordinate of the records of k disjoint cells.

    Attributes:
        values: coordinates, sorted inside each cell, int64 of shape (m,).
        weights: records at each, int64.
        starts: first row of each cell, and m at the end, int64 of shape (k + 1,).
        lo: limits of the cells along the coordinate, int64 of shape (k,).
        hi: exclusive; hi − lo ≥ 2.
    """

    values: Int
    weights: Int
    starts: Int
    lo: Int
    hi: Int

    def __len__(self) -> int:
        return len(self.lo)

    def sampled(self, weights: Int) -> Column:
        """The same cells with a sample of their records: how many stay at each place."""
        kept = np.flatnonzero(weights)
        starts = np.searchsorted(kept, self.starts)
        return Column(self.values[kept], weights[kept], starts, self.lo, self.hi)

    def distinct(self) -> tuple[Int, Int, Int]:
        """Distinct values inside each cell.

        Returns:
            The values and a zero, int64 of shape (u + 1,); records before each and in all, over
            all cells, (u + 1,); the first row of each cell, (k + 1,).
        """
        m = len(self.values)
        first = np.ones(m, dtype=np.bool_)
        np.not_equal(self.values[1:], self.values[:-1], out=first[1:])
        first[self.starts[:-1][self.starts[:-1] < m]] = True
        rows = np.flatnonzero(first)
        total = np.concatenate([[0], np.cumsum(self.weights)])
        values = np.append(self.values[rows], 0)
        return values, total[np.append(rows, m)], np.searchsorted(rows, self.starts)


def exponential_cuts(noise: Noise, share: Share, column: Column, factor: float = 1.0) -> Int:
    """Cuts by the exponential mechanism with utility −|rank(x) − n/2|.

    One record moves rank(x) − n/2 by exactly ½ at every x, so a cut of weight e^{−ε·|rank − n/2|}
    is ε-DP (F. McSherry, K. Talwar, FOCS 2007; with the real n/2: the paper's ε/2 in the exponent
    wastes half). All cuts between two neighbouring values have one rank: an interval is drawn by
    number of cuts × weight in a race of exponential numbers, then a cut uniformly in it.

    Args:
        noise: the source of randomness.
        share: pays for the whole level.
        column: the cells; see :class:`Column`.
        factor: of ε in the exponent; ½ is the paper's mechanism.

    Returns:
        One cut per cell, int64 of shape (k,).
    """
    rate = share.use() * factor
    below, above, ranks, owner = _race(column, rate)
    lengths = (above - below).astype(np.float64)
    with np.errstate(divide="ignore"):
        race = np.log(exponential_draws(noise, len(below))) - np.log(lengths) + rate * ranks
    starts = np.searchsorted(owner, np.arange(len(column)))
    best = np.minimum.reduceat(race, starts)
    rows = np.flatnonzero(race == best[owner])
    _, first = np.unique(owner[rows], return_index=True)  # a tie: the first one
    chosen = rows[first]
    cuts: Int = below[chosen] + 1 + uniform_below(noise, above[chosen] - below[chosen])
    return cuts


def _race(column: Column, rate: float) -> tuple[Int, Int, Float, Int]:
    """The intervals that can win: values below and above, |rank − n/2|, and the cell of each."""
    values, cumulative, starts = column.distinct()
    k = len(column)
    base = cumulative[starts[:-1]]
    half = (cumulative[starts[1:]] - base) / 2.0
    # Interval j of a cell (0 … number of values) lies above its first j values.
    many = np.diff(starts) + 1
    middle = np.searchsorted(cumulative, base + half) - starts[:-1]
    near = np.clip(middle[:, None] + np.array([-2, -1, 0, 1, 2]), 0, many[:, None] - 1)
    lowest = np.full(k, np.inf)
    for place in near.T:
        below, above, rank = _interval(column, values, cumulative, starts, np.arange(k), place)
        with np.errstate(divide="ignore"):
            lowest = np.minimum(lowest, rate * np.abs(rank - half) - np.log(above - below))
    reach = (lowest + np.log(column.hi - column.lo) + REACH) / rate
    first = np.searchsorted(cumulative, base + half - reach) - starts[:-1]
    last = np.searchsorted(cumulative, base + half + reach, side="right") - starts[:-1]
    first = np.clip(first, 0, many - 1)
    last = np.maximum(np.clip(last, 1, many), first + 1)
    sizes = last - first
    owner = np.repeat(np.arange(k), sizes)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes - first, sizes)
    below, above, rank = _interval(column, values, cumulative, starts, owner, place)
    return below, above, np.abs(rank - half[owner]), owner


def _interval(
    column: Column, values: Int, cumulative: Int, starts: Int, owner: Int, place: Int
) -> tuple[Int, Int, Int]:
    """Values below and above interval ``place`` of each cell ``owner``, and the rank in it.

    Cuts of the interval are below + 1 … above: none where the two are equal.
    """
    row = starts[owner] + place
    below = np.where(place > 0, values[row - 1], column.lo[owner])
    above = np.where(row < starts[owner + 1], values[row], column.hi[owner] - 1)
    return below, above, cumulative[row] - cumulative[starts[owner]]


def smooth_cuts(noise: Noise, share: Share, column: Column) -> Int:
    """Cuts by the smooth sensitivity of the median: (ε, δ)-DP.

    K. Nissim, S. Raskhodnikova, A. Smith (STOC 2007), as in ICDE 2012, definition 4: x_m plus
    (2σ/ε)·Lap(1), σ at ξ = ε/(4(1 + ln(2/δ))), m = ⌈n/2⌉. Adding or removing a record moves the
    median by at most one place in the order, which σ covers. Rounding to a cut is post-processing.
    """
    from dpviz.private.mechanisms.sensitivity import medians_and_sensitivities

    epsilon, delta = share.use(), share.delta
    xi = epsilon / (4.0 * (1.0 + math.log(2.0 / delta)))
    values, cumulative, starts = column.distinct()
    median, sigma = medians_and_sensitivities(values, cumulative, starts, column.lo, column.hi, xi)
    noisy = median + 2.0 * sigma / epsilon * laplace(noise, len(column))
    cuts: Int = np.clip(np.rint(noisy), column.lo + 1, column.hi - 1).astype(np.int64)
    return cuts


def mean_cuts(noise: Noise, shares: tuple[Share, Share], column: Column) -> Int:
    """Cuts at noisy means (A. Inan et al., EDBT 2010): a noisy sum over a noisy count, clamped.

    The sum of x − lo has sensitivity hi − 1 − lo, the count 1; each has its own share.
    """
    span = column.hi - 1 - column.lo
    shifted = (column.values - np.repeat(column.lo, np.diff(column.starts))) * column.weights
    sums, counts = (
        np.diff(np.concatenate([[0], np.cumsum(part)])[column.starts])
        for part in (shifted, column.weights)
    )
    total, _ = geometric_each(noise, shares[0], sums, span)
    count, _ = geometric(noise, shares[1], counts)
    mean = np.where(count > 0, total / np.maximum(count, 1), span / 2.0)
    cuts: Int = column.lo + np.clip(np.rint(mean), 1, span).astype(np.int64)
    return cuts


def exact_cuts(column: Column) -> Int:
    """Cuts at exact medians: NOT PRIVATE, for references on public data.

    The middle of the longest interval among those with the most balanced sides.
    """
    below, above, distance, owner = _race(column, 1.0)
    usable = np.flatnonzero(above > below)
    order = np.lexsort((below[usable] - above[usable], distance[usable], owner[usable]))
    _, first = np.unique(owner[usable][order], return_index=True)
    chosen = usable[order][first]
    return np.asarray((below[chosen] + above[chosen] + 2) // 2, dtype=np.int64)
