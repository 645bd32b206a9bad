"""ContextTree: counts of the next symbol after each context, and queries on them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ParameterError, ReleaseError
from dpviz.trees.lattice import Float, Int

MAX_LENGTH = 200
"""Symbols of the longest string that is listed or drawn: a public cap."""

MAX_DEPTH = 255
"""Levels of the deepest tree: a public cap, above what any method grows."""

MAX_CELLS = 50_000_000
"""Public cap on the counts of a tree; reaching it fails a build, it never truncates."""

AT_ONCE = 1_000_000
"""Most probabilities in memory while sequences are drawn."""

MAX_SEQUENCES = 10_000_000
"""Most sequences that are drawn at once, as all are in memory."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ContextTree:
    """A prediction suffix tree: contexts grown to the left, each with counts of what follows.

    Nodes stand breadth-first. The children of a node are contexts longer by one symbol in front: in
    order, every symbol of the alphabet, then the start mark $.

    Attributes:
        first_child: first child of each node, −1 for a leaf, int64 (n,). The |I| + 1 children of a
            node are contiguous.
        counts: counts of what follows: every symbol, then the end mark &; float64 (n, |I| + 1),
            non-negative.
        variance: variance of the noise in one count of a leaf.
        follows: bool (|I|, |I|), the alphabet's rule where the model keeps it, else None.
        root_variance: variance of the noise in the root's counts, where they were measured in
            addition to the leaves; None where they are sums of leaves only.
    """

    first_child: Int
    counts: Float
    variance: float
    follows: Mask | None = None
    root_variance: float | None = None

    def __post_init__(self) -> None:
        n, width = self.counts.shape if self.counts.ndim == 2 else (0, 0)
        child = self.first_child
        inner = child[child >= 0] if child.shape == (n,) else child[:0]
        if n == 0 or child.shape != (n,) or width < 2:
            raise ReleaseError(
                "counts do not fit the contexts: give one for every node, symbol and end mark"
            )
        wanted = 1 + width * np.arange(len(inner))
        if not np.array_equal(inner, wanted) or n != 1 + width * len(inner):
            raise ReleaseError("contexts are not in breadth-first order: sort them by level")
        if (inner <= np.flatnonzero(child >= 0)).any():
            raise ReleaseError("contexts are not in breadth-first order: sort them by level")
        if self.root_variance is not None and not 0 <= self.root_variance < math.inf:
            raise ReleaseError("root_variance: give a finite number from 0")
        freeze_counts(self.counts, self.first_child)
        _ = self.depth  # refuses endless contexts

    @property
    def size(self) -> int:
        """Symbols of the alphabet; also the number of both marks."""
        return int(self.counts.shape[1]) - 1

    def __len__(self) -> int:
        return len(self.first_child)

    @cached_property
    def chances(self) -> Float:
        """P(next | context); where nothing follows a context, its parent's; at such a root even."""
        total = self.counts.sum(axis=1)
        known = total > 0
        allowed = allowed_after(self.follows, self.first_child, self.size)
        even = np.ones(self.counts.shape) if allowed is None else allowed.astype(np.float64)
        chances = even / np.maximum(even.sum(axis=1, keepdims=True), 1.0)
        chances[known] = self.counts[known] / total[known, None]
        parent = np.repeat(np.flatnonzero(self.first_child >= 0), self.counts.shape[1])
        for node in (np.flatnonzero(~known[1:]) + 1).tolist():  # parents come before children
            above = chances[parent[node - 1]] * (even[node] > 0)
            if above.sum() > 0:
                chances[node] = above / above.sum()
        return np.asarray(chances)

    @cached_property
    def leaves(self) -> Int:
        """Leaves at or below each context, int64 (n,): their noise adds up in its counts."""
        return leaves_below(self.first_child, self.size + 1)

    @cached_property
    def root_leaves(self) -> Int:
        """Leaves whose noise is in each of the root's counts, int64 (|I| + 1,).

        Where the alphabet has a rule, those of the contexts that the symbol may follow.
        """
        child = int(self.first_child[0])
        allowed = allowed_after(self.follows, self.first_child, self.size)
        if child < 0 or allowed is None:
            return np.full(self.size + 1, self.leaves[0])
        below = slice(child, child + self.size + 1)
        return np.asarray((allowed[below] * self.leaves[below, None]).sum(axis=0))

    @cached_property
    def root_variances(self) -> Float:
        """Variance of the noise in each of the root's counts, float64 (|I| + 1,)."""
        of_sum = self.variance * self.root_leaves
        if self.root_variance is None:
            return np.asarray(of_sum)
        whole = of_sum + self.root_variance
        return np.asarray(of_sum * self.root_variance / np.where(whole > 0, whole, 1.0))

    @cached_property
    def depth(self) -> int:
        """Symbols of the longest context, the start mark among them."""
        level, depth = np.zeros(1, dtype=np.int64), 0
        while True:
            child = self.first_child[level]
            inner = child[child >= 0]
            if not len(inner):
                return depth
            if depth == MAX_DEPTH:
                raise ReleaseError(
                    f"contexts of more than {MAX_DEPTH} symbols: the tree is damaged"
                )
            level = (inner[:, None] + np.arange(self.size + 1)).ravel()
            depth += 1

    def node(self, context: Sequence[int] | Int) -> int:
        """The longest known context that ends like this one (numbers, the oldest first)."""
        node = 0
        for symbol in list(context)[::-1]:
            child = int(self.first_child[node])
            if child < 0:
                break
            node = child + int(symbol)
        return node

    def following(self, context: Sequence[int] | Int) -> Float:
        """P(symbol or end | context), float64 (|I| + 1,)."""
        return np.asarray(self.chances[self.node(checked_symbols(context, self.size))])

    def count(self, string: Sequence[int] | Int) -> float:
        """Estimated occurrences of a string of symbols in all sequences."""
        codes = checked_symbols(string, self.size)
        if not len(codes):
            raise ParameterError("an empty string has no count: give at least one symbol")
        count = float(self.counts[0, codes[0]])
        for place in range(1, len(codes)):
            count *= float(self.chances[self.node(codes[:place]), codes[place]])
        return count

    def top(self, k: int, longest: int = MAX_LENGTH) -> list[tuple[tuple[int, ...], float]]:
        """The k most frequent strings of symbols with their counts, the most frequent first."""

        def longer(string: tuple[int, ...], count: float) -> Float:
            return np.asarray(count * self.chances[self.node(string)])

        return best_first(self.counts[0], longer, k, longest)

    def sample(self, n: int, seed: int | None = None, longest: int = MAX_LENGTH) -> list[Int]:
        """Synthetic sequences, drawn symbol by symbol until their end: post-processing."""

        def chances(past: Int) -> Float:
            if past.shape[1] < self.depth:  # a short past is known completely: it begins with $
                begin = np.full((len(past), 1), self.size, dtype=np.int64)
                past = np.hstack([begin, past])
            return np.asarray(self.chances[self._nodes(past)])

        return sequence_rows(chances, self.size, n, seed, longest, self.depth)

    def _nodes(self, text: Int) -> Int:
        """The node of each row's whole past, the newest symbol last."""
        node = np.zeros(len(text), dtype=np.int64)
        for back in range(1, text.shape[1] + 1):
            child = self.first_child[node]
            deeper = child >= 0
            if not deeper.any():
                break
            node = np.where(deeper, child + text[:, -back], node)
        return node


