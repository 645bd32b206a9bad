"""TripModel: contexts, and which trips there are: from where, to where, of how many symbols."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.errors import ReleaseError
from dpviz.lazy import scipy
from dpviz.sequences.model import LONGEST, MAX_CELLS, ContextTree, Mask, check_number, settle
from dpviz.trees.lattice import Float, Int
from dpviz.trees.posterior import gamma_posterior

EVEN = 1e-3
"""Share of every step that is even over all allowed symbols: noise makes no trip impossible."""

BATCH = 20_000
"""Trips that are drawn together."""

LEAST = 1e-3
"""Least count of a pair in the quadrature of :func:`likely_pairs`, in trips."""

ROUNDS = 12
"""Most rounds of the fit of pairs to their margins."""

CLOSE = 1e-3
"""Relative change of the margins in a round at which the fit ends."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TripModel(ContextTree):
    """A context tree that knows trips as a whole beside; strings are counted as by contexts.

    Attributes:
        pairs: trips by first and last symbol, float64 (|I|, |I|), non-negative.
        lengths: trips by the least number of steps between their ends, from 0, and by their number
            of symbols, from 1; float64 (steps, symbols), non-negative.
    """

    pairs: Float
    lengths: Float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first_child[0] < 0 or self.pairs.shape != (self.size, self.size):
            raise ReleaseError("a model of trips needs a context and pairs for every symbol")
        most = longest_trip(self.size, LONGEST)
        if self.lengths.ndim != 2 or not 1 <= len(self.lengths) <= self.lengths.shape[1] <= most:
            raise ReleaseError(
                f"a model of trips needs numbers of symbols by distance, at most {most}"
            )
        settle(self.pairs)
        settle(self.lengths)

    @cached_property
    def _rule(self) -> Mask:
        return step_rule(self.follows, self.size)

    @cached_property
    def _steps(self) -> Int:
        return distances(self._rule, len(self.lengths))

    @cached_property
    def _ways(self) -> Float:
        """P(going from one symbol to another in k steps), k from 0, float64 (symbols, |I|, |I|)."""
        allowed = self._rule / np.maximum(self._rule.sum(axis=1, keepdims=True), 1)
        count = np.where(self._rule, self.counts[1 : self.size + 1, : self.size], 0.0)
        total = count.sum(axis=1, keepdims=True)
        step = np.where(total > 0, count / np.where(total > 0, total, 1.0), allowed)
        step = (1 - EVEN) * step + EVEN * allowed
        ways = np.empty((self.lengths.shape[1], self.size, self.size))
        ways[0] = np.eye(self.size)
        for k in range(1, len(ways)):
            ways[k] = ways[k - 1] @ step
        return ways

    @cached_property
    def _cumulated(self) -> Float:
        """Cumulative weights of the possible pairs of ends; equal if no trip was counted."""
        possible = (self._steps >= 0) & (self._steps < len(self.lengths))
        pairs = np.where(possible, self.pairs, 0.0)
        return np.asarray(np.cumsum(pairs if pairs.any() else possible))

    def sample(self, n: int, seed: int | None = None, longest: int = LONGEST) -> list[Int]:
        """Synthetic trips: ends first, then how many symbols, then the way: post-processing.

        The way is drawn symbol by symbol from the contexts, each step weighed by how likely the
        rest of the way leads to the end in the steps that are left (a Markov bridge).

        Raises:
            ParameterError: see :func:`~dpviz.sequences.model.check_number`.
        """
        check_number(n)
        random = np.random.default_rng(seed)
        rows: list[Int] = []
        for start in range(0, n, BATCH):
            rows += self._bridges(min(BATCH, n - start), random)
        return [row[:longest] for row in rows]

    def _bridges(self, n: int, random: np.random.Generator) -> list[Int]:
        pair = _drawn(self._cumulated[None], random.random(n))
        first, last = np.divmod(pair, self.size)
        steps = self._steps[first, last]
        weight = self.lengths[steps] * (self._ways[:, first, last].T > 0)
        # Where no counted number of symbols can be, the fewest.
        unknown = np.flatnonzero(weight.sum(axis=1) <= 0)
        weight[unknown, steps[unknown]] = 1.0
        length = 1 + _drawn(np.cumsum(weight, axis=1), random.random(n))
        text = np.full((n, self.lengths.shape[1] + self.depth), self.size, dtype=np.int64)
        text[:, self.depth] = first  # after as many start marks as a context may see
        for left in range(int(length.max(initial=1)) - 1, 0, -1):
            rows = np.flatnonzero(length > left)
            at = self.depth + length[rows] - 1 - left
            past = text[rows[:, None], at[:, None] + np.arange(1 - self.depth, 1)]
            here = past[:, -1]
            rule = self._rule[here]
            chance = np.where(rule, self.chances[self._nodes(past), : self.size] + EVEN, 0.0)
            chance *= self._ways[left - 1][:, last[rows]].T
            lost = np.flatnonzero(chance.sum(axis=1) <= 0)  # too unlikely for a double: straight on
            straight = np.equal(self._steps[:, last[rows[lost]]].T, left - 1)
            chance[lost] = rule[lost] & straight
            text[rows, at + 1] = _drawn(np.cumsum(chance, axis=1), random.random(len(rows)))
        trips = text[:, self.depth :]
        return [trips[row, :size] for row, size in enumerate(length.tolist())]


