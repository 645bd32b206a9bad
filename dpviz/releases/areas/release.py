"""AreaRelease: estimates of the areas of a public partition, which add up to the last digit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.errors import ReleaseError
from dpviz.lazy import geopandas, pa, shapely
from dpviz.releases.answers import Answers, interval
from dpviz.releases.areas import columns
from dpviz.releases.areas.partition import Areas
from dpviz.releases.header import Header
from dpviz.releases.points.range_count import RangeAnswers, answers_from
from dpviz.releases.release import Release
from dpviz.trees.density import uniformity_variance
from dpviz.trees.lattice import Float

SLIVER = 1e-6
"""A share of an area that a rectangle along its edge takes in or leaves out: edges of rectangles
lie on the domain's lattice, those of areas do not."""


@dataclass(frozen=True, eq=False, repr=False)
class AreaRelease(Release):
    """Estimates of areas.

    Attributes:
        areas: the public partition and its hierarchy.
        counts: estimated records of each area, float64 (n,), read-only. Those of the areas in one
            add up to its own, exactly.
        variance: of the noise in each before any rounding to whole numbers, float64 (n,).
        header: method, guarantee, budget.

    Raises:
        ReleaseError: not one finite value for each area.
    """

    kind: ClassVar[str] = "areas"

    areas: Areas
    counts: Float
    variance: Float
    header: Header

    def __post_init__(self) -> None:
        for name in ("counts", "variance"):
            column = np.array(getattr(self, name), dtype=np.float64)
            if column.shape != (len(self.areas),) or not np.isfinite(column).all():
                raise ReleaseError(f"{name} must have one finite value for each area")
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        if (self.variance < 0).any():
            raise ReleaseError("variance is negative for an area")

    @property
    def domain(self) -> Domain:
        """The public box of the records."""
        return self.areas.domain

    @cached_property
    def answers(self) -> Answers:
        """The counts of all areas with their 95 % intervals for the noise."""
        return Answers(**interval(self.counts, np.sqrt(self.variance)))

    def count(self, queries: ArrayLike) -> RangeAnswers:
        """Estimated records in rectangles, from the areas: the coarsest that lie in one, and of
        those that its edge cuts the share of their surface (the uniformity assumption).

        Args:
            queries: shape (q, 4) or (4,): west, south, east, north, in the domain's CRS.

        Raises:
            DomainError: a rectangle inside out, not finite or wholly outside the domain.
        """
        domain = self.areas.domain
        low, high = (domain.to_coordinates(each) for each in domain.boxes(queries))
        rows = np.zeros((len(low), 4))
        for at, rect in enumerate(shapely.box(*low.T, *high.T)):
            share = self._shares(rect)
            answering = np.flatnonzero(share)
            part, count = share[answering], self.counts[answering]
            rows[at] = (
                count @ part,
                self.variance[answering] @ part**2,
                uniformity_variance(count, part).sum(),
                len(answering),
            )
        return answers_from(rows)

    def _shares(self, rect: Any) -> Float:
        """The share of each area that answers a rectangle, float64 (n,); 0 for those not used."""
        areas = self.areas
        share = np.zeros(len(areas))
        near = self._tree.query(rect, "intersects")
        surface = areas.surface[areas.first_leaf + near]
        inside = shapely.area(shapely.intersection(areas.shapes[near], rect)) / surface
        inside = np.where(inside < SLIVER, 0.0, inside)
        share[areas.first_leaf + near] = np.where(inside > 1.0 - SLIVER, 1.0, inside)
        for part in areas.slices[:0:-1]:
            cut = np.bincount(areas.parent[part], share[part] < 1.0, minlength=len(areas))
            above = np.unique(areas.parent[part])
            share[above] = cut[above] == 0
            share[part][share[areas.parent[part]] == 1.0] = 0.0
        return share

    @cached_property
    def _tree(self) -> Any:
        return shapely.STRtree(self.areas.shapes)

    def to_geopandas(self, level: str | None = None) -> geopandas.GeoDataFrame:
        """One row per area of a level, the finest by default: polygon, level, name, parent, count,
        sd of its noise, and its 95 % interval.

        Raises:
            DataError: no such level.
        """
        return columns.to_geopandas(self.areas, self.answers, level)

    def to_arrow(self) -> pa.Table:
        """The table that :meth:`save` writes: a row per area, breadth-first."""
        return columns.to_columns(self.areas, self.answers, self.variance, self.header)
