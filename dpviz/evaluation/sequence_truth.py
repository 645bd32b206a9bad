"""Exact answers, to measure errors on public sequences with: the truth behind a release."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from dpviz.errors import ParameterError, PrivacyError
from dpviz.private.events import Events, events_of
from dpviz.private.sequences import SequenceData
from dpviz.trees.lattice import Int


def frequent(events: Events, size: int, k: int) -> Iterator[tuple[tuple[int, ...], int, Int]]:
    """The k most frequent strings by exact counts, best first; ties in order of the strings.

    Yields:
        The string, its count, and what follows each of its occurrences, as ``Events.after``.
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
    """Every extension that occurs, with its starts. Strings differ, so no arrays are compared."""
    order = np.argsort(after, kind="stable")
    bounds = np.searchsorted(after[order], np.arange(size + 1))
    for symbol in np.flatnonzero(np.diff(bounds)).tolist():
        places = start[order[bounds[symbol] : bounds[symbol + 1]]]
        heapq.heappush(queue, (-len(places), (*string, symbol), places))


def exact_top(data: SequenceData, k: int) -> list[tuple[tuple[int, ...], int]]:
    """The k most frequent strings of whole, untruncated sequences, with exact counts.

    Raises:
        PrivacyError: the sequences are not declared public.
        ParameterError: fewer than one string.
    """
    if k < 1:
        raise ParameterError(f"k={k}: give at least 1")
    _public(data)
    whole = events_of(data._sequences, len(data.alphabet), _longest(data) + 1)
    return [(string, count) for string, count, _ in frequent(whole, len(data.alphabet), k)]


def exact_lengths(data: SequenceData, l_top: int | None = None) -> Int:
    """Exact number of symbols of each sequence, int64 (n,), truncated at ``l_top`` if it is given.

    Raises:
        PrivacyError: the sequences are not declared public.
    """
    _public(data)
    length = data._sequences.length
    return length if l_top is None else np.minimum(length, l_top)


def _longest(data: SequenceData) -> int:
    return int(data._sequences.length.max(initial=0))


def _public(data: SequenceData) -> None:
    if not data.public:
        raise PrivacyError("exact answers are NOT PRIVATE: only for data declared public")