def leaves_below(first_child: Int, width: int) -> Int:
    """Leaves at or below each context, int64 (n,), from ``first_child`` and its block's width."""
    leaves = np.where(first_child < 0, 1, 0).astype(np.int64)
    for node in np.flatnonzero(first_child >= 0)[::-1].tolist():  # children first
        child = int(first_child[node])
        leaves[node] = leaves[child : child + width].sum()
    return leaves


def best_first(
    counts: Float, longer: Callable[[tuple[int, ...], float], Float], k: int, longest: int
) -> list[tuple[tuple[int, ...], float]]:
    """The k most frequent strings and their counts; none is more frequent than its prefix.

    Extensions wait in a queue that keeps only as many as are still wanted: later ones cannot be in
    the result.

    Args:
        counts: counts of the single symbols, then of the end mark, float64 (|I| + 1,).
        longer: function from a string and its count to the counts of its extensions.
    """
    if k < 1:
        raise ParameterError(f"k={k}: give at least 1")
    strings: list[tuple[tuple[int, ...], float]] = []
    first = np.flatnonzero(counts[:-1] > 0).tolist()
    queue: list[tuple[float, tuple[int, ...]]] = [(-float(counts[s]), (s,)) for s in first]
    heapq.heapify(queue)
    least = 0.0  # strings with lower counts cannot be in the result
    while queue and len(strings) < k:
        negative, string = heapq.heappop(queue)
        strings.append((string, -negative))
        if len(string) < longest:
            after = longer(string, -negative)[:-1]
            for symbol in np.flatnonzero((after > 0) & (after >= least)).tolist():
                heapq.heappush(queue, (-float(after[symbol]), (*string, symbol)))
        left = k - len(strings)
        if len(queue) > 2 * left > 0:
            queue = heapq.nsmallest(left, queue)
            least = -queue[-1][0]
    return strings


