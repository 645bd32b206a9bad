"""Private medians of many disjoint cells at once: where a kd-tree cuts.

A cut x of the lattice cell [lo, hi) sends values below x to the left, so x is one of lo+1 … hi−1.
All cells of a level are handled together; they are disjoint, so one share pays for a level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpviz.private.budget import Share
from dpviz.private.mechanisms.bounds import Bounds
from dpviz.private.mechanisms.bounds import exponential as exponential_bounds
from dpviz.private.mechanisms.comparison import fair_bits, is_below
from dpviz.private.mechanisms.counts import geometric, geometric_each
from dpviz.private.mechanisms.samplers import checked_rates
from dpviz.private.mechanisms.samples import uniform_below
from dpviz.private.mechanisms.selection import Candidates, chosen_rows
from dpviz.private.mechanisms.sources import Noise
from dpviz.progress import checkpoint
from dpviz.trees.lattice import Float, Int

NEGLIGIBLE_CUTS = 28.0
"""Intervals whose log weights are this far below the best one's, by cuts in the cell, add up to
less than 2^−40 of it: they are looked at only where more than 38 bits are needed."""


@dataclass(frozen=True)
class CellColumn:
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

    def sampled(self, weights: Int) -> CellColumn:
        """The same cells with a sample of their records: how many stay at each place."""
        sample = np.flatnonzero(weights)
        starts = np.searchsorted(sample, self.starts)
        return CellColumn(self.values[sample], weights[sample], starts, self.lo, self.hi)

    def cell(self, row: int) -> CellColumn:
        """One of the cells, by itself."""
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return CellColumn(
            self.values[part],
            self.weights[part],
            np.array([0, part.stop - part.start], dtype=np.int64),
            self.lo[row : row + 1],
            self.hi[row : row + 1],
        )

    def distinct(self) -> tuple[Int, Int, Int]:
        """Distinct values inside each cell.

        Returns the values and a zero, int64 of shape (u + 1,); records before each and in all, over
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


def exponential_cuts(noise: Noise, share: Share, column: CellColumn, factor: float = 1.0) -> Int:
    """Cuts by the exponential mechanism with utility −|rank(x) − n/2|.

    One record moves rank(x) − n/2 by exactly ½ at every x, so a cut of weight e^{−ε·|rank − n/2|}
    is ε-DP (F. McSherry, K. Talwar, FOCS 2007; with the real n/2: the paper's ε/2 in the exponent
    wastes half). All cuts between two neighbouring values have one rank: an interval is chosen by
    number of cuts × weight, exactly (:mod:`~dpviz.private.mechanisms.selection`), then a cut
    uniformly in it.

    Returns one cut per cell, int64 of shape (k,).

    Args:
        share: pays for the whole level.
        factor: factor of ε in the exponent; ½ is the paper's mechanism.
    """
    exact_rate = Fraction(share.use()) * Fraction(factor)
    rate = float(exact_rate)
    below, above, distance, owner = _race(column, rate, NEGLIGIBLE_CUTS)
    starts = np.searchsorted(owner, np.arange(len(column) + 1))
    checkpoint()
    weight = log_weights(above - below, distance, owner, starts, rate)
    best = np.maximum.reduceat(weight, starts[:-1])

    def whole(cell: int) -> tuple[Int, Int, Float, Int]:
        return _race(column.cell(cell), rate, np.inf)

    def candidates(cell: int) -> tuple[Candidates, Fraction]:
        low, high, distances, _ = whole(cell)
        return ((high - low).tolist(), [Fraction(each) for each in distances.tolist()]), exact_rate

    chosen, exactly = chosen_rows(noise.words, starts, np.exp(weight - best[owner]), candidates)
    below, above = below[chosen], above[chosen]
    for cell, place in exactly.items():
        below[cell], above[cell] = (side[place] for side in whole(cell)[:2])
    cuts: Int = below + 1 + uniform_below(noise, above - below)
    return cuts


def log_weights(cuts: Int, distance: Float, owner: Int, starts: Int, rate: float) -> Float:
    """ln(cuts · e^(−rate·distance)), up to a common factor in each cell.

    Distances, in halves, are taken from the least one of those with cuts before they are
    multiplied: a million records at one place must not cost the digits that tell their neighbours
    apart.
    """
    reached = np.where(cuts > 0, distance, np.inf)
    nearest = np.minimum.reduceat(reached, starts[:-1])[owner]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(cuts.astype(np.float64)) - rate * (distance - nearest))


