"""Counts in regions of any shape: districts, a drawn polygon.

A node inside the region gives its estimate, a leaf cut by its border the share of its area: the
uniformity assumption, as for rectangles. Areas are planar, in the domain's CRS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.errors import DomainError
from dpviz.releases.points.range_count import RangeAnswers, answers_from, sums_of
from dpviz.trees.lattice import Float, Int

if TYPE_CHECKING:
    from dpviz.domain import Domain
    from dpviz.trees.decomposition import Decomposition
    from dpviz.trees.haar import HaarNoise

WHOLE = 1.0 - 1e-9
"""A share of a node's area from which on the node counts as whole: coordinates are floats."""

AREAS = ("Polygon", "MultiPolygon")


@dataclass(frozen=True)
class Regions:
    """Named areas in a domain's CRS.

    Attributes:
        names: of the regions.
        shapes: valid polygons and multipolygons, an object array of shapely geometries.
        inside: the share of each region's area that lies inside the domain.
    """

    names: tuple[str, ...]
    shapes: Any
    inside: Float

    def __len__(self) -> int:
        return len(self.names)


def regions_of(
    shapes: Sequence[Any], domain: Domain, names: Sequence[str] | None = None
) -> Regions:
    """Regions from shapely geometries in the domain's CRS; invalid ones are repaired.

    Raises:
        DomainError: the domain is not 2-D, or a region without area or with infinite coordinates.
    """
    import shapely

    if domain.dims != 2:
        raise DomainError(f"regions need a 2-D release, this one is {domain.dims}-D")
    labels = (
        tuple(names) if names is not None else tuple(str(row + 1) for row in range(len(shapes)))
    )
    valid = np.asarray(shapely.make_valid(np.array(list(shapes), dtype=object)))
    valid = np.array([_areas_of(each) for each in valid], dtype=object)
    area = shapely.area(valid)
    bad = ~np.isfinite(area) | (area <= 0)
    if bad.any():
        name = labels[int(np.flatnonzero(bad)[0])]
        raise DomainError(f"region {name!r} has no area: give polygons")
    frame = shapely.box(*domain.bounds)
    shapely.prepare(frame)
    within = shapely.covers(frame, valid)
    inside = np.ones(len(valid))
    inside[~within] = shapely.area(shapely.intersection(valid[~within], frame)) / area[~within]
    return Regions(labels, valid, inside)


@dataclass(frozen=True)
class RegionCover:
    """The nodes that answer regions, as columns: which region, which node, the share of it."""

    region: Int
    nodes: Int
    fraction: Float


def region_count(
    domain: Domain, nodes: Decomposition, noise: HaarNoise | None, regions: Regions
) -> RangeAnswers:
    """Estimated records in regions.

    Args:
        domain: of a 2-D release.
        nodes: of it.
        noise: the exact noise of their sums, where the release states one.
        regions: see :func:`regions_of`, and ``read_regions`` of ``region_file``. What lies outside
            the domain counts nothing: see their ``inside``.
    """
    cover = region_cover(domain, nodes, regions)
    columns = sums_of(nodes, cover.region, cover.nodes, cover.fraction, len(regions))
    if noise is not None:
        columns[:, 1] = _exact_variance(nodes, noise, cover, len(regions))
    return answers_from(columns)


def _exact_variance(nodes: Decomposition, noise: HaarNoise, cover: RegionCover, n: int) -> Float:
    """Variance of the sum of each of n regions, from the release's own noise."""
    order = np.argsort(cover.region, kind="stable")
    ends = np.cumsum(np.bincount(cover.region, minlength=n))[:-1]
    lo, hi = nodes.lo[cover.nodes], nodes.hi[cover.nodes]
    return np.array(
        [
            noise.of_region(lo[rows], hi[rows], cover.fraction[rows])
            for rows in np.split(order, ends)
        ]
    )


def region_cover(domain: Domain, nodes: Decomposition, regions: Regions) -> RegionCover:
    """The nodes that answer regions: whole ones as high in the tree as may be, and cut leaves."""
    import shapely

    low, high = domain.to_coordinates(nodes.lo), domain.to_coordinates(nodes.hi)
    volume = (high - low).prod(axis=1)
    roots = nodes.levels[0].stop
    region = np.repeat(np.arange(len(regions)), roots)
    node = np.tile(np.arange(roots), len(regions))
    # What is left of a region inside the parent's box: the pieces shrink on the way down.
    piece = regions.shapes[region]
    levels: list[tuple[Int, Int, Float]] = []
    while len(node):
        near = _touching(shapely.bounds(piece), low[node], high[node])
        region, node, piece = region[near], node[near], piece[near]
        piece = shapely.intersection(piece, shapely.box(*low[node].T, *high[node].T))
        share = shapely.area(piece) / volume[node]
        whole = share >= WHOLE
        answered = (share > 0) & (whole | (nodes.n_children[node] == 0))
        levels.append((region[answered], node[answered], np.where(whole, 1.0, share)[answered]))
        opened = (share > 0) & ~answered
        above, below = nodes.children(node[opened])
        region, node, piece = region[opened][above], below, piece[opened][above]
    return RegionCover(*(np.concatenate(column) for column in zip(*levels, strict=True)))


def _touching(bounds: Float, low: Float, high: Float) -> Any:
    """Whether boxes (w, s, e, n) share area with the nodes' ones."""
    return ((bounds[:, :2] < high) & (bounds[:, 2:] > low)).all(axis=1)


def _areas_of(shape: Any) -> Any:
    """The polygons of a geometry: repair may leave lines and points beside them."""
    import shapely

    if shape is None or shape.geom_type in AREAS:
        return shape if shape is not None else shapely.Polygon()
    polygons = [part for part in getattr(shape, "geoms", ()) if part.geom_type in AREAS]
    return shapely.union_all(polygons) if polygons else shapely.Polygon()
