"""PointIndex: exact counts of lattice cells and boxes, from points or (cell, count) rows.

The index is a sorted column of unique Morton codes with cumulative weights. A cell of the 2^d-ary
tree is a range of codes, so its exact count is two binary searches and a whole level one vectorised
call.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.errors import DataError
from dpviz.trees.lattice import Codes, Int, morton, unmorton

if TYPE_CHECKING:
    from dpviz.private.load.persons import Persons

MIN_COMPILED = 16
"""Below this many boxes a scan of all points is faster than importing the compiled walk."""


MAX_RECORDS = 1 << 53
"""Bound on records: sums below it are exact in double precision."""


class PointIndex:
    """Exact counts over the lattice of a domain. All its answers are private.

    Args:
        codes: unique Morton codes in ascending order, uint64 of shape (m,).
        weights: records at each code, positive int64 of shape (m,).
        cumulative: instead of weights, number of records before each code, and in all: (m + 1,).
    """

    def __init__(
        self, domain: Domain, codes: Codes, weights: Int | None, cumulative: Int | None = None
    ) -> None:
        self.domain = domain
        self.codes = codes
        if cumulative is None:
            cumulative = np.zeros(len(codes) + 1, dtype=np.int64)
            numbers = np.asarray(weights, dtype=np.int64)
            np.cumsum(numbers, out=cumulative[1:])
        self.cumulative = cumulative
        for column in (self.codes, self.cumulative):
            column.flags.writeable = False

    @classmethod
    def from_points(cls, domain: Domain, points: ArrayLike) -> PointIndex:
        """Index points of shape (n, dims); points outside the domain are dropped."""
        cells, _ = domain.to_lattice(points)
        return cls.from_cells(domain, cells)

    @classmethod
    def from_cells(cls, domain: Domain, cells: Int, weights: ArrayLike | None = None) -> PointIndex:
        """Index lattice cells, int64 (n, dims); ``weights`` are records per cell, 1 by default."""
        codes = morton(cells)
        return cls.from_codes(domain, codes, None if weights is None else np.asarray(weights))

    @classmethod
    def from_codes(
        cls, domain: Domain, codes: Codes, weights: Int | None = None, bits: int | None = None
    ) -> PointIndex:
        """Index Morton codes, unsorted and with repeats; ``codes`` may be overwritten.

        Args:
            weights: records at each, whole numbers from 0 of shape (n,); 1 if None.
            bits: bits per axis of the codes, the lattice's own if None.
        """
        codes, counts = _in_order(codes, weights)
        shift = _shift(domain, bits)
        first = np.ones(len(codes) + 1, dtype=np.bool_)  # the last entry marks the end
        np.not_equal(codes[1:], codes[:-1], out=first[1:-1])
        if counts is not None and first.all() and counts.all():
            codes <<= shift  # avoid copies of tens of millions of rows from an engine
            return cls(domain, codes, counts)
        if counts is None:  # one record per code: the row of a code's first record
            distinct = codes if first.all() else codes[first[:-1]]
            distinct <<= shift
            return cls(domain, distinct, None, np.flatnonzero(first))
        starts = np.flatnonzero(first)[:-1]
        totals = np.add.reduceat(counts, starts) if len(starts) else counts
        occupied = totals > 0
        return cls(domain, codes[starts[occupied]] << shift, totals[occupied].astype(np.int64))

    def merged(self, other: PointIndex) -> PointIndex:
        """The index of the records of both indexes, which have one domain.

        Raises DataError: more records than histograms add up exactly.
        """
        if self.total + other.total >= MAX_RECORDS:
            raise DataError("the counts add up to more than 2^53: give fewer records")
        weights = self.weights.copy()
        rows = np.searchsorted(self.codes, other.codes)
        known = rows < len(self.codes)
        known[known] = self.codes[rows[known]] == other.codes[known]
        weights[rows[known]] += other.weights[known]
        codes = np.insert(self.codes, rows[~known], other.codes[~known])
        weights = np.insert(weights, rows[~known], other.weights[~known])
        return PointIndex(self.domain, codes, weights)

    @classmethod
    def of_sums(
        cls, domain: Domain, codes: Codes, values: Int, bits: int | None = None
    ) -> PointIndex:
        """An index of sums of whole values, int64 (n,), at Morton codes in any order, uint64 (n,).

        Sums may be negative. ``bits`` as for :meth:`from_codes`.
        """
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])[: len(codes)])
        totals = np.add.reduceat(values[order], starts) if len(starts) else values[:0]
        return cls(domain, codes[starts] << _shift(domain, bits), totals.astype(np.int64))

    @classmethod
    def of_all(cls, indexes: Sequence[PointIndex]) -> PointIndex:
        """The index of the records of several indexes, merged one after another."""
        return functools.reduce(cls.merged, indexes)

    def coarsened(self, bits: int, *, sums: bool = False) -> PointIndex:
        """The index with codes moved to corners of a public grid of 2^bits steps per axis.

        With ``sums``, weights are sums, not counts.
        """
        make = self.of_sums if sums else self.from_codes
        return make(self.domain, self.codes >> _shift(self.domain, bits), self.weights, bits)

    @property
    def total(self) -> int:
        """The exact number of records: private."""
        return int(self.cumulative[-1])

    @cached_property
    def weights(self) -> Int:
        """Records at each unique code: int64 of shape (m,)."""
        return np.diff(self.cumulative)

    @cached_property
    def cells(self) -> Int:
        """Lattice cells of the unique codes, in Morton order: int64 of shape (m, dims)."""
        return unmorton(self.codes, self.domain.dims)

    def first_rows(self, codes: ArrayLike, bits: int) -> Int:
        """First row of :attr:`codes` in each tree cell, int64 of the shape of ``codes``.

        ``codes``: prefixes of ``bits`` leading bits each, uint64 (2-D depth h: 2·h).
        """
        shift = np.uint64(self.domain.dims * self.domain.bits - bits)
        return np.searchsorted(self.codes, np.asarray(codes, dtype=np.uint64) << shift)

    def histogram(self, edges: list[Int]) -> Int:
        """Exact counts of a grid.

        ``edges``: per dimension, ascending lattice lines from 0 to ``side``. Returns int64 of shape
        (len(edges[0]) − 1, …).
        """
        shape = tuple(len(line) - 1 for line in edges)
        flat = np.zeros(len(self.codes), dtype=np.int64)
        for axis, line in enumerate(edges):
            flat *= shape[axis]
            flat += np.searchsorted(line, self.cells[:, axis], side="right") - 1
        size = int(np.prod(shape))
        # bincount sums in float64, exact below 2^53 records.
        return (
            np.bincount(flat, weights=self.weights, minlength=size).astype(np.int64).reshape(shape)
        )

    def _scan(self, lo: Int, hi: Int) -> int:
        inside = np.ones(len(self.codes), dtype=np.bool_)
        for axis in range(self.domain.dims):
            column = self.cells[:, axis]
            inside &= (column >= lo[axis]) & (column < hi[axis])
        return int(self.weights[inside].sum())

    def box_counts(self, lo: ArrayLike, hi: ArrayLike) -> Int:
        """Exact counts of lattice boxes [lo, hi), int64 of shape (q, dims) each: int64 (q,)."""
        lo, hi = np.ascontiguousarray(lo, np.int64), np.ascontiguousarray(hi, np.int64)
        if len(lo) < MIN_COMPILED:
            return np.array([self._scan(*box) for box in zip(lo, hi, strict=True)], dtype=np.int64)
        from dpviz.trees.kernels import count_boxes

        counts: Int = count_boxes(self.codes, self.cells, self.cumulative, lo, hi, self.domain.bits)
        return counts


class Layers(NamedTuple):
    """The indexes of a data set, one for each kind of records: private.

    Attributes:
        counts: counts of the records of each kind; one index where there are no kinds.
        sums: sums of the values of the same records, in steps; none where there are no values.
        persons: the same data set's records by person, before any bound; None where a unit has one
            record at most, or an engine counted them.
    """

    counts: tuple[PointIndex, ...]
    sums: tuple[PointIndex, ...] = ()
    persons: Persons | None = None

    def coarsened(self, bits: int) -> Layers:
        """The same records on a coarser public grid; see :meth:`PointIndex.coarsened`."""
        return Layers(
            tuple(each.coarsened(bits) for each in self.counts),
            tuple(each.coarsened(bits, sums=True) for each in self.sums),
            self.persons,
        )

    @property
    def cells(self) -> int:
        """Number of cells in memory: private."""
        return sum(len(index.codes) for index in self.counts)


def _shift(domain: Domain, bits: int | None) -> np.uint64:
    """Left shift from codes of ``bits`` per axis to lattice codes; 0 if ``bits`` is None."""
    return np.uint64(0 if bits is None else domain.dims * (domain.bits - bits))


def _in_order(codes: Codes, weights: Int | None) -> tuple[Codes, Int | None]:
    """Sort codes ascending, and their weights with them."""
    if weights is None:
        codes.sort()
        return codes, None
    counts = weights.astype(np.int64, copy=False)
    if len(counts) != len(codes) or (counts < 0).any():
        raise DataError("cell counts: give whole numbers from 0, one per cell")
    if len(codes) == 0 or bool((codes[1:] > codes[:-1]).all()):
        return codes, counts
    width = int(counts.max()).bit_length()
    if int(codes.max()).bit_length() + width > 64:
        order = np.argsort(codes, kind="stable")
        return codes[order], counts[order]
    # The count sits in the code's lower bits, so one sort in place moves both: six times faster.
    codes <<= np.uint64(width)
    codes |= counts.view(np.uint64)
    codes.sort()
    counts = (codes & np.uint64((1 << width) - 1)).view(np.int64)
    codes >>= np.uint64(width)
    return codes, counts
