"""Records by person, from which slots are counted: the number of persons in each.

A *slot* of a record is its cell of a flat public table: a function of that record alone. V_u is the
SET of slots of unit u's records; K of them are kept, those of least keyed priority
(:mod:`dpviz.private.load.bounding`), and the count of a slot is the number of units that kept it.

*Lemma. For every key, adding or removing a unit moves the counts by some v ∈ {0, 1}^d with at most
K ones.* What u keeps is a function of the key, u and V_u, so other units' slots stay; and it is a
set, so that each slot moves by at most one. The key has one law in both worlds, so a guarantee that
holds for each key holds for a fresh one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.private.load.bounding import bounded, one_in_each
from dpviz.trees.lattice import Codes, Int

WEIGHT = 2**8
"""The weight of a unit in each of at most K slots; weights are whole numbers."""


def weights(slots: Int, k: int) -> Int:
    """Weight of units in each of their slots, n for each unit, whose squares sum to at most K.

    y = ⌊√⌊4⁸·K / max(K, n)⌋⌋: then n·y² ≤ 4⁸·K, so that one unit more or less moves the sums by a
    vector of whole numbers with Euclidean norm at most 2⁸·√K, and all of its slots count. To
    replace a unit moves them by at most √2 times that, since weights are not negative.

    >>> weights(np.array([1, 3, 4, 12, 300]), 3).tolist()
    [256, 256, 221, 128, 25]
    """
    squares = WEIGHT**2 * k // np.maximum(slots, k)
    return np.asarray(np.sqrt(squares).astype(np.int64))


@dataclass(frozen=True, repr=False)
class Persons:
    """Records inside the domain, each with the number of its unit: private.

    Attributes:
        unit: number of each record's privacy unit (n,), an integer type as short as suffices.
        ids: distinct ids by number.
        codes: Morton codes on the lattice, uint64 (n,).
        kind: number of each record's kind (n,), uint8; None without kinds.
        public: the choice of slots is repeatable; for public data only.
    """

    unit: NDArray[np.unsignedinteger[Any]]
    ids: Any
    codes: Codes
    kind: NDArray[np.uint8] | None = None
    public: bool = False

    def counts(self, cells: Int, shape: tuple[int, int], k: int, *, weighted: bool = False) -> Int:
        """Persons in each slot, a cell of a kind, int64 ``shape``: each in at most ``k`` of them.

        Args:
            cells: cell of each record (n,), from 0; −1 for a record in none.
            shape: number of kinds, 1 without any, and of cells.
            weighted: sums of :func:`weights` instead, each unit in all of its slots.
        """
        inside = np.flatnonzero(cells >= 0)
        owner, slot = self.unit[inside].astype(np.int64), cells[inside]
        if self.kind is not None:
            slot = slot + shape[1] * self.kind[inside].astype(np.int64)
        order = np.lexsort((slot, owner))
        owner, slot = owner[order], slot[order]
        first = np.ones(len(owner), dtype=np.bool_)
        first[1:] = (owner[1:] != owner[:-1]) | (slot[1:] != slot[:-1])
        owner, slot = owner[first], slot[first]
        if weighted:
            each = weights(np.bincount(owner, minlength=len(self.ids)), k)[owner]
            summed = np.bincount(slot, each, minlength=shape[0] * shape[1])  # exact below 2^53
            return summed.astype(np.int64).reshape(shape)
        rows = bounded(owner, self.ids, k, lambda over: [slot[over]], public=self.public)
        return np.bincount(slot[rows], minlength=shape[0] * shape[1]).reshape(shape)

    def one_in_each(self, blocks: Int, count: int, k: int) -> Int:
        """Row numbers of retained records, one in each of at most ``k`` blocks of a unit.

        With blocks as slots the lemma holds; which of its records in a block a unit keeps is a
        function of the key and of those records. So at most K blocks gain or lose one record.

        Args:
            blocks: block of each record (n,), from 0.
            count: number of blocks; one of each kind, where there are kinds.
        """
        unit, codes = self.unit.astype(np.int64), self.codes.view(np.int64)
        if self.kind is not None:
            blocks = blocks + count * self.kind.astype(np.int64)
        rows = one_in_each(unit, self.ids, blocks, codes, public=self.public)
        owner, block = unit[rows], blocks[rows]
        return rows[bounded(owner, self.ids, k, lambda over: [block[over]], public=self.public)]

    def __repr__(self) -> str:
        return "<private records>"
