"""Counts in regions of any shape: districts, a drawn polygon.

A node inside the region gives its estimate, a leaf cut by its border the share of its area: the
uniformity assumption, as for rectangles. Areas are planar, in the domain's CRS.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import DomainError
from dpviz.files import limits
from dpviz.lazy import shapely
from dpviz.releases.points.range_count import Cover, sums_of
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int

WHOLE_SHARE = 1.0 - 1e-9
"""Share of a node's area from which the node counts as whole, as coordinates are rounded."""

AREAS = ("Polygon", "MultiPolygon")


@dataclass(frozen=True)
class Regions:
    """Named areas in a domain's CRS.

    Attributes:
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

    One geometry is one region. A table or a column of geopandas that states its CRS is put into
    the domain's.

    Raises DomainError: the domain is not 2-D, the name of a file, or a region without area or with
    infinite coordinates.
    """
    if domain.dims != 2:
        raise DomainError(f"regions need a 2-D release, this one is {domain.dims}-D")
    if isinstance(shapes, (str, os.PathLike)):
        raise DomainError(
            f"regions {str(shapes)!r}: give polygons of shapely, or the table that "
            "geopandas.read_file makes of a file"
        )
    given: Any = getattr(shapes, "geometry", shapes)
    if getattr(given, "crs", None) is not None and hasattr(given, "to_crs") and domain.crs:
        given = given.to_crs(domain.crs)
    given = list(given) if isinstance(given, Iterable) else [given]
    labels = tuple(names) if names is not None else tuple(str(row + 1) for row in range(len(given)))
    whole = np.array([each if _is_finite(each) else None for each in given], dtype=object)
    valid = np.array([polygonal(each) for each in shapely.make_valid(whole)], dtype=object)
    area = shapely.area(valid)
    bad = ~np.isfinite(area) | (area <= 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DomainError(
            f"region {labels[row]!r}, number {row + 1} of {len(valid):,}, has no area: all must be "
            "polygons, so leave out points, lines and rows without a shape"
        )
    frame = shapely.box(*domain.bounds)
    shapely.prepare(frame)
    within = shapely.covers(frame, valid)
    inside = np.ones(len(valid))
    inside[~within] = shapely.area(shapely.intersection(valid[~within], frame)) / area[~within]
    return Regions(labels, valid, inside)


def _is_finite(shape: Any) -> bool:
    """Return whether an object is a geometry with finite coordinates only."""
    known = isinstance(shape, shapely.Geometry)
    return known and bool(np.isfinite(shapely.get_coordinates(shape)).all())


def region_sums(nodes: Decomposition, noise: HaarNoise | None, cover: Cover) -> Float:
    """Sums over the nodes of a region's cover, float64 (q, 4); nothing outside them counts."""
    columns = sums_of(nodes, noise, cover)
    if noise is not None:
        columns[:, 1] = _exact_variance(nodes, noise, cover)
    return columns


def _exact_variance(nodes: Decomposition, noise: HaarNoise, cover: Cover) -> Float:
    """Noise variance of the sum of each region, from the release's noise model."""
    order = np.argsort(cover.query, kind="stable")
    ends = np.cumsum(np.bincount(cover.query, minlength=cover.queries))[:-1]
    lo, hi = nodes.lo[cover.node], nodes.hi[cover.node]
    return np.array(
        [noise.of_region(lo[rows], hi[rows], cover.share[rows]) for rows in np.split(order, ends)]
    )


def region_cover(domain: Domain, nodes: Decomposition, regions: Regions) -> Cover:
    """Nodes that answer regions: whole nodes as large as possible, and cut leaves.

    Raises DataError: more vertices would have to be cut by cells than the limits allow.
    """
    low, high = domain.to_coordinates(nodes.lo), domain.to_coordinates(nodes.hi)
    volume = (high - low).prod(axis=1)
    roots = nodes.levels[0].stop
    work = int(shapely.get_num_coordinates(regions.shapes).sum())
    region, node = (
        np.repeat(np.arange(len(regions)), roots),
        np.tile(np.arange(roots), len(regions)),
    )
    shape = regions.shapes[region]
    answers: list[tuple[Int, Int, Float]] = [(region[:0], node[:0], np.empty(0))]
    while len(node):
        bounds = shapely.bounds(shape)
        near = ((bounds[:, :2] < high[node]) & (bounds[:, 2:] > low[node])).all(axis=1)
        region, node, shape, bounds = (each[near] for each in (region, node, shape, bounds))
        work += len(node) + int(shapely.get_num_coordinates(shape).sum())
        limits.CUTS.check(work, "the list of regions")
        within = ((bounds[:, :2] >= low[node]) & (bounds[:, 2:] <= high[node])).all(axis=1)
        sides = np.hstack([low[node], high[node]])[~within].tolist()
        # Linear in the vertices: a general overlay is quadratic for shapes with many spikes.
        pieces = map(shapely.clip_by_rect, shape[~within], *zip(*sides, strict=True))
        shape[~within] = np.array([*pieces, None], dtype=object)[:-1]
        share = shapely.area(shape) / volume[node]
        whole = share >= WHOLE_SHARE
        done = (share > 0) & (whole | (nodes.n_children[node] == 0))
        answers.append((region[done], node[done], np.where(whole, 1.0, share)[done]))
        # Each region is clipped to the parent's box: pieces get smaller on the way down.
        opened = np.flatnonzero((share > 0) & ~done)
        above, node_below = nodes.children(node[opened])
        region, shape, node = region[opened][above], shape[opened][above], node_below
    region, at, part = (np.concatenate(column) for column in zip(*answers, strict=True))
    return Cover(region, at, part, len(regions))


def polygonal(shape: Any) -> Any:
    """Keep the polygons of a geometry; repair may add lines and points."""
    if shape is None or shape.geom_type in AREAS:
        return shape if shape is not None else shapely.Polygon()
    polygons = [part for part in getattr(shape, "geoms", ()) if part.geom_type in AREAS]
    return shapely.union_all(polygons) if polygons else shapely.Polygon()
