"""Areas: a public partition of a box into polygons or hexagons, and its hierarchy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.checks import require, texts
from dpviz.domain import Domain
from dpviz.errors import DataError, DomainError, ReleaseError
from dpviz.files import limits
from dpviz.lazy import pa, pd, shapely
from dpviz.releases.areas.cell_ids import cells_at, numbers_of
from dpviz.releases.files import (
    encoded_shapes,
    geo_metadata,
    identifiers,
    numbers,
    whole_numbers,
)
from dpviz.releases.frame import Frame
from dpviz.releases.points.range_count import Cover
from dpviz.releases.points.sums import Sums
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition, level_slices
from dpviz.trees.lattice import Float, Int

MAX_LEVELS = 16
"""Most levels of a hierarchy: resolutions 0 to 15 of H3."""

SLIVER = 1e-6
"""A share of an area that a rectangle along its edge takes in or leaves out: edges of rectangles
lie on the domain's lattice, those of areas do not."""


@dataclass(frozen=True, eq=False, repr=False)
class Areas(Frame):
    """A public partition and its coarser levels, in breadth-first order.

    Everything is chosen without looking at records: polygons of a file, or hexagons.

    Attributes:
        domain: the public box (2-D) that records are read in; the areas lie in it.
        levels: names of the levels, the finest last.
        names: of all areas, coarsest first; unique among the children of one area.
        parent: row of the area above each, int64 (n,); −1 on the first level.
        shapes: polygons of the finest areas in the domain's CRS, objects (leaves,). They share
            borders at most; what is in none of them is in no area.
        resolution: resolution of H3, whose cells the finest areas are by id; None for polygons of a
            file.

    Raises:
        ReleaseError: names, parents and shapes that do not fit each other.
    """

    domain: Domain
    levels: tuple[str, ...]
    names: tuple[str, ...]
    parent: Int
    shapes: NDArray[np.object_]
    resolution: int | None = None

    kind: ClassVar[str] = "areas"
    NEEDED = ("geometry", "name", "parent", "count", "variance", "sum", "sum_variance")
    FACTS = ("domain", "levels", "resolution")

    def __post_init__(self) -> None:
        require(self.domain, Domain, "domain", ReleaseError)
        for name in ("levels", "names"):
            object.__setattr__(self, name, texts(getattr(self, name), name, ReleaseError))
        for name in ("parent", "shapes"):
            require(getattr(self, name), np.ndarray, name, ReleaseError)
        n = len(self.names)
        if not 1 <= len(self.levels) <= MAX_LEVELS:
            raise ReleaseError(f"{len(self.levels)} levels of areas: give 1 to {MAX_LEVELS}")
        if self.domain.dims != 2:
            raise ReleaseError(f"areas in {self.domain.dims} dimensions: they are polygons")
        if self.parent.shape != (n,) or n == 0:
            raise ReleaseError(f"{len(self.parent)} parents for {n} areas")
        late = self.parent >= np.arange(n)
        if (np.diff(self.parent) < 0).any() or late.any() or self.parent[0] != -1:
            raise ReleaseError("areas are not in breadth-first order")
        slices = level_slices(self.parent, MAX_LEVELS + 1)
        if len(slices) != len(self.levels) or slices[-1].stop != n or self.parent.min() < -1:
            raise ReleaseError(f"areas are not on {len(self.levels)} levels")
        inner = np.unique(self.parent[self.parent >= 0])
        if len(inner) != self.first_leaf:
            raise ReleaseError("an area above the finest level has none below it")
        if len(self.shapes) != self.leaves:
            raise ReleaseError(f"{len(self.shapes)} shapes for {self.leaves} finest areas")

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Areas({len(self):,} areas, {self.leaves:,} of them on the finest level)"

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Rows of each level, coarsest first."""
        return level_slices(self.parent)

    @property
    def sizes(self) -> list[int]:
        """Number of areas on each level, coarsest first."""
        return [part.stop - part.start for part in self.slices]

    @property
    def first_leaf(self) -> int:
        """Row of the first finest area; all later rows are finest areas too."""
        return int(self.slices[-1].start)

    @property
    def leaves(self) -> int:
        """Number of finest areas."""
        return len(self) - self.first_leaf

    def rows_of(self, level: str | None = None) -> slice:
        """Rows of a level by its name; default: the finest level.

        Raises:
            DataError: no such level.
        """
        if level is None:
            return self.slices[-1]
        if level not in self.levels:
            raise DataError(f"no level {level!r}: choose one of {', '.join(self.levels)}")
        return self.slices[self.levels.index(level)]

    @cached_property
    def level_of(self) -> NDArray[np.object_]:
        """Name of each area's level, objects (n,)."""
        sizes = [part.stop - part.start for part in self.slices]
        return np.repeat(np.array(self.levels, dtype=object), sizes)

    @property
    def parent_names(self) -> list[str | None]:
        """Name of each area's parent; None on the first level."""
        return [self.names[row] if row >= 0 else None for row in self.parent.tolist()]

    @cached_property
    def labels(self) -> list[str]:
        """Names, with that of the area above where several areas have one name."""
        several = Counter(self.names)
        return [
            name if several[name] == 1 or above is None else f"{above}/{name}"
            for name, above in zip(self.names, self.parent_names, strict=True)
        ]

    def ancestors(self, depth: int) -> Int:
        """Row of each finest area's ancestor at a depth (0 is the coarsest level)."""
        rows = np.arange(self.first_leaf, len(self))
        for _ in range(len(self.levels) - 1 - depth):
            rows = self.parent[rows]
        return rows

    def totals(self, leaves: Int) -> Int:
        """Sums of the finest areas' whole numbers for all areas, int64 (..., n)."""
        totals: Int = np.zeros((*leaves.shape[:-1], len(self)), dtype=np.int64)
        totals[..., self.first_leaf :] = leaves
        for part in self.slices[:0:-1]:
            above, first = np.unique(self.parent[part], return_index=True)
            totals[..., above] = np.add.reduceat(totals[..., part], first, axis=-1)
        return totals

    @cached_property
    def surface(self) -> Float:
        """Planar size of each area in the domain's CRS, float64 (n,)."""
        above = np.zeros(self.first_leaf)
        return sum_up(self.parent, np.concatenate([above, shapely.area(self.shapes)]))

    def outlines(self, level: str | None = None) -> NDArray[np.object_]:
        """Polygons of a level; coarser areas are unions of their finest areas.

        Raises:
            DataError: no such level.
        """
        part = self.rows_of(level)
        if part == self.slices[-1]:
            return self.shapes
        owner = self.ancestors(self.slices.index(part))
        return np.array(
            [shapely.union_all(self.shapes[owner == row]) for row in range(part.start, part.stop)],
            dtype=object,
        )

    def located(self, places: Float) -> Int:
        """Return the number of the finest area that holds each place, int64 (n,); −1 for none.

        A place on a border is in the area of the lowest number among those that it touches: that
        follows from the place alone. For hexagons the H3 library finds the cell.

        Args:
            places: coordinates in the domain's CRS, shape (n, 2).
        """
        if self.resolution is not None:
            wanted = cells_at(places, self.domain.crs, self.resolution)
            ids, number = self._cells
            at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
            return np.where(ids[at] == wanted, number[at], -1)
        shapely.prepare(self.shapes)
        order = np.argsort(places[:, 0])
        x, y = places[order].T.copy()
        west, south, east, north = shapely.bounds(self.shapes).T
        first, last = np.searchsorted(x, west), np.searchsorted(x, east, "right")
        lowest: Int = np.full(len(places), -1, dtype=np.int64)
        for area in np.flatnonzero(first < last)[::-1].tolist():  # the lowest number is set last
            strip = y[first[area] : last[area]]
            near = first[area] + np.flatnonzero((strip >= south[area]) & (strip <= north[area]))
            inside = shapely.intersects_xy(self.shapes[area], x[near], y[near])
            lowest[order[near[inside]]] = area
        return lowest

    @cached_property
    def _cells(self) -> tuple[NDArray[np.uint64], Int]:
        """H3 ids of the finest areas, ascending, and the number of each area."""
        ids = numbers_of(self.names[self.first_leaf :])
        order = np.argsort(ids, kind="stable")
        return ids[order], order

    def nodes(self, counts: Float, variance: Float) -> Decomposition:
        """Areas as intervals of finest areas, with an estimate of each."""
        return Decomposition(*self.intervals, self.parent, counts, variance)

    @cached_property
    def intervals(self) -> tuple[Int, Int]:
        """First and last (exclusive) of the finest areas in each area, int64 (n, 1) each."""
        lo = np.zeros(len(self), dtype=np.int64)
        hi = np.zeros(len(self), dtype=np.int64)
        lo[self.first_leaf :] = np.arange(self.leaves)
        hi[self.first_leaf :] = lo[self.first_leaf :] + 1
        for part in self.slices[:0:-1]:
            above, first = np.unique(self.parent[part], return_index=True)
            lo[above] = lo[part][first]
            hi[above] = hi[part][np.append(first[1:], part.stop - part.start) - 1]
        return lo[:, None], hi[:, None]

    def check(self, nodes: Decomposition) -> None:
        """Refuse nodes that are not those of these areas."""
        if not np.array_equal(nodes.parent, self.parent):
            raise ReleaseError(f"{len(nodes)} nodes are not those of {len(self)} areas")

    def questions(self, queries: Any, period: Any = None) -> tuple[Int, Int]:
        """Convert rectangles to lattice boxes."""
        if period is not None:
            raise DomainError(f"period {period!r}: this release has no time, leave the period out")
        return self.domain.boxes(queries)

    def cover(self, nodes: Decomposition, questions: tuple[Int, Int]) -> Cover:
        """The coarsest areas inside a rectangle, and shares of the areas that its edge cuts.

        A cut area counts by the share of its surface (the uniformity assumption).
        """
        low, high = (self.domain.to_coordinates(each) for each in questions)
        shares = [self._shares(rect) for rect in shapely.box(*low.T, *high.T)]
        rows = [np.flatnonzero(share) for share in shares]
        query = np.repeat(np.arange(len(rows)), list(map(len, rows)))
        parts = [share[row] for share, row in zip(shares, rows, strict=True)]
        none = np.empty(0, dtype=np.int64)
        return Cover(
            query, np.concatenate([none, *rows]), np.concatenate([np.empty(0), *parts]), len(rows)
        )

    def _shares(self, rect: Any) -> Float:
        """Share of each area that a rectangle uses, float64 (n,); 0 for unused areas."""
        share = np.zeros(len(self))
        near = self._tree.query(rect, "intersects")
        surface = self.surface[self.first_leaf + near]
        inside = shapely.area(shapely.intersection(self.shapes[near], rect)) / surface
        inside = np.where(inside < SLIVER, 0.0, inside)
        share[self.first_leaf + near] = np.where(inside > 1.0 - SLIVER, 1.0, inside)
        for part in self.slices[:0:-1]:
            cut = np.bincount(self.parent[part], share[part] < 1.0, minlength=len(self))
            above = np.unique(self.parent[part])
            share[above] = cut[above] == 0
            share[part][share[self.parent[part]] == 1.0] = 0.0
        return share

    @cached_property
    def _tree(self) -> Any:
        return shapely.STRtree(self.shapes)

    def stated(self, *, shapes: bool = True) -> dict[str, Any]:
        """The columns of a file that state the areas; finest areas have their polygons."""
        above: list[Any] = [None] * self.first_leaf
        outlines = [*above, *shapely.to_wkb(self.shapes)] if shapes else [None] * len(self)
        return {"geometry": pa.array(outlines, pa.binary()), **self._labels}

    @cached_property
    def _labels(self) -> dict[str, Any]:
        return {
            "level": pa.array(self.level_of.tolist(), pa.string()).dictionary_encode(),
            "name": pa.array(self.names, pa.string()),
            "parent": pa.array(self.parent, pa.int32()),
        }

    def columns(
        self, nodes: Decomposition, sums: Sums | None, *, first: bool = True
    ) -> dict[str, Any]:
        """One row per area, breadth-first, GeoParquet 1.1; finest areas have their polygons."""
        answers = self.answers(nodes)
        return {
            **self.stated(shapes=first),
            "count": pa.array(answers.count),
            "variance": pa.array(nodes.variance),
            "low": pa.array(answers.low),
            "high": pa.array(answers.high),
            **({} if sums is None else sums.columns),
        }

    def facts(self) -> dict[str, Any]:
        """Return the header fields: domain, levels and H3 resolution."""
        levels = list(self.levels)
        return {"domain": self.domain.to_dict(), "levels": levels, "resolution": self.resolution}

    def geo(self) -> dict[str, bytes]:
        """GeoParquet metadata of the polygons."""
        shapes = ["MultiPolygon", "Polygon"]
        return {"geo": geo_metadata(shapes, self.domain.crs, self.domain.bounds)}

    @classmethod
    def from_columns(
        cls, table: pa.Table, stated: dict[str, Any], first: Areas | None = None
    ) -> tuple[Areas, Decomposition, Sums | None]:
        """The inverse of :meth:`columns` and :meth:`facts`."""
        areas = cls.from_stated(table, stated, first)
        nodes = areas.nodes(numbers(table, "count"), numbers(table, "variance"))
        return areas, nodes, Sums.from_columns(table, areas.domain)

    @classmethod
    def from_stated(
        cls, table: pa.Table, stated: dict[str, Any], first: Areas | None = None
    ) -> Areas:
        """The inverse of :meth:`stated` and :meth:`facts`; must equal ``first`` if it is given."""
        names = identifiers(table, "name")
        if names.dtype.kind != "O":
            raise ReleaseError("column 'name' holds numbers: expected text")
        parent, resolution = whole_numbers(table, "parent"), stated.get("resolution")
        if first is not None:
            if tuple(names.tolist()) != first.names or not np.array_equal(parent, first.parent):
                raise ReleaseError("a part has other areas than the first")
            return first
        finest = int(parent.max(initial=-1)) + 1  # the first row after the last parent
        shapes = _shapes(table.slice(finest), resolution)
        domain, levels = Domain.from_dict(stated["domain"]), tuple(stated["levels"])
        return cls(domain, levels, tuple(names.tolist()), parent, shapes, resolution)

    def rows(self, release: Any, level: str | None = "all", *, shapes: bool = True) -> pd.DataFrame:
        """One row per area, as in the table of the release.

        Raises:
            DataError: no such level.
        """
        table: pd.DataFrame = release.table(level, shapes=shapes)
        return table


def _shapes(table: pa.Table, resolution: int | None) -> Any:
    """Polygons of the finest areas in a file; shapes that would break a query are refused."""
    most = limits.VERTICES.most * (1 if resolution is None else 2)
    shapes = np.array([*shapely.from_wkb(encoded_shapes(table, most)), None], dtype=object)[:-1]
    kinds = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)
    sound = np.isin(shapely.get_type_id(shapes), kinds) & shapely.is_valid(shapes)
    area = shapely.area(shapes)
    if not (sound & np.isfinite(area) & (area > 0)).all():
        raise ReleaseError("column 'geometry' holds an invalid polygon")
    return shapes