def _drawn(cumulated: Float, uniform: Float) -> Int:
    """A column for each uniform number, by cumulated weights (n, k), or (1, k) for all."""
    wanted = uniform * cumulated[:, -1]
    if len(cumulated) == 1:
        column = np.searchsorted(cumulated[0], wanted, side="right")
    else:
        column = (cumulated <= wanted[:, None]).sum(axis=1)
    return np.asarray(np.minimum(column, cumulated.shape[1] - 1))


def step_rule(follows: Mask | None, size: int) -> Mask:
    """Mask of allowed steps; without a rule, to any other symbol (a single one: to itself)."""
    if follows is not None:
        return follows
    return np.ones((1, 1), dtype=np.bool_) if size == 1 else ~np.eye(size, dtype=np.bool_)


def distances(rule: Mask, limit: int = LONGEST) -> Int:
    """Least number of steps from each symbol to each, int64 (|I|, |I|).

    −1 where none leads, or more than ``limit``.

    >>> distances(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).tolist()
    [[0, 1, 2], [-1, 0, 1], [-1, -1, 0]]
    """
    if rule.sum() == rule.size - len(rule) and not rule.diagonal().any():
        return 1 - np.eye(len(rule), dtype=np.int64)  # anything else may follow

    steps = scipy.sparse.csgraph.dijkstra(
        scipy.sparse.csr_array(rule.astype(np.float64)), unweighted=True, limit=limit
    )
    return np.where(np.isfinite(steps), steps, -1).astype(np.int64)


def longest_trip(size: int, l_top: int) -> int:
    """Symbols of the longest trip of a model: a public cap, so that its tables fit in memory."""
    return max(min(l_top, LONGEST, MAX_CELLS // (2 * size * size)), 1)


def likely_pairs(noisy: Float, scale: float, steps: Int, longest: int) -> Float:
    """Trips by first and last symbol, from noisy counts: post-processing.

    Each count is weighed against a gamma prior whose mean has the margins of the noisy counts, by
    first symbol, by last and by distance; the total is kept, or 0 where noise made it negative.

    Args:
        noisy: counts, float64 (|I|, |I|).
        scale: of the noise in each.
        steps: of :func:`distances`.
        longest: of :func:`longest_trip`: ends that lie further apart have no trips.
    """
    first, last = np.nonzero((steps >= 0) & (steps < longest))
    count, step = noisy[first, last], steps[first, last]
    total, n = float(count.sum()), len(noisy)
    pairs = np.zeros(noisy.shape)
    if total <= 0:
        return pairs
    sides = ((step, int(step.max()) + 1), (first, n), (last, n))
    margins = [
        np.maximum(np.bincount(side, count, size), 1e-3 * total / size) for side, size in sides
    ]
    mean = margins[1][first] * margins[2][last] / total
    for _ in range(ROUNDS):
        change = 0.0
        for (side, size), margin in zip(sides, margins, strict=True):
            ratio = margin / np.maximum(np.bincount(side, mean, size), 1e-300)
            mean *= ratio[side]
            change = max(change, float(np.abs(ratio - 1).max()))
        if change < CLOSE:
            break
    guess = np.maximum(mean, 1e-6 * total / noisy.size)
    likely, _ = gamma_posterior(count, scale, guess, least=LEAST)
    pairs[first, last] = likely * (total / likely.sum())
    return pairs
