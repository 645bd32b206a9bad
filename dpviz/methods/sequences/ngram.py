"""Variable-length n-grams: a private tree of strings, grown where counts stand above noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.sequences.base import SequenceMethod, SequenceTask, parameter, register
from dpviz.private.budget import Share
from dpviz.private.events import Events, events_of
from dpviz.private.mechanisms.noise import Noise, geometric_by_rate, geometric_variance
from dpviz.sequences.exploration import Exploration
from dpviz.sequences.grams import GramTree
from dpviz.sequences.model import MAX_CELLS
from dpviz.trees.lattice import Float, Int

THEOREM = "sequential composition along every path of grams"

ROUND_DOWN = 1.0 - 2.0**-40
"""Shares of a path are rounded down by this, so that their floating-point sum stays below ε."""


@register
@dataclass(frozen=True, kw_only=True)
class NGram(SequenceMethod):
    """Counts of strings of up to n_max symbols, explored where the noisy count allows.

    R. Chen, G. Acs, C. Castelluccia, CCS 2012. A string whose noisy count exceeds its threshold
    θ = l_top · ln(|I|/2) / ε_v is extended by every symbol and the end; how much of the path's
    budget the extensions get follows from how many more levels its Markov parent lets expect.

    Privacy: a sequence has at most l_top symbols, and from each of them its text follows one path
    of the tree, moving one count of each explored string on it by one. With noise of scale
    l_top/ε_v at string v the loss is at most Σ_positions Σ_path ε_v/l_top ≤ ε, where each ε_v is a
    function of what was released before, and the ε_v of a path never sum to more than ε. The end
    mark is no start position because its own count is not released; with it the factor would be
    l_top + 1. The paper's number of levels h is not rounded and may lie below 1, which overspends
    the path: here h = max(1, ⌈h⌉). Consistency and the rest see noisy numbers only. At a public cap
    on the counts no further string is explored: which ones are is a function of noisy counts, with
    the cap as without. Do not use it for lengths of sequences.

    >>> NGram(l_top=20).threshold(1.0, 17) == 20 * math.log(17 / 2)
    True
    """

    name: ClassVar[str] = "ngram"
    title: ClassVar[str] = "Variable-length n-grams"
    paper: ClassVar[str] = (
        "R. Chen, G. Acs, C. Castelluccia: Differentially Private Sequential Data Publication via "
        "Variable-Length N-Grams. CCS 2012"
    )
    advice: ClassVar[str] = "Lengths of sequences: it does not know how sequences begin."
    tiny: ClassVar[dict[str, object]] = {"l_top": 3, "n_max": 2}

    l_top: int = parameter(
        20, "Public bound on the events of a sequence; longer ones are cut", 1, 10_000
    )
    n_max: int = parameter(5, "Symbols of the longest string that is counted", 1, 20)
    mask: bool = parameter(True, "Steps that the alphabet forbids get no count, and no noise")

    def build(self, task: SequenceTask) -> GramTree:
        """Build the release as the class docstring describes."""
        share = task.budget.spend(
            task.budget.left, "strings", mechanism="geometric", theorem=THEOREM
        )
        size = len(task.alphabet)
        starts = Starts(events_of(task.sequences, size, self.l_top), size)
        follows = task.alphabet.follows if self.mask else None
        rate = share.epsilon / self.n_max * ROUND_DOWN
        tree = Exploration(size, follows, rate, last=self.n_max == 1)
        for depth in range(self.n_max):
            floor = self._release(tree, starts.counts(len(tree.level)), share, task.noise)
            high = tree.level.noisy > floor[:, None]
            parent, symbol = np.nonzero(high[:, :size] & ~tree.level.last[:, None])
            room = max(MAX_CELLS // (size + 1) - len(tree.child), 0)
            parent, symbol = parent[:room], symbol[:room]
            if not len(parent):
                break
            starts.follow(len(tree.level), parent, symbol)
            self._explore(tree, parent, symbol, floor, share.epsilon, self.n_max - depth - 1)
        return tree.result(float(geometric_variance(self.l_top / rate)))

    def _release(self, tree: Exploration, exact: Int, share: Share, noise: Noise) -> Float:
        """Noisy counts of every possible extension of the present level; returns their θ (n,)."""
        level = tree.level
        rates = np.broadcast_to(level.rate[:, None] / self.l_top, exact.shape)
        noisy = np.zeros(exact.shape, dtype=np.int64)
        at = level.possible
        noisy[at] = geometric_by_rate(noise, share, exact[at], rates[at])
        floor = np.array([self.threshold(rate, tree.size) for rate in level.rate.tolist()])
        whole = level.last | (len(tree.levels) == 1)  # single symbols are always released
        tree.observe(noisy, at & ((noisy > floor[:, None]) | whole[:, None]))
        return floor

    def _explore(
        self,
        tree: Exploration,
        parent: Int,
        symbol: Int,
        floor: Float,
        epsilon: float,
        most: int,
    ) -> None:
        """Add strings above their threshold, and what the counts of their extensions may cost."""
        level = tree.level
        suffix = tree.markov_parents(parent, symbol)
        ratio = floor[parent] / level.noisy[parent, symbol]
        levels = self.levels_left(most, ratio, tree.mode[suffix])
        rate = (epsilon - level.spent[parent]) / levels * ROUND_DOWN
        tree.extend(parent, symbol, suffix, rate, level.spent[parent] + rate, levels == 1)

    def threshold(self, epsilon: float, size: int) -> float:
        """θ: noise of scale l_top/ε exceeds it with probability 1/|I|."""
        return self.l_top * math.log(max(size, 3) / 2) / epsilon

    def levels_left(self, most: int, ratio: Float, mode: Float) -> Int:
        """h: levels that a string's extensions may still go down, 1 to ``most``; int64 (n,).

        Where each level keeps the share p = ``mode`` (of the Markov parent's likeliest extension)
        of the count c, c·p^h falls to θ at h = log_p(θ/c), ``ratio`` = θ/c below 1.
        """
        endless = ~((mode > 0) & (mode < 1))
        steps = np.log(ratio) / np.log(np.where(endless, 0.5, mode))
        return np.where(endless, most, np.clip(np.ceil(steps), 1, most)).astype(np.int64)


class Starts:
    """Places where strings start, each with its explored string of present length. Private."""

    def __init__(self, events: Events, size: int) -> None:
        self._events, self._width, self._length = events, size + 1, 0
        self._place = events.items(size)
        self._row = np.zeros(len(self._place), dtype=np.int64)
        self._extension = self._row  # row and next symbol as one number

    def counts(self, n: int) -> Int:
        """Exact count of each extension of each of the n present strings, int64 (n, |I| + 1)."""
        after = self._events.after(self._place, self._length)
        has_next = after >= 0
        self._place = self._place[has_next]
        self._extension = self._row[has_next] * self._width + after[has_next]
        return np.bincount(self._extension, minlength=n * self._width).reshape(n, self._width)

    def follow(self, n: int, parent: Int, symbol: Int) -> None:
        """Go on with the places where one of the n present strings has a chosen extension."""
        row = np.full(n * self._width, -1, dtype=np.int64)
        row[parent * self._width + symbol] = np.arange(len(parent))
        row = row[self._extension]
        self._place, self._row = self._place[row >= 0], row[row >= 0]
        self._length += 1
