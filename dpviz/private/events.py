"""Events: each symbol of a truncated sequence, with the symbols before it. Private."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.errors import ParameterError
from dpviz.private.sequences import Sequences
from dpviz.trees.lattice import Int


@dataclass(frozen=True, eq=False)
class Events:
    """Truncated sequences as $ x₁ … xₖ (&), and the positions of their events.

    A sequence whose symbols and end mark are at most ``l_top`` keeps both; a longer one keeps its
    first l_top symbols and loses its end: it is open. So each has at most l_top events, the places
    after its $.

    Attributes:
        text: int64, |I| standing for both $ and &.
        place: position of each event in ``text``.
        truncated: number of open sequences.
    """

    text: Int
    place: Int
    truncated: int

    @cached_property
    def _stop(self) -> Int:
        """End of the sequence that each position of ``text`` belongs to, int64."""
        opening = np.ones(len(self.text) + 1, dtype=np.bool_)
        opening[self.place] = False
        starts = np.flatnonzero(opening)
        return np.repeat(starts[1:], np.diff(starts))

    def items(self, size: int) -> Int:
        """Positions of symbols, without the end marks: where a string may start."""
        return self.place[self.text[self.place] < size]

    def after(self, place: Int, length: int) -> Int:
        """The symbol ``length`` places later; |I| for the end mark, −1 beyond it, int64."""
        later = place + length
        inside = later < self._stop[place]
        following = np.full(len(place), -1, dtype=np.int64)
        following[inside] = self.text[later[inside]]
        return following


def events_of(sequences: Sequences, size: int, l_top: int) -> Events:
    """Events of sequences over an alphabet of ``size`` symbols."""
    if l_top < 1:
        raise ParameterError(f"l_top={l_top}: give a public bound of 1 or more")
    length = sequences.length
    closed = length + 1 <= l_top
    truncated = sequences.only(sequences.place < l_top)
    width = 1 + truncated.length + closed
    begin = np.cumsum(width) - width
    text = np.full(int(width.sum()), size, dtype=np.int64)
    text[np.repeat(begin + 1, truncated.length) + truncated.place] = truncated.symbol
    opening = np.zeros(len(text), dtype=np.bool_)
    opening[begin] = True
    return Events(text, np.flatnonzero(~opening), int((~closed).sum()))


def frequent(events: Events, size: int, k: int) -> Iterator[tuple[tuple[int, ...], int, Int]]:
    """The k most frequent strings by exact counts, best first; ties in order of the strings.

    Yields the string, its count, and what follows each of its occurrences, as ``Events.after``.
    """
    items = events.items(size)
    queue: list[tuple[int, tuple[int, ...], Int]] = []
    _push(queue, (), items, events.text[items], size)
    for _ in range(k):
        if not queue:
            return
        count, string, start = heapq.heappop(queue)
        after = events.after(start, len(string))
        yield string, -count, after
        _push(queue, string, start, after, size)


def _push(
    queue: list[tuple[int, tuple[int, ...], Int]],
    string: tuple[int, ...],
    start: Int,
    after: Int,
    size: int,
) -> None:
    """Add every extension that occurs to the heap, with its start positions.

    Heap entries never tie, because strings differ; so no arrays are compared.
    """
    order = np.argsort(after, kind="stable")
    bounds = np.searchsorted(after[order], np.arange(size + 1))
    for symbol in np.flatnonzero(np.diff(bounds)).tolist():
        places = start[order[bounds[symbol] : bounds[symbol + 1]]]
        heapq.heappush(queue, (-len(places), (*string, symbol), places))