def _race(column: CellColumn, rate: float, depth: float) -> tuple[Int, Int, Float, Int]:
    """The intervals near the best one: values below and above, |rank − n/2|, the cell of each."""
    values, cumulative, starts = column.distinct()
    checkpoint()
    k = len(column)
    base = cumulative[starts[:-1]]
    half = (cumulative[starts[1:]] - base) / 2.0
    # Interval j of a cell (j = 0 … number of values) lies above its first j values.
    many = np.diff(starts) + 1
    middle = np.searchsorted(cumulative, base + half) - starts[:-1]
    near = np.clip(middle[:, None] + np.array([-2, -1, 0, 1, 2]), 0, many[:, None] - 1)
    lowest = np.full(k, np.inf)
    for place in near.T:
        checkpoint()
        below, above, rank = _interval(column, values, cumulative, starts, np.arange(k), place)
        with np.errstate(divide="ignore"):
            lowest = np.minimum(lowest, rate * np.abs(rank - half) - np.log(above - below))
    reach = (lowest + np.log(column.hi - column.lo) + depth) / rate
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
    column: CellColumn, values: Int, cumulative: Int, starts: Int, owner: Int, place: Int
) -> tuple[Int, Int, Int]:
    """Values below and above interval ``place`` of each cell ``owner``, and the rank in it.

    Cuts of the interval are below + 1 … above: none where the two are equal.
    """
    row = starts[owner] + place
    below = np.where(place > 0, values[row - 1], column.lo[owner])
    above = np.where(row < starts[owner + 1], values[row], column.hi[owner] - 1)
    return below, above, cumulative[row] - cumulative[starts[owner]]


def smooth_cuts(noise: Noise, share: Share, column: CellColumn) -> Int:
    """Cuts by the smooth sensitivity of the median: (ε, δ)-DP.

    K. Nissim, S. Raskhodnikova, A. Smith (STOC 2007), as in ICDE 2012, definition 4: x_m plus
    (2σ/ε)·Lap(1), σ at ξ = ε/(4(1 + ln(2/δ))), m = ⌈n/2⌉. Adding or removing a record moves the
    median by at most one place in the order, which σ covers. x_m is a lattice number, so rounding
    the sum rounds the noise: drawn as such, exactly. σ is computed in double precision, and ξ and
    ε are lowered by 2^−40 of themselves for it.
    """
    from dpviz.private.mechanisms.sensitivity import medians_and_sensitivities

    epsilon, delta = share.use() * (1.0 - 2.0**-40), share.delta
    xi = epsilon / (4.0 * (1.0 + math.log(2.0 / delta)))
    values, cumulative, starts = column.distinct()
    median, sigma = medians_and_sensitivities(values, cumulative, starts, column.lo, column.hi, xi)
    # The scale σ is at most hi − lo, which is public.
    checked_rates(epsilon / (2.0 * (column.hi - column.lo)))
    noisy = median.astype(np.int64) + rounded_laplace(noise, epsilon / (2.0 * sigma))
    return np.asarray(np.clip(noisy, column.lo + 1, column.hi - 1), dtype=np.int64)


def rounded_laplace(noise: Noise, rates: Float) -> Int:
    """Laplace noise of scale 1/rate each, rounded to integers, exactly.

    |noise| rounds to k ≥ 1 with probability e^(−(k − ½)·rate) − e^(−(k + ½)·rate): it is not 0 with
    probability e^(−rate/2), and then 1 more than a one-sided geometric draw, of fair sign.
    """

    def bounds(row: int) -> Bounds:
        return exponential_bounds(Fraction(float(rates[row])) / 2)

    rows = np.flatnonzero(is_below(noise.words, len(rates), np.exp(-rates / 2.0), bounds))
    sizes = 1 + noise.one_sided(len(rows), rates[rows])
    draws: Int = np.zeros(len(rates), dtype=np.int64)
    draws[rows] = np.where(fair_bits(noise.words, len(rows)), sizes, -sizes)
    return draws


def mean_cuts(noise: Noise, shares: tuple[Share, Share], column: CellColumn) -> Int:
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


def exact_cuts(column: CellColumn) -> Int:
    """Cuts at exact medians: NOT PRIVATE, for references on public data.

    The middle of the longest interval among those with the most balanced sides.
    """
    below, above, distance, owner = _race(column, 1.0, NEGLIGIBLE_CUTS)
    usable = np.flatnonzero(above > below)
    order = np.lexsort((below[usable] - above[usable], distance[usable], owner[usable]))
    _, first = np.unique(owner[usable][order], return_index=True)
    chosen = usable[order][first]
    return np.asarray((below[chosen] + above[chosen] + 2) // 2, dtype=np.int64)
