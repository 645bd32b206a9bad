"""Areas: a public partition of a box into polygons or hexagons, and the hierarchy above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpviz.checks import require, texts
from dpviz.domain import Domain
from dpviz.errors import DataError, ReleaseError
from dpviz.files import limits
from dpviz.lazy import shapely
from dpviz.releases.areas.cell_ids import cells_at, numbers_of
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import level_slices
from dpviz.trees.lattice import Float, Int

MOST_LEVELS = 16
"""Levels of a hierarchy: those of H3, resolutions 0 to 15."""

BATCH = 1 << 18
"""Places that are looked up at once."""


@dataclass(frozen=True, eq=False, repr=False)
class Areas:
    """A public partition and the areas that it adds up to, in breadth-first order.

    Everything is chosen without looking at records: polygons of a file, or hexagons.

    Attributes:
        domain: the public box (2-D) that records are read in; the areas lie in it.
        levels: what the areas of each level are called, the finest last.
        names: of all areas, coarsest first; unique among the children of one area.
        parent: row of the area above each, int64 (n,); −1 on the first level.
        shapes: polygons of the finest areas in the domain's CRS, objects (leaves,). They share
            borders at most; what is in none of them is in no area.
        resolution: of H3, whose cells the finest areas are by id; None for polygons of a file.

    Raises:
        ReleaseError: names, parents and shapes that do not fit each other.
    """

    domain: Domain
    levels: tuple[str, ...]
    names: tuple[str, ...]
    parent: Int
    shapes: NDArray[np.object_]
    resolution: int | None = None

    def __post_init__(self) -> None:
        require(self.domain, Domain, "domain", ReleaseError)
        for name in ("levels", "names"):
            object.__setattr__(self, name, texts(getattr(self, name), name, ReleaseError))
        for name in ("parent", "shapes"):
            require(getattr(self, name), np.ndarray, name, ReleaseError)
        n = len(self.names)
        if not 1 <= len(self.levels) <= MOST_LEVELS:
            raise ReleaseError(f"{len(self.levels)} levels of areas: give 1 to {MOST_LEVELS}")
        if self.domain.dims != 2:
            raise ReleaseError(f"areas in {self.domain.dims} dimensions: they are polygons")
        if self.parent.shape != (n,) or n == 0:
            raise ReleaseError(f"{len(self.parent)} parents for {n} areas")
        late = self.parent >= np.arange(n)
        if (np.diff(self.parent) < 0).any() or late.any() or self.parent[0] != -1:
            raise ReleaseError("areas are not in breadth-first order")
        slices = level_slices(self.parent, MOST_LEVELS + 1)
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
    def first_leaf(self) -> int:
        """Row of the first of the finest areas; the others follow it."""
        return int(self.slices[-1].start)

    @property
    def leaves(self) -> int:
        """How many finest areas there are."""
        return len(self) - self.first_leaf

    def rows(self, level: str | None = None) -> slice:
        """Rows of a level by its name; of the finest by default.

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
        """The name of each area's level, objects (n,)."""
        sizes = [part.stop - part.start for part in self.slices]
        return np.repeat(np.array(self.levels, dtype=object), sizes)

    @property
    def parent_names(self) -> list[str | None]:
        """The name of the area above each; None on the first level."""
        return [self.names[row] if row >= 0 else None for row in self.parent.tolist()]

    def ancestors(self, depth: int) -> Int:
        """Row of the area on a level (0 is the coarsest) that each of the finest is in."""
        rows = np.arange(self.first_leaf, len(self))
        for _ in range(len(self.levels) - 1 - depth):
            rows = self.parent[rows]
        return rows

    def totals(self, leaves: Int) -> Int:
        """Whole numbers of the finest areas added up to all of them, int64 (n,)."""
        totals: Int = np.zeros(len(self), dtype=np.int64)
        totals[self.first_leaf :] = leaves
        for part in self.slices[:0:-1]:
            np.add.at(totals, self.parent[part], totals[part])
        return totals

    @cached_property
    def surface(self) -> Float:
        """Planar area of each, in the domain's CRS, float64 (n,)."""
        above = np.zeros(self.first_leaf)
        return sum_up(self.parent, np.concatenate([above, shapely.area(self.shapes)]))

    def outlines(self, level: str | None = None) -> NDArray[np.object_]:
        """Polygons of a level: of coarser ones, the finest areas in each together.

        Raises:
            DataError: no such level.
        """
        part = self.rows(level)
        if part == self.slices[-1]:
            return self.shapes
        owner = self.ancestors(self.slices.index(part))
        return np.array(
            [shapely.union_all(self.shapes[owner == row]) for row in range(part.start, part.stop)],
            dtype=object,
        )

    def located(self, places: Float) -> Int:
        """Which of the finest areas each place is in, by number; −1 for none.

        A place on a border is in the area of the lowest number among those that it touches: that
        follows from the place alone. Of H3 the library says in which cell a place is.

        Args:
            places: coordinates in the domain's CRS, shape (n, 2).
        """
        if self.resolution is not None:
            wanted = cells_at(places, self.domain.crs, self.resolution)
            ids, number = self._cells
            at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
            return np.where(ids[at] == wanted, number[at], -1)
        rows = [self._touched(places[at : at + BATCH]) for at in range(0, len(places), BATCH)]
        return np.concatenate([np.empty(0, dtype=np.int64), *rows])

    def _touched(self, places: Float) -> Int:
        none = self.leaves
        lowest: Int = np.full(len(places), none, dtype=np.int64)
        area, place = shapely.STRtree(shapely.points(places)).query(self.shapes, "intersects")
        np.minimum.at(lowest, place, area)
        return np.where(lowest == none, -1, lowest)

    @cached_property
    def _cells(self) -> tuple[NDArray[np.uint64], Int]:
        """Ids of H3 of the finest areas, ascending, and the number of each."""
        ids = numbers_of(self.names[self.first_leaf :])
        order = np.argsort(ids, kind="stable")
        return ids[order], order


