"""Alphabet: the public symbols of sequences, and what may follow what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.checks import require, texts
from dpviz.errors import ParameterError
from dpviz.files import limits
from dpviz.trees.lattice import Int

MOST_SYMBOLS = limits.SYMBOLS.most
"""Symbols of the largest alphabet: counts after every context have one cell for each."""


@dataclass(frozen=True, eq=False, repr=False)
class Alphabet:
    """Symbols and their allowed successors: public, never taken from the sequences.

    Attributes:
        names: of the symbols, distinct.
        follows: bool (|I|, |I|), whether a symbol may come right after another; None where any may.
            The end may come after every symbol.

    Raises:
        ParameterError: no symbol, too many, or a name twice; ``follows`` of another shape.

    >>> len(Alphabet(("home", "work")))
    2
    """

    names: tuple[str, ...]
    follows: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", texts(self.names, "names", ParameterError))
        require(self.follows, np.ndarray | None, "follows", ParameterError)
        size = len(self.names)
        if not 1 <= size <= MOST_SYMBOLS:
            raise ParameterError(
                f"an alphabet of {size:,} symbols: give 1 to {MOST_SYMBOLS:,}, for instance a "
                "coarser grid"
            )
        limits.NAME.check(max(map(len, self.names)), "a symbol of the alphabet")
        if len(set(self.names)) < size:
            raise ParameterError("the alphabet holds a symbol twice: name each once")
        if self.follows is not None and self.follows.shape != (size, size):
            raise ParameterError(
                f"what may follow what has shape {self.follows.shape}: give ({size}, {size})"
            )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Alphabet({len(self):,} symbols)"

    def codes(self, words: Iterable[str]) -> Int:
        """Numbers of symbols by name; −1 for an unknown name."""
        place = {name: row for row, name in enumerate(self.names)}
        known = [place.get(word, -1) if isinstance(word, str) else -1 for word in words]
        return np.array(known, dtype=np.int64)
