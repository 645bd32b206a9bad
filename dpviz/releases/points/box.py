"""Box: the public frame of a release of points, saved as GeoParquet with a row per node."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.domain.calendar import SECONDS
from dpviz.domain.crs import DEGREES, axis_names, known_crs
from dpviz.errors import ReleaseError
from dpviz.files import arrow
from dpviz.lazy import geopandas, pa, pd, shapely
from dpviz.releases.files import geo_metadata, numbers
from dpviz.releases.frame import Frame
from dpviz.releases.points.range_count import Cover, box_cover, box_sums, shared_variance
from dpviz.releases.points.region_count import Regions, region_cover, region_sums
from dpviz.releases.points.sums import Sums
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import grid_tree, rectangle_tree
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int, grid_edges

CELLS = 64
"""Cells per side of the grid that maps all parts if their cells together form no tree."""

Boxes = tuple[Int, Int]
"""Lattice boxes [lo, hi), (q, dims) each."""


@dataclass(frozen=True)
class Box(Frame):
    """A box of space, and of time, whose nodes are boxes of its lattice."""

    domain: Domain
    kind: ClassVar[str] = "points"
    NEEDED = ("lo", "hi", "parent", "count", "variance", "assumed", "sum", "sum_variance")
    FACTS = ("domain",)

    def check(self, nodes: Decomposition) -> None:
        """Refuse nodes with other dimensions than the domain, or outside its lattice."""
        if nodes.dims != self.domain.dims:
            raise ReleaseError(f"{nodes.dims}-D nodes in a {self.domain.dims}-D domain")
        if (nodes.lo < 0).any() or (nodes.hi > self.domain.side).any():
            raise ReleaseError("nodes outside the domain's lattice")

    def questions(self, queries: Any, period: Any = None) -> Boxes | Regions:
        """Lattice boxes of rectangles; regions are returned unchanged."""
        if isinstance(queries, Regions):
            return queries
        if period is not None or self.domain.time is not None:
            queries = self.domain.query_boxes(queries, period)
        return self.domain.boxes(queries)

    def cover(self, nodes: Decomposition, questions: Boxes | Regions) -> Cover:
        """The nodes that answer boxes or regions, and the share of each."""
        if isinstance(questions, Regions):
            return region_cover(self.domain, nodes, questions)
        return box_cover(nodes, *questions)

    def sums(
        self, nodes: Decomposition, noise: HaarNoise | None, questions: Boxes | Regions
    ) -> Float:
        """Sums over the nodes that answer, float64 (q, 4); boxes use a compiled walk."""
        if isinstance(questions, Regions):
            return region_sums(nodes, noise, self.cover(nodes, questions))
        return box_sums(nodes, noise, *questions, day_steps(self.domain))

    def noise(self, stated: dict[str, Any], nodes: Decomposition) -> HaarNoise | None:
        """Exact wavelet noise of sums of nodes, if the header states one; else None."""
        return HaarNoise.from_facts(stated, self.domain.side, nodes.lo, nodes.hi)

    def common_nodes(self, release: Any) -> Decomposition:
        """Nodes for a map of a release whose parts have different nodes.

        In 2-D a tree of the boxes of all parts if those nest, otherwise a grid; in more dimensions
        the trees of all parts side by side.
        """
        every: Decomposition = release.joined_nodes
        if self.domain.dims != 2:
            return every
        seen = rectangle_tree(np.hstack([every.lo, every.hi]), every.parent.astype(np.int64))
        nodes = even_grid(self.domain.side) if seen is None else outlines(*seen)
        answers = release.count_boxes(nodes.lo, nodes.hi)
        shared = shared_variance(every, every.variance, nodes.lo, nodes.hi)
        variance = np.maximum(shared, answers.noise_sd**2)
        assumed = None if every.assumed is None else answers.uniformity_sd**2
        return Decomposition(nodes.lo, nodes.hi, nodes.parent, answers.count, variance, assumed)

    def columns(
        self, nodes: Decomposition, sums: Sums | None, *, first: bool = True
    ) -> dict[str, Any]:
        """One row per node, breadth-first; in 2-D GeoParquet 1.1 with a rectangle per node."""
        columns = {}
        if self.domain.without_time.dims == 2:
            columns["geometry"] = _rectangles_wkb(self.domain, nodes)
        columns |= {name: pa.array(each) for name, each in times(self.domain, nodes).items()}
        for name in ("lo", "hi"):
            flat = arrow.numbers(getattr(nodes, name).ravel())
            columns[name] = pa.FixedSizeListArray.from_arrays(flat, self.domain.dims)
        for name in ("level", "parent", "first_child", "n_children", "leaf", "count", "variance"):
            columns[name] = arrow.numbers(getattr(nodes, name))
        if nodes.assumed is not None:
            columns["assumed"] = arrow.numbers(nodes.assumed)
        return columns if sums is None else columns | sums.columns

    def facts(self) -> dict[str, Any]:
        """Return the header field of the domain."""
        return {"domain": self.domain.to_dict()}

    def geo(self) -> dict[str, bytes]:
        """GeoParquet metadata; empty unless the place has two axes."""
        place = self.domain.without_time
        if place.dims != 2:
            return {}
        return {"geo": geo_metadata(["Polygon"], self.domain.crs, place.bounds)}

    @classmethod
    def from_columns(
        cls, table: pa.Table, stated: dict[str, Any], first: Box | None = None
    ) -> tuple[Box, Decomposition, Sums | None]:
        """The inverse of :meth:`columns` and :meth:`facts`."""
        domain = Domain.from_dict(stated["domain"]) if first is None else first.domain
        boxes = {name: numbers(table, name, domain.dims) for name in ("lo", "hi")}
        columns = {name: numbers(table, name) for name in ("parent", "count", "variance")}
        if "assumed" in table.column_names:
            columns["assumed"] = numbers(table, "assumed")
        return cls(domain), Decomposition(**boxes, **columns), Sums.from_columns(table, domain)

    def rows(self, release: Any, level: str | None = "all", *, shapes: bool = True) -> pd.DataFrame:
        """One row per cell: rectangle or limits, level, count, noise sd; also times and sums.

        Raises ReleaseError: shapes of a release that is not 2-D.
        """
        domain, nodes = self.domain, release.nodes
        if shapes and domain.without_time.dims != 2:
            raise ReleaseError(
                f"a {domain.dims}-D release has no rectangles on a map: export it as .csv"
            )
        ends = {"min": domain.to_coordinates(nodes.lo), "max": domain.to_coordinates(nodes.hi)}
        names = ("level", "parent", "leaf", "count", "variance") if shapes else ("level", "count")
        columns: dict[str, Any] = {name: getattr(nodes, name) for name in names}
        columns |= {"noise_sd": np.sqrt(nodes.variance)} | times(domain, nodes)
        if release.sums is not None:
            columns |= {"sum": release.sums.sum, "sum_sd": np.sqrt(release.sums.variance)}
        if shapes:
            rectangles = shapely.box(*ends["min"].T[:2], *ends["max"].T[:2])
            crs = known_crs(domain.crs)
            made = geopandas.GeoDataFrame(columns, geometry=rectangles, crs=crs)
        else:
            limits = {
                f"{name}_{end}": each[:, axis]
                for end, each in ends.items()
                for axis, name in enumerate(axis_names(domain)[: domain.without_time.dims])
            }
            made = pd.DataFrame(limits | columns | stated_crs(domain))
        rows: pd.DataFrame = made[nodes.leaf] if level is None else made
        return rows


def outlines(corners: Int, parent: Int) -> Decomposition:
    """A tree of rectangles without counts, from lower and upper corners (n, 4)."""
    none = np.zeros(len(corners))
    return Decomposition(corners[:, :2], corners[:, 2:], parent, none, none)


def day_steps(domain: Domain) -> float:
    """Lattice steps of a day along the last axis; infinite if that is not time."""
    if domain.time is None:
        return math.inf
    start, end = domain.period
    return domain.side * SECONDS["d"] / (end - start)


def even_grid(side: int, cells: int = CELLS) -> Decomposition:
    """A grid over a 2-D lattice without counts, with this many cells per side."""
    none = np.zeros((cells, cells))
    return grid_tree([grid_edges(side, cells)] * 2, none, none)


def stated_crs(domain: Domain) -> dict[str, str]:
    """A column with the CRS, unless it is in degrees, for formats that cannot state it."""
    return {} if domain.crs == DEGREES else {"crs": domain.crs}


def times(domain: Domain, nodes: Decomposition) -> dict[str, NDArray[Any]]:
    """Start ``t0`` and end ``t1`` of each node: UTC in ms, of a cycle hours; or empty."""
    if domain.time is None:
        return {}
    ends = {"t0": domain.to_coordinates(nodes.lo), "t1": domain.to_coordinates(nodes.hi)}
    return {name: on_axis(each[:, -1], domain.cycle) for name, each in ends.items()}


def on_axis(seconds: Float, cycle: str | None) -> NDArray[Any]:
    """Positions on the time axis as files hold them: milliseconds, or hours of a cycle."""
    return np.rint(seconds * 1e3).astype("datetime64[ms]") if cycle is None else seconds / 3_600


def _rectangles_wkb(domain: Domain, nodes: Decomposition) -> pa.BinaryArray:
    """Well-known binary of the node rectangles, counter-clockwise, without shapely.

    At most 8 million nodes of 93 bytes: offsets of 32 bits suffice.
    """
    low = domain.to_coordinates(nodes.lo)
    high = domain.to_coordinates(nodes.hi)
    ring = np.dtype(
        [
            ("order", "u1"),
            ("kind", "<u4"),
            ("rings", "<u4"),
            ("points", "<u4"),
            ("xy", "<f8", (5, 2)),
        ]
    )
    rows = np.zeros(len(low), dtype=ring)
    rows["order"], rows["kind"], rows["rings"], rows["points"] = 1, 3, 1, 5
    west, south, east, north = low[:, 0], low[:, 1], high[:, 0], high[:, 1]
    for corner, (x, y) in enumerate(
        [(west, south), (east, south), (east, north), (west, north), (west, south)]
    ):
        rows["xy"][:, corner, 0], rows["xy"][:, corner, 1] = x, y
    # All values have the same length, so that no bytes need to be copied.
    ends = np.arange(len(rows) + 1, dtype=np.int64) * ring.itemsize
    packed = pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(rows)
    return pa.Array.from_buffers(pa.binary(), len(rows), [None, *packed])
