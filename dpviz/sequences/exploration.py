"""The exploration tree of n-grams: how it grows, how counts add up. Sees noisy numbers only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.sequences.grams import GramTree
from dpviz.sequences.model import Mask
from dpviz.trees.lattice import Float, Int


@dataclass(eq=False)
class Level:
    """The explored strings of one length, with what was released about their extensions.

    Attributes:
        parent: row, in the level above, of the string without its last symbol; int64 (n,).
        symbol: the last symbol, int64 (n,).
        suffix: row, in the whole tree, of the Markov parent; −1 for the empty string; int64 (n,).
        rate: ε of the counts of the extensions, float64 (n,).
        spent: ε of all counts along the path, these included, float64 (n,).
        last: True if the path has no ε left, so that no extension is explored; bool (n,).
        possible: extensions that can occur by public rules, bool (n, |I| + 1).
        noisy: counts, 0 where impossible, int64 (n, |I| + 1).
        released: extensions whose noisy count is kept, bool (n, |I| + 1).
    """

    parent: Int
    symbol: Int
    suffix: Int
    rate: Float
    spent: Float
    last: Mask
    possible: Mask
    noisy: Int
    released: Mask

    def __len__(self) -> int:
        return len(self.rate)


class Exploration:
    """A tree of strings that grows to the right, level by level.

    Args:
        rate: ε of the counts of single symbols.
        last: True if only single symbols are counted.
    """

    def __init__(self, size: int, follows: Mask | None, rate: float, last: bool) -> None:
        self.size, self.follows = size, follows
        self.child = np.full((1, size), -1, dtype=np.int64)
        self.mode = np.zeros(1)  # P of each string's most frequent extension; 0 if none is known
        self.levels: list[Level] = []
        none, rates = np.full(1, -1, dtype=np.int64), np.array([rate])
        self._append(none, none, none, rates, rates, np.array([last]))

    @property
    def level(self) -> Level:
        """The longest strings so far."""
        return self.levels[-1]

    @property
    def first(self) -> int:
        """Row of the first of the longest strings."""
        return len(self.child) - len(self.level)

    def observe(self, noisy: Int, released: Mask) -> None:
        """Enter the noisy counts of the extensions of the longest strings."""
        level = self.level
        level.noisy, level.released = noisy, released
        counts = np.where(released, np.maximum(noisy, 0), 0)
        self.mode[self.first :] = counts.max(axis=1) / np.maximum(counts.sum(axis=1), 1)

    def markov_parents(self, parent: Int, symbol: Int) -> Int:
        """Row of the longest proper suffix of each extension whose own extensions are known.

        Returns rows in the whole tree, int64 (n,); 0, the empty string, always is such an end.

        Args:
            parent: rows in the present level.
            symbol: the symbol that extends each string.
        """
        suffix = np.concatenate([level.suffix for level in self.levels])
        parents = np.zeros(len(parent), dtype=np.int64)
        # As in the automaton of Aho and Corasick: a suffix of xs is a suffix of x, extended by s.
        end = suffix[self.first + parent]
        while (end >= 0).any():
            row = np.where(end >= 0, self.child[end, symbol], -1)
            hit = (row >= 0) & (self.mode[row] > 0)
            parents[hit] = row[hit]
            end = np.where((end >= 0) & ~hit, suffix[end], -1)
        return parents

    def extend(
        self, parent: Int, symbol: Int, suffix: Int, rate: Float, spent: Float, last: Mask
    ) -> None:
        """Add the next level: rows of the present one, each extended by a symbol."""
        n = len(self.child)
        self.child[self.first + parent, symbol] = n + np.arange(len(parent))
        new = np.full((len(parent), self.size), -1, dtype=np.int64)
        self.child = np.vstack([self.child, new])
        self.mode = np.append(self.mode, np.zeros(len(parent)))
        self._append(parent, symbol, suffix, rate, spent, last)

    def _append(
        self, parent: Int, symbol: Int, suffix: Int, rate: Float, spent: Float, last: Mask
    ) -> None:
        n = len(rate)
        possible = np.ones((n, self.size + 1), dtype=np.bool_)
        # The end mark's count after the empty string stays unreleased: the guarantee requires it.
        possible[:, self.size] = bool(self.levels)
        if self.levels and self.follows is not None:
            possible[:, : self.size] = self.follows[symbol]
        noisy = np.zeros(possible.shape, dtype=np.int64)
        released = np.zeros(possible.shape, dtype=np.bool_)
        self.levels.append(
            Level(parent, symbol, suffix, rate, spent, last, possible, noisy, released)
        )

    def consistent(self) -> Float:
        """Counts such that the extensions of a string add up to the string's own count.

        A missing extension gets what the Markov parent's histogram says beside the released ones,
        or an even part of what is left where the Markov parent is the empty string; then negative
        counts are cut off and the row is scaled. Where no extension was released all are 0.

        Returns float64 (n, |I| + 1), rows of all levels in order.
        """
        counts = np.maximum(self.levels[0].noisy, 0).astype(np.float64)
        first = 0
        for level in self.levels[1:]:
            measured = counts[first + level.parent, level.symbol]
            first = len(counts)
            row = np.maximum(_completed(level, measured, counts[level.suffix]), 0.0)
            row[~level.released.any(axis=1)] = 0.0
            total = row.sum(axis=1)
            row *= np.where(total > 0, measured / np.where(total > 0, total, 1.0), 0.0)[:, None]
            counts = np.vstack([counts, row])
        return counts

    def result(self, variance: float) -> GramTree:
        """The tree without rows of zeros (and what is below them): there strings end."""
        counts = self.consistent()
        nonzero = counts.sum(axis=1) > 0
        nonzero[0] = True
        number = np.cumsum(nonzero) - 1
        child = np.where((self.child >= 0) & nonzero[self.child], number[self.child], -1)
        return GramTree(child[nonzero], counts[nonzero], variance, self.follows)


def _completed(level: Level, measured: Float, histogram: Float) -> Float:
    """Noisy counts of a level where they were released, guesses elsewhere; (n, |I| + 1).

    ``histogram``: consistent counts after its Markov parent, (n, |I| + 1).
    """
    known, missing = level.released, level.possible & ~level.released
    noisy = np.where(known, level.noisy, 0).astype(np.float64)
    released_sum = noisy.sum(axis=1)
    expected_sum = np.where(known, histogram, 0.0).sum(axis=1)
    ratio = np.maximum(released_sum, 0.0) / np.where(expected_sum > 0, expected_sum, np.inf)
    even = np.maximum(measured - released_sum, 0.0) / np.maximum(missing.sum(axis=1), 1)
    guess = np.where((level.suffix == 0)[:, None], even[:, None], ratio[:, None] * histogram)
    return np.where(missing, guess, noisy)
