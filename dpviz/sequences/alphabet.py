"""Alphabet: the public symbols of sequences, and their allowed successors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpviz.checks import described, require, texts
from dpviz.errors import DataError, ParameterError
from dpviz.files import limits
from dpviz.lists import split_list
from dpviz.trees.lattice import Int

MAX_SYMBOLS = limits.SYMBOLS.most
"""Symbols of the largest alphabet: counts after every context have one cell for each."""


@dataclass(frozen=True, eq=False, repr=False)
class Alphabet:
    """Symbols and their allowed successors: public, never taken from the sequences.

    Attributes:
        names: names of the symbols, distinct.
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
        if not 1 <= size <= MAX_SYMBOLS:
            raise ParameterError(
                f"an alphabet of {size:,} symbols: give 1 to {MAX_SYMBOLS:,}, for instance a "
                "coarser grid"
            )
        limits.NAME.check(max(map(len, self.names)), "a symbol of the alphabet")
        if len(set(self.names)) < size:
            raise ParameterError("the alphabet holds a symbol twice: name each once")
        if self.follows is not None and self.follows.shape != (size, size):
            raise ParameterError(
                f"follows has shape {self.follows.shape}: expected ({size}, {size})"
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


def alphabet_of(text: str) -> Alphabet:
    """A public alphabet from ``a,b,c``, a range ``1..17``, or a file with one symbol per line.

    Raises:
        ParameterError: no symbol, a symbol twice, or one word that is not a file: as the only
            symbol it would drop every sequence. Write a single symbol as ``a,``.
        DataError: the file cannot be read.

    >>> alphabet_of("1..3").names
    ('1', '2', '3')
    """
    numbered_range = re.fullmatch(r"(-?\d{1,9})\.\.(-?\d{1,9})", text.strip())
    if numbered_range:
        first, last = map(int, numbered_range.groups())
        if first > last:
            raise ParameterError(f"alphabet={text!r}: no number is in this range: swap its ends")
        limits.SYMBOLS.check(last - first + 1, f"alphabet={text!r}")
        return Alphabet(tuple(map(str, range(first, last + 1))))
    if "," in text:
        return Alphabet(tuple(filter(None, split_list(text, "an alphabet"))))
    if not Path(text).is_file():
        raise ParameterError(
            f"{described('alphabet', text)}: no such file, no range such as 1..17, and no list: "
            "write symbols between commas (a,b,c; of one alone a,)"
        )
    try:
        limits.ALPHABET_FILE.check(Path(text).stat().st_size, Path(text).name)
        lines = Path(text).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise DataError(
            f"{Path(text).name} is not a readable text file: give one symbol per line"
        ) from None
    return Alphabet(tuple(line.strip() for line in lines if line.strip()))
