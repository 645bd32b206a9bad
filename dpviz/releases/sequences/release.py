"""SequenceRelease: a model of sequences over a public alphabet, with its header."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.checks import whole
from dpviz.errors import ParameterError, ReleaseError
from dpviz.lazy import pa
from dpviz.releases.answers import Answers
from dpviz.releases.header import Header
from dpviz.releases.release import Release
from dpviz.releases.sequences import columns
from dpviz.sequences.alphabet import Alphabet
from dpviz.sequences.grams import Model
from dpviz.sequences.model import MAX_LENGTH
from dpviz.trees.lattice import Float, Int


@dataclass(frozen=True, eq=False, repr=False)
class SequenceRelease(Release):
    """A model of sequences, its public alphabet and its header.

    A model that cannot answer a question says so in a ParameterError.
    """

    alphabet: Alphabet
    model: Model
    header: Header

    @property
    def kind(self) -> str:
        """Kind of the records: "sequences"."""
        return "sequences"

    def __post_init__(self) -> None:
        if self.model.size != len(self.alphabet):
            raise ReleaseError(
                f"a model of {self.model.size:,} symbols over an alphabet of {len(self.alphabet):,}"
            )

    def count(self, queries: Sequence[Sequence[str]]) -> Answers:
        """Estimated occurrences of strings.

        Args:
            queries: strings, each a sequence of the alphabet's symbols.

        Returns:
            Counts; the noise in them is not known: NaN.

        Raises:
            ParameterError: an empty string, or a symbol outside the alphabet.
        """
        count = np.array([self.model.count(self.codes(string)) for string in queries], dtype=float)
        unknown = np.full(len(count), np.nan)
        return Answers(count, unknown, unknown, unknown)

    def next(self, context: Sequence[str] = ()) -> Float:
        """P(symbol | context) of each symbol, then of the end; float64 (|I| + 1,)."""
        return self.model.following(self.codes(context))

    def top(
        self, k: int = 20, longest: int = MAX_LENGTH
    ) -> list[tuple[tuple[str, ...], float | None]]:
        """The k most frequent strings, with their counts if the release has counts."""
        k, longest = whole(k, "k", ParameterError), whole(longest, "longest", ParameterError)
        names = self.alphabet.names
        return [
            (tuple(names[symbol] for symbol in string), count)
            for string, count in self.model.top(k, longest)
        ]

    def sample(
        self, n: int = 1_000, seed: int | None = None, longest: int = MAX_LENGTH
    ) -> list[tuple[str, ...]]:
        """Sample n synthetic sequences; costs no ε. No release states a total as a default."""
        n, longest = whole(n, "n", ParameterError), whole(longest, "longest", ParameterError)
        if seed is not None and whole(seed, "seed", ParameterError) < 0:
            raise ParameterError(f"seed={seed}: give a whole number from 0")
        names = self.alphabet.names
        rows: list[Int] = self.model.sample(n, seed, longest)
        return [tuple(names[symbol] for symbol in row.tolist()) for row in rows]

    def codes(self, symbols: Sequence[str]) -> Int:
        """Convert symbols to their numbers.

        Raises:
            ParameterError: a word outside the alphabet, or one text in place of a list.
        """
        if isinstance(symbols, str):
            raise ParameterError(f"{symbols!r} is one text: give a list of symbols, [{symbols!r}]")
        symbols = tuple(symbols) if isinstance(symbols, Iterable) else (symbols,)
        codes = self.alphabet.codes(symbols)
        if (codes < 0).any():
            wrong = symbols[int((codes < 0).argmax())]
            raise ParameterError(
                f"symbol {wrong!r} is not in the release's alphabet: choose one that is"
            )
        return codes

    def to_arrow(self) -> pa.Table:
        """The table that :meth:`save` writes: a row per context or string."""
        return columns.to_columns(self.alphabet, self.model, self.header)
