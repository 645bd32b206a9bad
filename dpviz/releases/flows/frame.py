"""Flows: the public frame of counts of pairs, an area of origin and an area of destination.

The pairs of a level are a hierarchy of their own: a pair of boroughs holds the pairs of their
wards. A node is a rectangle of numbers of finest areas, origins by destinations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpviz.checks import require
from dpviz.domain import Domain
from dpviz.errors import DataError, DomainError, ReleaseError
from dpviz.files import arrow
from dpviz.lazy import pa, pd
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.table import row_named
from dpviz.releases.files import identifiers, numbers, whole_numbers
from dpviz.releases.frame import Frame
from dpviz.releases.points.range_count import Cover, box_cover
from dpviz.releases.points.sums import Sums
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int, positions_within

ORIGIN, DESTINATION, PAIR = "origin", "destination", "pair"
"""Kinds of rows of a file."""


@dataclass(frozen=True, eq=False, repr=False)
class Flows(Frame):
    """Pairs of public areas and their hierarchy, coarsest first.

    From one level to the next both areas of a pair are divided. If one hierarchy has fewer levels
    than the other, its coarsest areas stay undivided on the first levels.

    Attributes:
        origins: areas in which a record begins.
        to: areas in which it ends; None for those in which it begins.

    Raises:
        ReleaseError: not areas, or areas in different coordinate systems.
    """

    origins: Areas
    to: Areas | None = None

    kind: ClassVar[str] = "flows"
    NEEDED = ("row", "geometry", "name", "parent", ORIGIN, DESTINATION, "count", "variance")
    FACTS = ("domain", "levels", "resolution", "to")

    def __post_init__(self) -> None:
        require(self.origins, Areas, "origins", ReleaseError)
        require(self.to, Areas | None, "to", ReleaseError)
        if self.destinations.domain.crs != self.domain.crs:
            raise ReleaseError("origins and destinations are in different coordinate systems")

    def __repr__(self) -> str:
        one, two = self.shape
        return f"Flows({one:,} areas of origin, {two:,} of destination)"

    @property
    def destinations(self) -> Areas:
        """Areas in which a record ends."""
        return self.origins if self.to is None else self.to

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """The public box of the origins."""
        return self.origins.domain

    @property
    def shape(self) -> tuple[int, int]:
        """Finest areas of origin and of destination."""
        return self.origins.leaves, self.destinations.leaves

    @cached_property
    def depths(self) -> tuple[tuple[int, int], ...]:
        """Depths in the hierarchies of origins and destinations, by level of pairs."""
        sizes = len(self.origins.levels), len(self.destinations.levels)
        most = max(sizes)
        one, two = ([max(0, at - most + size) for at in range(most)] for size in sizes)
        return tuple(zip(one, two, strict=True))

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels of pairs, coarsest first, such as ``ward`` or ``ward to zone``."""
        names = [
            (self.origins.levels[one], self.destinations.levels[two]) for one, two in self.depths
        ]
        return tuple(one if one == two else f"{one} to {two}" for one, two in names)

    def below(self, level: int, origin: Int, destination: Int) -> tuple[Int, Int, Int]:
        """The pairs of a level that divide some pairs of the level above, one after another.

        Args:
            level: level of the pairs to return; those of level 0 divide the pair (−1, −1).
            origin: rows of areas of origin, int64 (k,).
            destination: rows of areas of destination, int64 (k,).

        Returns:
            Position of the divided pair, row of the origin and of the destination, int64 (m,).
        """
        (one, many), (two, others) = self._parts(level, origin, destination)
        above = np.repeat(np.arange(len(origin)), many * others)
        place, across = positions_within(many * others), others[above]
        return above, one[above] + place // across, two[above] + place % across

    def fanout(self, level: int, origin: Int, destination: Int) -> Int:
        """Number of pairs that :meth:`below` divides each pair into, int64 (k,)."""
        (_, many), (_, others) = self._parts(level, origin, destination)
        return many * others

    def _parts(self, level: int, origin: Int, destination: Int) -> list[tuple[Int, Int]]:
        """For both ends the first area that divides each area of a pair, and how many do."""
        parts = []
        for end, (areas, rows) in enumerate(
            ((self.origins, origin), (self.destinations, destination))
        ):
            if level and self.depths[level][end] == self.depths[level - 1][end]:
                parts.append((rows, np.ones_like(rows)))
            else:
                first = np.searchsorted(areas.parent, rows)
                parts.append((first, np.searchsorted(areas.parent, rows, side="right") - first))
        return parts

    def boxes(self, origin: Int, destination: Int) -> tuple[Int, Int]:
        """Numbers of finest areas of pairs, first and last (exclusive), int64 (k, 2) each."""
        one, two = self.origins.intervals, self.destinations.intervals
        low, high = (np.hstack([one[end][origin], two[end][destination]]) for end in (0, 1))
        return low, high

    def nodes(
        self, origin: Int, destination: Int, parent: Int, count: Float, variance: Float
    ) -> Decomposition:
        """Pairs as rectangles of finest areas, with an estimate of each."""
        return Decomposition(*self.boxes(origin, destination), parent, count, variance)

    def ends(self, nodes: Decomposition) -> tuple[Int, Int]:
        """Rows of the areas of origin and of destination of each node, int64 (n,) each."""
        rows = np.empty((2, len(nodes)), dtype=np.int64)
        for depths, part in zip(self.depths, nodes.levels, strict=False):
            for end, areas in enumerate((self.origins, self.destinations)):
                rows[end, part] = areas.ancestors(depths[end])[nodes.lo[part, end]]
        return rows[0], rows[1]

    def check(self, nodes: Decomposition) -> None:
        """Refuse nodes that are not pairs of these areas, or a divided pair with a missing part."""
        origin = destination = above = np.array([-1])
        for level, part in enumerate(nodes.levels):
            if level == len(self.depths):
                raise ReleaseError(f"pairs are not on {len(self.depths)} levels")
            size = int(self.fanout(level, origin, destination).sum())  # before memory is taken
            if size != part.stop - part.start:
                raise ReleaseError(f"pairs of level {self.levels[level]}: expected {size:,}")
            owner, origin, destination = self.below(level, origin, destination)
            low, high = self.boxes(origin, destination)
            same = np.array_equal(nodes.parent[part], above[owner])
            if not same or not np.array_equal(
                np.hstack([nodes.lo[part], nodes.hi[part]]), np.hstack([low, high])
            ):
                raise ReleaseError(f"nodes of level {self.levels[level]} are not pairs of areas")
            opened = nodes.n_children[part] > 0
            above = np.flatnonzero(opened) + part.start
            origin, destination = origin[opened], destination[opened]

    @property
    def everything(self) -> tuple[None, None]:
        """The pair of all areas."""
        return None, None

    def questions(self, queries: Any, period: Any = None) -> tuple[Int, Int]:
        """Convert names of areas to boxes.

        Args:
            queries: pairs (origin, destination) of names; None stands for all areas.
            period: refused here; a release with steps of time takes it.

        Raises:
            DataError: no pairs of names, or no area of a name, or several.
        """
        if period is not None:
            raise DomainError(f"period {period!r}: this release has no time, leave the period out")
        pairs = list(queries) if isinstance(queries, list | tuple) else [queries]
        if pairs and isinstance(pairs[0], str | None):
            pairs = [queries]
        low, high = np.zeros((len(pairs), 2), dtype=np.int64), np.tile(self.shape, (len(pairs), 1))
        for row, pair in enumerate(pairs):
            named = isinstance(pair, list | tuple) and len(pair) == 2
            if not named or not all(isinstance(name, str | None) for name in pair):
                raise DataError(
                    f"{pair!r} is not a pair: give (origin, destination), names or None"
                )
            for end, (areas, name) in enumerate(
                zip((self.origins, self.destinations), pair, strict=True)
            ):
                if name is not None:
                    at = row_named(areas, name)
                    low[row, end], high[row, end] = (side[at, 0] for side in areas.intervals)
        return low, high

    def cover(self, nodes: Decomposition, questions: tuple[Int, Int]) -> Cover:
        """The coarsest pairs inside a rectangle of areas, and shares of those that it cuts.

        Only a pair whose parts were not measured is cut. It counts by the share of its pairs of
        finest areas (the uniformity assumption).
        """
        return box_cover(nodes, *questions)

    def columns(
        self, nodes: Decomposition, sums: Sums | None, *, first: bool = True
    ) -> dict[str, Any]:
        """The columns of a file: rows of areas in the first part, then rows of pairs."""
        blocks = []
        for row, areas in ((ORIGIN, self.origins), (DESTINATION, self.to)):
            if areas is not None:
                block = pa.table({"row": pa.array([row] * len(areas)), **areas.stated()})
                blocks.append(block if first else block.slice(0, 0))
        origin, destination = self.ends(nodes)
        pairs = {
            "row": pa.array([PAIR] * len(nodes)),
            ORIGIN: pa.array(origin, pa.int32()),
            DESTINATION: pa.array(destination, pa.int32()),
            "parent": pa.array(nodes.parent, pa.int32()),
            "count": pa.array(nodes.count),
            "variance": pa.array(nodes.variance),
        }
        table = pa.concat_tables([*blocks, pa.table(pairs)], promote_options="default")
        return dict(zip(table.column_names, table.columns, strict=True))

    def facts(self) -> dict[str, Any]:
        """Return the header fields: domain, levels and H3 resolution of the areas of both ends."""
        return self.origins.facts() | {"to": None if self.to is None else self.to.facts()}

    def geo(self) -> dict[str, bytes]:
        """GeoParquet metadata of the polygons."""
        return self.origins.geo()

    @classmethod
    def from_columns(
        cls, table: pa.Table, stated: dict[str, Any], first: Flows | None = None
    ) -> tuple[Flows, Decomposition, Sums | None]:
        """The inverse of :meth:`columns` and :meth:`facts`."""
        row = identifiers(table, "row")
        one, two, pairs = (
            table.filter(arrow.numbers(row == each)) for each in (ORIGIN, DESTINATION, PAIR)
        )
        if first is None:
            other = stated.get("to")
            to = None if other is None else Areas.from_stated(two, other)
            first = cls(Areas.from_stated(one, stated), to)
        origin, destination, parent = (
            whole_numbers(pairs, each) for each in (ORIGIN, DESTINATION, "parent")
        )
        for rows, areas in ((origin, first.origins), (destination, first.destinations)):
            if len(rows) == 0 or rows.min() < 0 or rows.max() >= len(areas):
                raise ReleaseError("a pair names an area that is not in the file")
        estimates = numbers(pairs, "count"), numbers(pairs, "variance")
        return first, first.nodes(origin, destination, parent, *estimates), None

    def rows(self, release: Any, level: str | None = "all", *, shapes: bool = True) -> pd.DataFrame:
        """One row per pair, kind and step, without the sums."""
        table: pd.DataFrame = release.table(level, shapes=shapes, margins=False)
        return table