def freeze_counts(counts: Float, *links: Int) -> None:
    """Freeze the columns of a model; refuse counts that are negative or not finite."""
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ReleaseError("counts: give finite numbers from 0")
    for column in (counts, *links):
        column.flags.writeable = False


def checked_symbols(symbols: Sequence[int] | Int, size: int) -> Int:
    """Numbers of symbols as an array."""
    codes = np.asarray(symbols, dtype=np.int64)
    if len(codes) and (codes.min() < 0 or codes.max() >= size):
        raise ParameterError(f"a symbol outside the alphabet: give numbers below {size}")
    return codes


def sequence_rows(
    chances: Callable[[Int], Float], size: int, n: int, seed: int | None, longest: int, reach: int
) -> list[Int]:
    """Draw n sequences symbol by symbol, all together, until the end or the public cap.

    Args:
        chances: P(next), float64 (m, |I| + 1), after the last symbols of m texts, int64 (m, ≤
            ``reach``).
        size: symbols of the alphabet, and the number of the end mark.
        reach: symbols that what comes next may depend on.
    """
    if not 0 <= n <= MAX_SEQUENCES:
        raise ParameterError(f"{n:,} sequences: give a number from 0 to {MAX_SEQUENCES:,}")
    random = np.random.default_rng(seed)
    past = np.zeros((n, 0), dtype=np.int64)
    running = np.arange(n)  # sequences that have not ended yet
    owners, symbols = [running[:0]], [running[:0]]
    rows = max(1, AT_ONCE // (size + 1))
    for _ in range(longest):
        symbol, uniform = np.empty(len(running), dtype=np.int64), random.random(len(running))
        for at in range(0, len(running), rows):
            part = slice(at, at + rows)
            cumulated = np.cumsum(chances(past[part]), axis=1)
            drawn = uniform[part] * cumulated[:, -1]
            symbol[part] = np.minimum((cumulated < drawn[:, None]).sum(axis=1), size)
        continues = symbol < size
        running, symbol = running[continues], symbol[continues]
        if not len(running):
            break
        owners.append(running)
        symbols.append(symbol)
        past = (
            np.hstack([past[continues], symbol[:, None]])[:, -reach:] if reach else past[continues]
        )
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    bounds = np.cumsum(np.bincount(owner, minlength=n))
    return np.split(np.concatenate(symbols)[order], bounds[:-1]) if n else []


def allowed_after(follows: Mask | None, first_child: Int, size: int) -> Mask | None:
    """Mask of symbols that may follow each context, bool (n, |I| + 1); None without a rule.

    It depends on the newest symbol. The end may follow any symbol, but not the start: no sequence
    is empty.
    """
    if follows is None:
        return None
    inner = np.flatnonzero(first_child >= 0)
    newest = np.zeros(len(first_child), dtype=np.int64)
    for node in inner.tolist():  # parents come before children
        child = first_child[node]
        newest[child : child + size + 1] = newest[node] if node else np.arange(size + 1)
    rules = np.ones((size + 1, size + 1), dtype=np.bool_)
    rules[:size, :size] = follows
    rules[size, size] = False
    allowed = rules[newest]
    allowed[0] = True
    return allowed


def projected(counts: Float, allowed: Mask | None = None) -> Float:
    """The closest non-negative rows with the same sums (0 where a sum is negative).

    Minimises the squared distance row by row: x = max(0, y − t), with t such that the sum fits.

    Args:
        counts: noisy, float64 (n, k).
        allowed: cells that may be positive, bool (n, k); the others are set to zero and do not
            count towards the sum.

    >>> projected(np.array([[5.0, -1.0, 2.0]])).tolist()
    [[4.5, 0.0, 1.5]]
    """
    low = np.where(allowed, counts, -np.inf) if allowed is not None else counts
    finite = np.where(np.isfinite(low), low, 0.0)
    total = np.maximum(finite.sum(axis=1), 0.0)
    order = -np.sort(-low, axis=1)
    cumulated = np.cumsum(np.where(np.isfinite(order), order, 0.0), axis=1)
    number = np.arange(1, counts.shape[1] + 1)
    shift = (cumulated - total[:, None]) / number
    last = np.maximum((np.isfinite(order) & (order > shift)).sum(axis=1), 1) - 1
    level = np.take_along_axis(shift, last[:, None], axis=1)
    return np.where(total[:, None] > 0, np.maximum(low - level, 0.0), 0.0)
