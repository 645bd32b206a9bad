"""Exact answers, to measure errors on public sequences with: the truth behind a release.

Every function raises PrivacyError where the sequences are not declared public.
"""

from __future__ import annotations

import itertools

import numpy as np

from dpviz.errors import ParameterError
from dpviz.evaluation.truth import digest
from dpviz.private.events import events_of, frequent
from dpviz.private.sequences import SequenceData
from dpviz.trees.lattice import Float, Int


def exact_top(data: SequenceData, k: int) -> list[tuple[tuple[int, ...], int]]:
    """The k most frequent strings of whole, untruncated sequences, with exact counts.

    Raises:
        ParameterError: fewer than one string.
    """
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


def exact_sequences(data: SequenceData, l_top: int) -> tuple[Int, Int]:
    """Starts of the sequences, int64 (n + 1,), and their symbols, each cut at ``l_top``."""
    data.require_public()
    start, symbol = data._sequences.start, data._sequences.symbol
    within = np.arange(len(symbol)) - np.repeat(start[:-1], data._sequences.length)
    lengths = np.minimum(data._sequences.length, l_top)
    return np.concatenate([[0], np.cumsum(lengths)]), symbol[within < l_top]


def exact_lines(data: SequenceData) -> tuple[Int, Float] | None:
    """Starts of the sequences' lines, and their places; None where symbols are no places."""
    data.require_public()
    return data._lines


def sequences_digest(data: SequenceData) -> str:
    """A digest of public sequences as builds and measures see them, independent of their order.

    Two data sets with the same one, over one alphabet, have the same exact answers.
    """
    data.require_public()
    cells = data.facts.get("cells", {})
    box = [cells.get("domain", {}).get(each) for each in ("lower", "upper")]
    facts = [data.alphabet.names, box, cells.get("side"), None]
    rules = [] if data.alphabet.follows is None else [np.packbits(data.alphabet.follows)]
    sequences, lines = data._sequences, data._lines
    pieces = []
    for start, items in [(sequences.start, sequences.symbol), *([] if lines is None else [lines])]:
        pieces += sorted(items[a:b].tobytes() for a, b in itertools.pairwise(start.tolist()))
        pieces.append(b"")  # lengths tell where pieces end, and where the lines begin
    lengths = np.array([len(each) for each in pieces], dtype=np.int64)
    return digest(facts, [*rules, lengths, np.frombuffer(b"".join(pieces), dtype=np.uint8)])