def hierarchy(paths: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[Int, list[str], Int]:
    """Breadth-first areas from the names of each finest one and of those above it.

    Args:
        paths: of each finest area, a name for each level, coarsest first.
        names: of the levels.

    Returns:
        Which path each finest area stands for, in order; names of all areas; row of each parent.

    Raises:
        DataError: two finest areas of one name in the same area.

    >>> hierarchy([("N", "a"), ("S", "b"), ("N", "c")], ("side", "ward"))[1:]
    (['N', 'S', 'a', 'c', 'b'], array([-1, -1,  0,  0,  1]))
    """
    depth = len(names)
    ranks: list[dict[tuple[str, ...], int]] = [{} for _ in names]
    for path in paths:
        for level, rank in enumerate(ranks):
            rank.setdefault(tuple(path[: level + 1]), len(rank))
    order = sorted(
        range(len(paths)),
        key=lambda row: [ranks[at][tuple(paths[row][: at + 1])] for at in range(depth)],
    )
    if len(ranks[-1]) != len(paths):
        ((twice, _),) = Counter(map(tuple, paths)).most_common(1)
        raise DataError(
            f"two areas are called {twice[-1]!r}: dissolve them, or name areas by another column"
        )
    above: dict[tuple[str, ...], int] = {(): -1}
    rows: list[str] = []
    parent: list[int] = []
    for level in range(depth):
        prefixes = dict.fromkeys(tuple(paths[row][: level + 1]) for row in order)
        numbered = {prefix: len(rows) + at for at, prefix in enumerate(prefixes)}
        rows += [prefix[-1] for prefix in prefixes]
        parent += [above[prefix[:-1]] for prefix in prefixes]
        above = numbered
    limits.REGIONS.check(len(rows), "the list of areas")
    return np.array(order), rows, np.array(parent)
