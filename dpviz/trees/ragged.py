"""Rows of different lengths as two columns: where each begins, and the items of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.lattice import Int


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Rows of numbers one after the other: those of row r are ``item[start[r]:start[r + 1]]``.

    Attributes:
        start: offsets into ``item``, int64 (n + 1,).
        item: int64.
    """

    start: Int
    item: Int

    @classmethod
    def of(cls, rows: Iterable[Sequence[int] | Int]) -> Self:
        """Make the columns from lists of numbers.

        >>> Ragged.of([[0, 1], [], [2]]).start.tolist()
        [0, 2, 2, 3]
        """
        arrays = [np.asarray(row, dtype=np.int64) for row in rows]
        start = np.concatenate([[0], np.cumsum([len(row) for row in arrays], dtype=np.int64)])
        return cls(start, np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, row: int) -> Int:
        return self.item[self.start[row] : self.start[row + 1]]

    @property
    def length(self) -> Int:
        """Items of each row, int64 (n,)."""
        return np.diff(self.start)

    @property
    def owner(self) -> Int:
        """Row of each item, int64."""
        return np.repeat(np.arange(len(self)), self.length)

    @property
    def place(self) -> Int:
        """Place of each item in its row, from 0, int64."""
        return np.arange(len(self.item)) - np.repeat(self.start[:-1], self.length)

    def take(self, rows: Int) -> Self:
        """Some of the rows, in the order of ``rows``."""
        places, start = ragged_take(self.start, rows)
        return replace(self, start=start, item=self.item[places])

    def only(self, wanted: NDArray[np.bool_]) -> Self:
        """The same rows without some of their items (a mask)."""
        start = np.concatenate([[0], np.cumsum(wanted, dtype=np.int64)])[self.start]
        return replace(self, start=start, item=self.item[wanted])


def ragged_take(start: Int, rows: Int) -> tuple[Int, Int]:
    """Places of the items of some rows of a ragged column, and the offsets of the result."""
    sizes = (start[1:] - start[:-1])[rows]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    shift = start[:-1][rows] - offsets[:-1]
    places = np.arange(offsets[-1]) + np.repeat(shift, sizes)
    return places, offsets
