"""Frequent strings by the exponential mechanism: an order, without counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.sequences.base import SequenceMethod, SequenceTask, parameter, register
from dpviz.private.events import Events, events_of
from dpviz.private.mechanisms.noise import exponential
from dpviz.sequences.grams import Ranking
from dpviz.sequences.model import Mask
from dpviz.trees.lattice import Int


@register
@dataclass(frozen=True, kw_only=True)
class TopK(SequenceMethod):
    """Chooses k strings one after the other; each chosen one makes room for its extensions.

    The baseline of J. Zhang, X. Xiao, X. Xie, SIGMOD 2016, §6.2, with the mechanism of F. McSherry
    and K. Talwar, FOCS 2007.

    Privacy: a string occurs at most l_top times in a truncated sequence, and another sequence never
    lowers a count. So choosing with P ∝ exp(w · count), w = ε/(k · l_top), costs at most w · l_top
    = ε/k (no factor 2: the numerator and the sum of all both rise, each by at most e^(w · l_top)),
    and k choices cost ε. What is a candidate depends on earlier choices and the public alphabet
    only; strings longer than l_top stay candidates though their count is 0. Do not use it where
    counts are wanted.

    >>> TopK(k=5).k
    5
    """

    name: ClassVar[str] = "topk_em"
    title: ClassVar[str] = "Top strings by the exponential mechanism"
    paper: ClassVar[str] = (
        "F. McSherry, K. Talwar: Mechanism Design via Differential Privacy. FOCS 2007; as in "
        "J. Zhang, X. Xiao, X. Xie: PrivTree. SIGMOD 2016, §6.2"
    )
    advice: ClassVar[str] = "Many strings: each choice gets ε/k. It releases no counts."
    tiny: ClassVar[dict[str, object]] = {"l_top": 3, "k": 2}

    l_top: int = parameter(
        20, "Public bound on the events of a sequence; longer ones are cut", 1, 10_000
    )
    k: int = parameter(50, "Strings to choose", 1, 1000)
    mask: bool = parameter(True, "Strings with a step that the alphabet forbids are no candidates")

    def build(self, task: SequenceTask) -> Ranking:
        """Build the release as the class docstring describes."""
        share = task.budget.spend(
            task.budget.left,
            "strings",
            mechanism="exponential",
            theorem=f"sequential composition of {self.k} choices",
        )
        size = len(task.alphabet)
        follows = task.alphabet.follows if self.mask else None
        candidates = Candidates(events_of(task.sequences, size, self.l_top), size, follows)
        strings: list[tuple[int, ...]] = []
        while len(strings) < self.k and len(candidates.score):
            # exponential() halves ε for scores that may fall: these never fall.
            best = exponential(
                task.noise, share, candidates.score, sensitivity=self.k * self.l_top / 2
            )
            strings.append(candidates.take(best))
        return Ranking(size, tuple(strings))


class Candidates:
    """Strings that may be chosen next.

    The strings are public after the choices so far; their counts are not.

    ``score``: exact count of each candidate, int64: private.
    """

    def __init__(self, events: Events, size: int, follows: Mask | None) -> None:
        self._events, self._size, self._follows = events, size, follows
        items = events.items(size)
        # Per chosen string: the starts of its occurrences, and what follows. The first is empty.
        self._chosen: list[tuple[tuple[int, ...], Int, Int]] = [((), items, events.text[items])]
        self._owner = np.zeros(size, dtype=np.int64)
        self._symbol = np.arange(size)
        self.score = np.bincount(events.text[items], minlength=size)

    def take(self, row: int) -> tuple[int, ...]:
        """Choose a candidate: its extensions by one symbol take its place."""
        string, start, after = self._chosen[self._owner[row]]
        last = int(self._symbol[row])
        string, start = (*string, last), start[after == last]
        after = self._events.after(start, len(string))
        symbol = np.arange(self._size)
        if self._follows is not None:
            symbol = symbol[self._follows[last]]
        longer = np.bincount(after[after >= 0], minlength=self._size)[symbol]
        owner = np.full(len(symbol), len(self._chosen))
        self._owner = np.append(np.delete(self._owner, row), owner)
        self._symbol = np.append(np.delete(self._symbol, row), symbol)
        self.score = np.append(np.delete(self.score, row), longer)
        self._chosen.append((string, start, after))
        return string
