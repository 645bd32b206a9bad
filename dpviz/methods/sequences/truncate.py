"""NOT PRIVATE: exact counts of the most frequent strings of truncated sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.sequences.base import PRIVTREE, SequenceMethod, SequenceTask, parameter, register
from dpviz.private.events import events_of, frequent
from dpviz.sequences.grams import GramTree


@register
@dataclass(frozen=True, kw_only=True)
class Truncate(SequenceMethod):
    """NOT PRIVATE: what truncation alone does to the answers, for public data only.

    The reference "Truncate" of J. Zhang, X. Xiao, X. Xie, SIGMOD 2016, §6.2. The budget is spent on
    nothing, so that its release has the price of the others beside it. Do not use it for anything
    but public data.

    >>> Truncate().private
    False
    """

    name: ClassVar[str] = "truncate"
    title: ClassVar[str] = "Truncated sequences, exact"
    guarantee: ClassVar[str] = "none"
    paper: ClassVar[str] = f"{PRIVTREE}, §6.2"
    advice: ClassVar[str] = "Anything but public data."
    tiny: ClassVar[dict[str, object]] = {"l_top": 3, "strings": 5}

    l_top: int = parameter(
        20, "Public bound on the events of a sequence; longer ones are cut", 1, 10_000
    )
    strings: int = parameter(200, "Most frequent strings whose extensions are counted", 1, 10_000)

    def build(self, task: SequenceTask) -> GramTree:
        """Build the release as the class docstring describes."""
        size = len(task.alphabet)
        events = events_of(task.sequences, size, self.l_top)
        rows: dict[tuple[int, ...], int] = {(): 0}
        items = events.items(size)
        counts = [np.bincount(events.text[items], minlength=size + 1).astype(np.float64)]
        child = [np.full(size, -1, dtype=np.int64)]
        for string, _, after in frequent(events, size, self.strings):
            longer = np.bincount(after[after >= 0], minlength=size + 1).astype(np.float64)
            child[rows[string[:-1]]][string[-1]] = rows[string] = len(counts)
            counts.append(longer)
            child.append(np.full(size, -1, dtype=np.int64))
        follows = task.alphabet.follows
        return GramTree(np.array(child), np.array(counts), 0.0, follows)
