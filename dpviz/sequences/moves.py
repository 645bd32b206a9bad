"""Visits, moves, frequent paths and contexts of a model, with their noise, for a map.

All of it is post-processing of a release. Noise is known for context trees, whose leaves
all have the same; it is stated to first order and before projection, which only brings counts
nearer to the exact ones. For gram trees it is known for single symbols, for rankings not at all:
unknown noise is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.errors import ParameterError
from dpviz.sequences.grams import Model, Ranking
from dpviz.sequences.model import ContextTree
from dpviz.trees.lattice import Float, Int

String = tuple[int, ...]

MAX_SEARCHED = 6400
"""Most strings that are searched for those of a wanted length."""


@dataclass(frozen=True, eq=False)
class Strings:
    """Strings of symbols, the most frequent first.

    Attributes:
        symbols: symbols of each string.
        count: estimated occurrences, float64 (n,); None where only the order was released.
        sd: standard deviation of the noise in them; None where the model does not tell.
    """

    symbols: tuple[String, ...]
    count: Float | None
    sd: Float | None

    def __len__(self) -> int:
        return len(self.symbols)

    def at(self, rows: Int | slice) -> Strings:
        """The strings in some rows, in the same order."""
        symbols = tuple(self.symbols[row] for row in np.arange(len(self))[rows].tolist())
        count, sd = (None if each is None else each[rows] for each in (self.count, self.sd))
        return Strings(symbols, count, sd)

    def first(self, n: int) -> Strings:
        """The n most frequent strings."""
        return self.at(slice(n))


def visits(model: Model) -> Float:
    """Estimated occurrences of every symbol, float64 (|I|,)."""
    return np.array([model.count([symbol]) for symbol in range(model.size)])


def visit_sd(model: Model) -> Float | None:
    """Standard deviations of the noise in the counts of :func:`visits`, float64 (|I|,)."""
    if isinstance(model, Ranking):
        return None
    if isinstance(model, ContextTree):
        return np.asarray(np.sqrt(model.root_variances[:-1]))
    return np.full(model.size, math.sqrt(model.variance))


def frequent(
    model: Model, k: int, shortest: int = 1, longest: int = 200, *, returns: bool = True
) -> Strings:
    """At most k most frequent strings of ``shortest`` to ``longest`` symbols.

    ``returns``: True if a string may contain a symbol twice.
    """
    if k < 1:
        raise ParameterError(f"k={k}: give at least 1")
    asked = 2 * k + model.size
    while True:
        strings = _top(model, asked, longest)
        rows = [
            (string, count)
            for string, count in strings
            if len(string) >= shortest and (returns or len(set(string)) == len(string))
        ][:k]
        if len(rows) == k or len(strings) < asked or asked >= MAX_SEARCHED:
            break
        asked *= 4
    symbols = tuple(string for string, _ in rows)
    known = [count for _, count in rows if count is not None]
    if len(known) < len(rows):
        return Strings(symbols, None, None)
    sd = [string_sd(model, string) for string in symbols]
    spread = [each for each in sd if each is not None]
    return Strings(symbols, np.array(known), np.array(spread) if len(spread) == len(sd) else None)


def _top(model: Model, k: int, longest: int) -> list[tuple[String, float | None]]:
    """Up to k strings; a ranking refuses to be asked for more than it has."""
    if isinstance(model, Ranking):
        k = min(k, len(model))
    return [(string, count) for string, count in model.top(k, longest)] if k else []


def string_sd(model: Model, string: Sequence[int]) -> float | None:
    """Standard deviation of the noise in ``model.count(string)``.

    The count is that of the first symbol times the chance of every further one after those before
    it; their noise is taken to be independent.
    """
    visits_sd = visit_sd(model)
    if visits_sd is None:
        return None
    sd = float(visits_sd[string[0]])
    if not isinstance(model, ContextTree):
        return sd if len(string) == 1 else None
    count = model.count(string[:1])
    for place in range(1, len(string)):
        chance = float(model.following(string[:place])[string[place]])
        spread = _row_sd(model, model.node(string[:place]), string[place - 1])
        count, sd = count * chance, math.hypot(sd * chance, count * float(spread[string[place]]))
    return sd


def following_sd(model: Model, context: Sequence[int]) -> Float | None:
    """Noise sd of ``model.following(context)``, float64 (|I| + 1,); infinite if not counted."""
    if not isinstance(model, ContextTree):
        return None
    return _row_sd(model, model.node(context), context[-1] if len(context) else None)


def _row_sd(model: ContextTree, node: int, newest: int | None) -> Float:
    """A chance is a count over the sum of its row; every leaf below adds its noise to each."""
    chance, total = model.chances[node], float(model.counts[node].sum())
    if total <= 0:
        return np.full(len(chance), np.inf)
    within = (1 - chance) ** 2 + chance**2 * (_cells(model, newest) - 1)
    return np.asarray(np.sqrt(model.variance * model.leaves[node] * within) / total)


def _cells(model: ContextTree, newest: int | None) -> int:
    """Number of noisy counts of a context: its allowed successors, the end included."""
    if model.follows is None or newest is None:
        return model.size + 1
    return int(model.follows[newest].sum()) + 1


@dataclass(frozen=True, eq=False)
class Context:
    """A context of the tree, and the probabilities of the next symbol.

    Attributes:
        symbols: the oldest first; |I| stands for the start.
        seen: estimated occurrences that anything follows, the end included.
        seen_sd: standard deviation of the noise in these counts.
        chance: P(next), float64 (|I| + 1,).
        sd: standard deviation of the noise in it.
    """

    symbols: String
    seen: float
    seen_sd: float
    chance: Float
    sd: Float


def contexts(model: Model, symbol: int, most: int = 60) -> list[Context]:
    """The part of a context tree in which ``symbol`` came last; contexts before longer ones.

    The most frequent ones are listed; none where the model has no context tree.
    """
    if not isinstance(model, ContextTree) or model.first_child[0] < 0:
        return []
    total = model.counts.sum(axis=1)
    node = int(model.first_child[0]) + symbol
    strings: list[tuple[String, int]] = []
    open_ones: list[tuple[String, int]] = [((symbol,), node)]
    while open_ones:  # depth first, the most frequent child first
        string, node = open_ones.pop()
        strings.append((string, node))
        child = int(model.first_child[node])
        if child >= 0:
            order = np.argsort(total[child : child + model.size + 1], kind="stable").tolist()
            open_ones += [((each, *string), child + each) for each in order]
    heaviest = set(sorted(range(len(strings)), key=lambda row: -total[strings[row][1]])[:most])
    return [
        _context(model, *strings[row], float(total[strings[row][1]])) for row in sorted(heaviest)
    ]


def _context(model: ContextTree, string: String, node: int, seen: float) -> Context:
    seen_sd = math.sqrt(model.variance * float(model.leaves[node]) * _cells(model, string[-1]))
    chance = np.asarray(model.chances[node])
    return Context(string, seen, seen_sd, chance, _row_sd(model, node, string[-1]))
