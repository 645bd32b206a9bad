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
from dpviz.trees.lattice import Int


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


def sequences_digest(data: SequenceData) -> str:
    """A digest of public sequences as builds and measures see them, independent of their order.

    Two data sets with the same one, over one alphabet, have the same exact answers.
    """
    data.require_public()
    cells = data.facts.get("cells", {})
    box = [cells.get("domain", {}).get(each) for each in ("lower", "upper")]
    facts = [data.alphabet.names, box, cells.get("side"), cells.get("boxes")]
    rules = [] if data.alphabet.follows is None else [np.packbits(data.alphabet.follows)]
    ends = itertools.pairwise(data._sequences.start.tolist())
    pieces = sorted(data._sequences.symbol[start:stop].tobytes() for start, stop in ends)
    lengths = np.array([len(each) for each in pieces], dtype=np.int64)
    return digest(facts, [*rules, lengths, np.frombuffer(b"".join(pieces), dtype=np.uint8)])
