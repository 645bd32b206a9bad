"""AreaData: an opaque handle on points, counted by the areas of a public partition."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from dpviz.errors import DataError
from dpviz.private.handle import DataHandle, Handle
from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import AreaRelease
from dpviz.trees.lattice import Int


class AreaData(Handle[AreaRelease]):
    """A handle on points inside the box of a public partition into areas.

    A record's place is the middle of its lattice step, 2^−26 of the box's width; that decides, and
    nothing else, in which one of the areas it is, or in none. One record more moves one count of
    the finest areas by one: stability 1, so the bound per unit is that of the points.

    Attributes:
        areas: the public partition and its hierarchy.

    Raises:
        DataError: points that are not 2-D, have kinds or values, are in another box than the areas,
            or are counted on a coarser grid than the lattice, whose cells would be in several.
    """

    kind: ClassVar[str] = "areas"

    def __init__(self, points: DataHandle, areas: Areas) -> None:
        super().__init__(
            points.name,
            public=points.public,
            unit=points.unit,
            max_per_unit=points.max_per_unit,
        )
        if points.domain.kinds is not None:
            raise DataError("areas count records of all kinds: read these without kinds")
        if points.domain.values is not None:
            raise DataError("areas count records and hold no sums: read these without values")
        if points.domain.dims != 2:
            raise DataError(f"areas need points in 2-D, these are {points.domain.dims}-D")
        same = (areas.domain.bounds, areas.domain.crs)
        if (points.domain.bounds, points.domain.crs) != same:
            raise DataError(
                "the records are read in another box than the areas: read them in areas.domain"
            )
        if points.bits < points.domain.bits:
            raise DataError(
                f"these records were counted by cell, on a grid of 2^{points.bits} steps: a cell "
                f"may lie in several areas; give a file of records, or the lattice itself, "
                f"bits={points.domain.bits} (--bits)"
            )
        self.account = points.account
        self.synthetic = points.synthetic
        self.columns = points.columns
        self.tally = points.tally
        self.areas = areas
        self.__points = points

    @cached_property
    def _counts(self) -> Int:
        """Exact records in each of the finest areas, int64 (leaves,): private."""
        index = self.__points._index
        rows = self.areas.located(self.__points.domain.to_coordinates(index.cells + 0.5))
        inside = rows >= 0
        # bincount sums in float64, exact below 2^53 records.
        counts = np.bincount(rows[inside], index.weights[inside], minlength=self.areas.leaves)
        return counts.astype(np.int64)

    @property
    def _frame(self) -> str:
        return f"{len(self.areas):,} areas"


def exact_areas(data: AreaData) -> Int:
    """Records in every area, int64 (n,), for public data only.

    Raises:
        PrivacyError: the data set is not declared public.
    """
    data.require_public()
    return data.areas.totals(data._counts)
