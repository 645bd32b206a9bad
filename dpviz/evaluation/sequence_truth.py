"""Exact answers, to measure errors on public sequences with: the truth behind a release.

Every function raises PrivacyError where the sequences are not declared public.
"""

from __future__ import annotations

from dpviz.errors import ParameterError
from dpviz.private.events import events_of, frequent
from dpviz.private.sequences import SequenceData
from dpviz.trees.lattice import Int


def exact_top(data: SequenceData, k: int) -> list[tuple[tuple[int, ...], int]]:
    """The k most frequent strings of whole, untruncated sequences, with exact counts."""
    if k < 1:
        raise ParameterError(f"k={k}: give at least 1")
    data.require_public()
    longest = int(data._sequences.length.max(initial=0))
    whole = events_of(data._sequences, len(data.alphabet), longest + 1)
    return [(string, count) for string, count, _ in frequent(whole, len(data.alphabet), k)]


def exact_lengths(data: SequenceData) -> Int:
    """Exact number of symbols of each sequence, int64 (n,)."""
    data.require_public()
    return data._sequences.length
