"""Small sequences over three symbols, and brute force over them."""

from collections import Counter

from hypothesis import strategies as st

from dpviz.private.sequences import SequenceData, Sequences
from dpviz.sequences.alphabet import Alphabet

ABC = Alphabet(("a", "b", "c"))
ROWS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=7), min_size=0, max_size=12)


def public(rows, alphabet=ABC):
    return SequenceData("test", alphabet, Sequences.of(rows), public=True)


def truncated(row, l_top, size=3):
    """Symbols, then the end mark where both fit; else the first l_top symbols."""
    return [*row, size] if len(row) + 1 <= l_top else list(row[:l_top])


def grams(rows, l_top, longest, size=3):
    """Occurrences of every string of up to ``longest`` marks, the end mark last or not in it."""
    counts = Counter()
    for row in rows:
        text = truncated(row, l_top, size)
        for start in range(len(text)):
            for stop in range(start + 1, min(start + longest, len(text)) + 1):
                counts[tuple(text[start:stop])] += 1
    return counts


def counted(rows, l_top, longest=8):
    """Occurrences of strings without end marks."""
    return {
        string: count for string, count in grams(rows, l_top, longest).items() if 3 not in string
    }


def lists(sequences):
    return [sequences[row].tolist() for row in range(len(sequences))]
