"""AreaData: an opaque handle on points, counted by the areas of a public partition.

With steps of time or kinds, each record is in one part (a kind in a step) and in at most one of the
finest areas, so the parts times the areas of one level are disjoint cells: one record more or less
moves one count of a level by one, and all parts together cost what one of them costs (parallel
composition; F. McSherry, SIGMOD 2009, theorem 4). Up to K records of a unit move, wherever they
are: the bound holds over all parts together.

With values, each finest area has a sum too: of values clipped to the public limits and rounded to
steps of the public grid. *One record more or less moves one of these whole numbers, by at most B
steps* (:attr:`Values.reach <dpviz.domain.attributes.Values.reach>`), as its value is clipped by
itself; so it moves the sums of one level by at most B in ℓ₁, and up to K records of a unit by at
most K·B, wherever they are and whatever their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpviz.errors import DataError
from dpviz.private.handle import DataHandle, Handle
from dpviz.private.index import PointIndex
from dpviz.private.load.persons import WEIGHT
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.table_steps import table_steps
from dpviz.releases.axis import Axis
from dpviz.releases.counts import AreaRelease
from dpviz.trees.lattice import Int, unmorton

MAX_COUNTS = 4_000_000
"""Most counts (areas × steps × kinds) of one release, so that its file can be read again."""


class AreaData(Handle[AreaRelease]):
    """A handle on points inside the box of a public partition into areas.

    A record's place is the middle of its lattice step, 2^−26 of the box's width, 2^−20 with time;
    that decides, and nothing else, in which one of the areas it is, or in none. One record more
    moves one count of the finest areas by one: stability 1, so the bound per unit is that of the
    points.

    Attributes:
        areas: the public partition and its hierarchy; its domain states the values of the records.
        domain: the domain of the records, with their time, kinds and values.
        by: the kinds and the steps of time of the records; None without any.

    Raises:
        DataError: points that are not in two dimensions and time, are in another box than the
            areas, or are counted on a coarser grid than the lattice, whose cells would be in
            several; or more counts than a file holds.
        DomainError: a step that cuts one of the records' steps of time, or is missing.
    """

    kind: ClassVar[str] = "areas"

    def __init__(self, points: DataHandle, areas: Areas, every: str | None = None) -> None:
        super().__init__(
            points.name, public=points.public, unit=points.unit, max_per_unit=points.max_per_unit
        )
        domain = points.domain
        if domain.without_time.dims != 2:
            raise DataError(
                f"areas need 2 coordinates, not {domain.dims}: read only those of places"
            )
        same = (areas.domain.bounds, areas.domain.crs)
        if (domain.without_time.bounds, domain.crs) != same:
            raise DataError(
                "the records are read in another box than the areas: read them in areas.domain"
            )
        if points.bits < domain.bits:
            raise DataError(
                f"these records were counted by cell, on a grid of 2^{points.bits} steps: a cell "
                f"may lie in several areas; give a file of records, or the lattice itself, "
                f"bits={domain.bits} (--bits)"
            )
        by = Axis(domain.kinds, table_steps(domain, every))
        if len(by) * len(areas) > MAX_COUNTS:
            raise DataError(
                f"{len(areas):,} areas in {len(by):,} steps and kinds: a table holds up to "
                f"{MAX_COUNTS:,} counts, give a longer step or fewer areas"
            )
        self.by = None if by == Axis() else by
        self.account = points.account
        self.synthetic = points.synthetic
        self.has_persons = points.has_persons
        self.charged = points.charged
        self.columns = points.columns
        self.tally = points.tally
        self.domain = domain
        if areas.domain.values != domain.values:
            areas = replace(areas, domain=replace(areas.domain, values=domain.values))
        self.areas = areas
        self.__points = points

    @cached_property
    def _counts(self) -> Int:
        """Exact records in the finest areas, int64 (leaves,) or (parts, leaves): private."""
        return self._added_up(self.__points._layers.counts)

    @cached_property
    def _sums(self) -> Int:
        """Exact sums of values in steps of their grid, as :attr:`_counts`: private."""
        return self._added_up(self.__points._layers.sums)

    def _added_up(self, indexes: Sequence[PointIndex]) -> Int:
        """Sum of the weights of the indexes of all kinds in each of the finest areas."""
        sums = np.zeros((len(indexes), self._size), dtype=np.int64)
        for kind, (index, slots) in enumerate(zip(indexes, self._occupied, strict=True)):
            inside = slots >= 0
            # bincount sums in float64, exact below 2^53 records or steps.
            sums[kind] = np.bincount(slots[inside], index.weights[inside], minlength=self._size)
        return self._by_part(sums)

    @property
    def _outside(self) -> int:
        """Exact number of records in none of the areas: private."""
        indexes = zip(self.__points._layers.counts, self._occupied, strict=True)
        return sum(int(index.weights[rows < 0].sum()) for index, rows in indexes)

    @cached_property
    def _occupied(self) -> tuple[Int, ...]:
        """Slots of the cells of each kind, which counts and sums share: private."""
        return tuple(self._slots(index.cells) for index in self.__points._layers.counts)

    def _by_person(self, bound: int, weighted: bool = False) -> Int:
        """Persons in each of the finest areas, at most ``bound`` slots of each; as ``_counts``.

        With ``weighted`` in all of them, in steps of 1/:data:`~dpviz.private.load.persons.WEIGHT`.
        """
        persons = self.__points._layers.persons
        if persons is None:  # a unit has one record
            return self._counts * (WEIGHT if weighted else 1)
        cells = self._slots(unmorton(persons.codes, self.__points.domain.dims))
        shape = len(self.__points._layers.counts), self._size
        return self._by_part(persons.counts(cells, shape, bound, weighted=weighted))

    @property
    def _size(self) -> int:
        """Number of pairs of a finest area and a step of time."""
        steps = None if self.by is None else self.by.steps
        return self.areas.leaves * (1 if steps is None else len(steps))

    def _slots(self, cells: Int) -> Int:
        """Step and finest area of lattice cells as one number; −1 outside all areas."""
        middles = self.__points.domain.to_coordinates(cells + 0.5)
        rows = self.areas.located(middles[:, :2])
        if self.by is None or self.by.steps is None:
            return rows
        step = np.searchsorted(self.by.steps.edges, middles[:, 2], side="right") - 1
        return np.where(rows < 0, rows, rows + self.areas.leaves * step)

    def _by_part(self, counts: Int) -> Int:
        """Counts of all kinds as the method takes them."""
        leaves = self.areas.leaves
        return counts.reshape(leaves) if self.by is None else counts.reshape(-1, leaves)

    @property
    def _frame(self) -> str:
        parts = "" if self.by is None else f", {len(self.by):,} parts by {self.by}"
        return f"{len(self.areas):,} areas{parts}"


def records_in_no_area(data: AreaData) -> int:
    """Exact number of records in none of the areas: for their owner's eyes only, never kept."""
    return data._outside


def exact_areas(data: AreaData) -> Int:
    """Records in every area, int64 (n,), or of each part (parts, n), for public data only."""
    data.require_public()
    return data.areas.totals(data._counts)
