"""SequenceData: an opaque handle on private sequences over a public alphabet.

Symbols are numbers 0 … |I| − 1 inside the engine. Beside them two marks share the number |I|: the
start $, which only ever stands before a symbol, and the end &, which only ever comes after one.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DataError
from dpviz.private.handle import Handle
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.sequences.alphabet import Alphabet
from dpviz.trees.lattice import Int
from dpviz.trees.ragged import Ragged


class Sequences(Ragged):
    """Sequences of symbol numbers, stored one after another."""

    @property
    def symbol(self) -> Int:
        """Symbols of all sequences, int64."""
        return self.item


class SequenceData(Handle[SequenceRelease]):
    """A handle on sequences.

    Empty sequences are left out. Records that break a public rule of the alphabet (``follows``) are
    cut at their first forbidden step, each by itself, so that one record stays one record.

    Raises DataError: a symbol outside the alphabet, or a bound below 1.
    """

    kind: ClassVar[str] = "sequences"
    records = "sequences"

    def __init__(
        self,
        name: str,
        alphabet: Alphabet,
        sequences: Sequences,
        *,
        public: bool = False,
        unit: str = "one sequence",
        max_per_unit: int = 1,
        facts: dict[str, Any] | None = None,
    ) -> None:
        symbol = sequences.symbol
        if len(symbol) and (symbol.min() < 0 or symbol.max() >= len(alphabet)):
            raise DataError(
                "a sequence holds a symbol outside the alphabet: add it to the public alphabet, or "
                "leave such symbols out"
            )
        super().__init__(name, public=public, unit=unit, max_per_unit=max_per_unit)
        self.alphabet = alphabet
        self.facts = dict(facts or {})
        self.__sequences = _truncated(sequences, alphabet.follows)

    @property
    def _sequences(self) -> Sequences:
        return self.__sequences

    @property
    def _frame(self) -> str:
        return f"{len(self.alphabet):,} symbols"


def _truncated(sequences: Sequences, follows: NDArray[np.bool_] | None) -> Sequences:
    """Nonempty sequences, each cut before its first forbidden step."""
    start, symbol, length = sequences.start, sequences.symbol, sequences.length
    lengths = length.copy()
    if follows is not None and len(symbol) > 1:
        wrong = ~follows[symbol[:-1], symbol[1:]]  # the step from each symbol to the next
        border = start[(start > 0) & (start < len(symbol))]
        wrong[border - 1] = False  # no steps: these pairs join two sequences
        at = np.flatnonzero(wrong)
        np.minimum.at(lengths, sequences.owner[at], sequences.place[at] + 1)
    cut = sequences.only(sequences.place < np.repeat(lengths, length))
    return cut.take(np.flatnonzero(cut.length > 0))
