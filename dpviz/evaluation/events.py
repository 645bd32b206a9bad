"""Events on the features of releases, and a bound on ε with confidence.

The event is chosen on some trials and its probabilities are bounded on others, so that the search,
however long, costs no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.lazy import scipy
from dpviz.trees.lattice import Float

QUANTILES = 14
"""Thresholds tried for each feature."""

CAUTION_SE = 3.0
"""Standard errors subtracted from the score of an event, so that luck does not choose it."""


@dataclass(frozen=True)
class Event:
    """Features on one side of a value each: (feature, is it at least, value), all of them true."""

    conditions: tuple[tuple[int, bool, float], ...]

    def holds(self, table: Float) -> NDArray[np.bool_]:
        """Trials in which it happens; ``table`` has a row per trial and a column per feature."""
        holding = np.ones(len(table), dtype=np.bool_)
        for column, above, value in self.conditions:
            holding &= (table[:, column] >= value) if above else (table[:, column] <= value)
        return holding

    def described(self, names: Sequence[str]) -> str:
        """Describe it in words."""
        return " and ".join(
            f"{names[column]} {'≥' if above else '≤'} {value:g}"
            for column, above, value in self.conditions
        )


def best_event(more: Float, fewer: Float, delta: float) -> tuple[float, Event]:
    """The event that best tells where ``more`` comes from: one threshold, or two at a time.

    Returns the score (a cautious log ratio of the probabilities) and the event.

    Args:
        more: features of trials on the data set under which the event is to be likelier, (n, f).
        fewer: features of trials on the other, (n, f).
    """
    bounds: list[tuple[int, bool, float]] = []
    for column in range(more.shape[1]):
        pooled = np.concatenate([more[:, column], fewer[:, column]])
        cuts = np.unique(np.quantile(pooled, np.linspace(0, 1, QUANTILES), method="nearest"))
        bounds += [(column, above, float(cut)) for cut in cuts for above in (True, False)]
    often = np.stack([Event((part,)).holds(more) for part in bounds]).astype(np.float32)
    rarely = np.stack([Event((part,)).holds(fewer) for part in bounds]).astype(np.float32)
    # Counts of every pair of thresholds at once; the diagonal holds the single thresholds.
    score = _score(often @ often.T, rarely @ rarely.T, len(more), delta)
    first, second = np.unravel_index(int(np.argmax(score)), score.shape)
    chosen = dict.fromkeys((bounds[int(first)], bounds[int(second)]))
    return float(score[first, second]), Event(tuple(chosen))


def _score(often: NDArray[np.float32], rarely: NDArray[np.float32], n: int, delta: float) -> Float:
    low = often - CAUTION_SE * np.sqrt(often * (1 - often / n)) - delta * n
    high = rarely + CAUTION_SE * np.sqrt(rarely * (1 - rarely / n)) + CAUTION_SE**2 / 2 + 1
    return np.asarray(np.log(np.maximum(low, 0.5) / np.minimum(high, n)), dtype=np.float64)


def clopper_pearson(hits: int, n: int, alpha: float) -> tuple[float, float]:
    """Lower and upper limits of a probability, each wrong with probability at most ``alpha``.

    C. Clopper and E. Pearson, Biometrika 1934.

    >>> [round(limit, 4) for limit in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0295]
    """
    low = float(scipy.special.betaincinv(hits, n - hits + 1, alpha)) if hits > 0 else 0.0
    high = float(scipy.special.betaincinv(hits + 1, n - hits, 1 - alpha)) if hits < n else 1.0
    return low, high


def epsilon_bound(more: int, fewer: int, n: int, alpha: float, delta: float = 0.0) -> float:
    """A lower bound on ε from an event's counts among n trials each.

    It is wrong with probability ``alpha`` at most. P ≤ e^ε·P' + δ for the true ε, so
    ε ≥ ln((P − δ)/P'); half of ``alpha`` for each limit.
    """
    low, _ = clopper_pearson(more, n, alpha / 2)
    _, high = clopper_pearson(fewer, n, alpha / 2)
    return math.log((low - delta) / high) if low - delta > high else 0.0
