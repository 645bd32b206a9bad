"""GramTree: counts of strings, grown to the right; Ranking: frequent strings without counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NoReturn

import numpy as np

from dpviz.errors import ParameterError, ReleaseError
from dpviz.sequences.model import (
    AT_ONCE,
    MAX_DEPTH,
    MAX_LENGTH,
    ContextTree,
    Mask,
    best_first,
    checked_symbols,
    freeze_counts,
    sequence_rows,
)
from dpviz.trees.lattice import Float, Int


@dataclass(frozen=True, eq=False)
class GramTree:
    """Strings (grams) that were explored, each with counts of its extensions by one symbol.

    Row 0 is the empty string; a row stands after the row of the string without its last symbol.

    Attributes:
        child: row of each extension, −1 where it was not explored; int64 (n, |I|).
        counts: counts of each extension: every symbol, then the end mark &; float64 (n, |I| + 1),
            non-negative.
        variance: variance of the noise in the count of one symbol, before consistency.
        follows: bool (|I|, |I|), the alphabet's rule where the model keeps it, else None.
    """

    child: Int
    counts: Float
    variance: float
    follows: Mask | None = None

    def __post_init__(self) -> None:
        n, width = self.counts.shape if self.counts.ndim == 2 else (0, 0)
        if n == 0 or width < 2 or self.child.shape != (n, width - 1):
            raise ReleaseError(
                "counts do not fit the strings: give one for every string, symbol and end mark"
            )
        parent, symbol = np.nonzero(self.child >= 0)
        inner = self.child[parent, symbol]
        if not np.array_equal(np.sort(inner), np.arange(1, n)) or (inner <= parent).any():
            raise ReleaseError("the strings do not form a tree: give each once, after its prefix")
        freeze_counts(self.counts, self.child)
        _ = self.depth  # refuses endless strings

    @property
    def size(self) -> int:
        """Symbols of the alphabet; also the number of the end mark."""
        return int(self.counts.shape[1]) - 1

    def __len__(self) -> int:
        return len(self.child)

    @cached_property
    def depth(self) -> int:
        """Symbols of the longest explored string."""
        level = np.zeros(1, dtype=np.int64)
        depth = 0
        while True:
            below = self.child[level]
            level = below[below >= 0]
            if not len(level):
                return depth
            if depth == MAX_DEPTH:
                raise ReleaseError(f"strings of more than {MAX_DEPTH} symbols: the tree is damaged")
            depth += 1

    @cached_property
    def _total(self) -> Float:
        return np.asarray(self.counts.sum(axis=1))

    def _row(self, string: tuple[int, ...]) -> int:
        """The row of a string, −1 where it was not explored."""
        row = 0
        for symbol in string:
            row = int(self.child[row, symbol]) if row >= 0 else -1
        return row

    def _chances(self, text: Int) -> Float:
        """P(next) after each row of equally long texts, (m, |I| + 1): by its longest known end."""
        row = np.zeros(len(text), dtype=np.int64)
        for length in range(1, min(self.depth, text.shape[1]) + 1):
            place = np.zeros(len(text), dtype=np.int64)
            for back in range(length, 0, -1):
                place = np.where(place >= 0, self.child[place, text[:, -back]], -1)
            row = np.where((place >= 0) & (self._total[place] > 0), place, row)
        chances = self.counts[row]
        if self.follows is not None and text.shape[1]:
            end = np.ones((len(text), 1), dtype=np.bool_)
            allowed = np.hstack([self.follows[text[:, -1]], end])
        else:
            allowed = np.ones(chances.shape, dtype=np.bool_)
        chances = np.where(allowed, chances, 0.0)
        chances = np.where(chances.sum(axis=1, keepdims=True) > 0, chances, allowed)
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def following(self, context: Sequence[int] | Int) -> Float:
        """P(symbol or end | context), float64 (|I| + 1,)."""
        return np.asarray(self._chances(checked_symbols(context, self.size)[None])[0])

    def count(self, string: Sequence[int] | Int) -> float:
        """Estimated occurrences of a string; beyond the tree, by the longest known end."""
        codes = checked_symbols(string, self.size)
        if not len(codes):
            raise ParameterError("an empty string has no count: give at least one symbol")
        row, count = 0, 0.0
        for place, symbol in enumerate(codes.tolist()):
            if row >= 0:
                count = float(self.counts[row, symbol])
                row = int(self.child[row, symbol])
            else:
                count *= float(self.following(codes[:place])[symbol])
        return count

    def top(self, k: int, longest: int = MAX_LENGTH) -> list[tuple[tuple[int, ...], float]]:
        """The k most frequent strings of symbols with their counts, the most frequent first."""
        reach = max(self.depth, 1)  # the last symbol decides what may follow
        following = lru_cache(max(1, AT_ONCE // (self.size + 1)))(self.following)

        def longer(string: tuple[int, ...], count: float) -> Float:
            row = self._row(string) if len(string) <= self.depth else -1
            if row >= 0:
                return np.asarray(self.counts[row])
            return np.asarray(count * following(string[-reach:]))

        return best_first(self.counts[0], longer, k, longest)

    def sample(self, n: int, seed: int | None = None, longest: int = MAX_LENGTH) -> list[Int]:
        """Synthetic sequences, drawn symbol by symbol: post-processing.

        A gram tree does not know how sequences begin: the first symbol follows the frequencies of
        all symbols. This is Markov sampling, not the paper's generation from joined grams.
        """
        reach = max(self.depth, 1)  # the last symbol decides what may follow
        return sequence_rows(self._chances, self.size, n, seed, longest, reach)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Frequent strings in the order in which they were chosen, without counts.

    ``strings``: strings of symbols, distinct and not empty.
    """

    size: int
    strings: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        whole = [symbol for string in self.strings for symbol in string]
        if not all(self.strings) or len(set(self.strings)) < len(self.strings):
            raise ReleaseError("a string is empty or repeated: give distinct ones with symbols")
        if whole and not (min(whole) >= 0 and max(whole) < self.size):
            raise ReleaseError(f"a symbol outside the alphabet: give numbers below {self.size}")

    def __len__(self) -> int:
        return len(self.strings)

    def top(self, k: int, longest: int = MAX_LENGTH) -> list[tuple[tuple[int, ...], None]]:
        """The first k strings of at most ``longest`` symbols; their counts were not released."""
        if not 1 <= k <= len(self):
            raise ParameterError(
                f"k={k}: this release ranks {len(self)} strings: give 1 to {len(self)}"
            )
        return [(string, None) for string in self.strings if len(string) <= longest][:k]

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse a query that needs counts, which a ranking does not hold."""
        raise ParameterError(
            "this release ranks strings and holds no counts: build one with another method"
        )

    count = following = sample = _refuse


Model = ContextTree | GramTree | Ranking
"""Model of a release: answers count, top, following and sample, or refuses with a reason."""
