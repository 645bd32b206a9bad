"""What a map shows of a model: visits, moves from place to place, and the noise in them.

From a release only: all of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpviz.lattice import Float, Int
from dpviz.sequences.model import ContextTree


class Model(Protocol):
    """What every model answers, or says that it cannot."""

    @property
    def size(self) -> int:
        """Symbols of the alphabet."""

    def count(self, string: Sequence[int] | Int) -> float:
        """Estimated occurrences of a string."""

    def top(self, k: int, longest: int = ...) -> Any:
        """The most frequent strings with their counts."""

    def following(self, context: Sequence[int] | Int) -> Float:
        """P(symbol or end | context)."""


@dataclass(frozen=True, eq=False)
class Moves:
    """Strings of two symbols, the most frequent first.

    Attributes:
        source, target: symbols, int64 (n,).
        count: estimated occurrences, float64 (n,).
        sd: standard deviation of the noise in them; None where the model does not tell.
    """

    source: Int
    target: Int
    count: Float
    sd: Float | None

    def __len__(self) -> int:
        return len(self.count)

    def first(self, n: int) -> Moves:
        """The n most frequent of them."""
        sd = None if self.sd is None else self.sd[:n]
        return Moves(self.source[:n], self.target[:n], self.count[:n], sd)


def visits(model: Model) -> Float:
    """Estimated occurrences of every symbol, float64 (|I|,).

    Raises:
        ParameterError: the model holds no counts.
    """
    return np.array([model.count([symbol]) for symbol in range(model.size)])


def visit_sd(model: Model) -> float | None:
    """Standard deviation of the noise in a symbol's count; None where the model does not tell."""
    if not isinstance(model, ContextTree):
        return None
    return float(np.sqrt(model.variance * leaves_below(model)[0]))


def moves(model: Model, most: int = 400) -> Moves:
    """The most frequent strings of two symbols.

    Raises:
        ParameterError: the model holds no counts.
    """
    model.count([0])  # a model without counts says so here
    found = [row for row in model.top(model.size + most, 2) if len(row[0]) == 2][:most]
    pairs = np.array([string for string, _ in found], dtype=np.int64).reshape(-1, 2)
    count = np.array([value for _, value in found], dtype=np.float64)
    return Moves(pairs[:, 0], pairs[:, 1], count, move_sd(model, pairs))


def move_sd(model: Model, pairs: Int) -> Float | None:
    """Standard deviation of the noise in the counts of strings of two symbols, to first order.

    Such a count is the first symbol's count times the chance of the second one after it; the noise
    of the two is taken to be independent.

    Args:
        model: any.
        pairs: int64 (n, 2).
    """
    one = visit_sd(model)
    if one is None:
        return None
    sources, row = np.unique(pairs[:, 0], return_inverse=True)
    chance = np.array([model.following([source]) for source in sources.tolist()])
    spread = np.array([following_sd(model, [source]) for source in sources.tolist()])
    size = np.array([model.count([source]) for source in sources.tolist()])
    if not len(pairs):
        return np.zeros(0)
    at = (row, pairs[:, 1])
    return np.asarray(np.hypot(size[row] * spread[at], chance[at] * one))


def following_sd(model: Model, context: Sequence[int]) -> Float | None:
    """Standard deviation of the noise in ``model.following(context)``, to first order.

    A chance is a count over the sum of its row; every leaf below the context adds its own noise to
    each of them. Before projection, which only brings the counts nearer to the exact ones. Infinite
    where nothing was counted.
    """
    if not isinstance(model, ContextTree):
        return None
    node = model.node(context)
    counts, chance = model.counts[node], model.following(context)
    total = float(counts.sum())
    if total <= 0:
        return np.full(len(chance), np.inf)
    variance = model.variance * leaves_below(model)[node]
    cells = len(counts)
    if model.follows is not None and len(context):
        cells = int(model.follows[context[-1]].sum()) + 1
    within = (1 - chance) ** 2 + chance**2 * (cells - 1)
    return np.asarray(np.sqrt(variance * within) / total)


def leaves_below(model: ContextTree) -> Int:
    """Leaves at or below each context, int64 (n,): a leaf has itself."""
    width = model.size + 1
    leaves = np.where(model.first_child < 0, 1, 0).astype(np.int64)
    for node in np.flatnonzero(model.first_child >= 0)[::-1].tolist():  # children first
        child = int(model.first_child[node])
        leaves[node] = leaves[child : child + width].sum()
    return leaves
