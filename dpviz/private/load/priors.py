"""Read public data that say where records are likely: points, cells, polygons, a release.

Public, so its errors may name what is wrong with it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from filecmp import cmp
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.checks import NUMPY_ERRORS, require, texts
from dpviz.datasets.basemap import FINE_DEGREES, base_map
from dpviz.domain import Domain
from dpviz.errors import DataError, ShapesError
from dpviz.files import arrow
from dpviz.lazy import pa, shapely
from dpviz.private.load.layout import Layout, layout
from dpviz.private.load.points import encoded
from dpviz.private.load.projection import finite_rows, in_crs, srid_of
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.base import Table
from dpviz.private.load.tables.memory import array_points
from dpviz.private.load.tables.opening import open_table
from dpviz.private.load.values import numbers, text_points
from dpviz.releases.counts import CountRelease
from dpviz.releases.points.region_file import opened_shapes, parsed, projected
from dpviz.releases.store import read, stated_kind
from dpviz.trees.lattice import Float
from dpviz.trees.prior import FINEST_LEVEL, LAND, Prior

MAX_CELLS = 10_000_000
"""Most rows of a table, or cells of other sources."""

PLACES = 64
"""Approximate number of grid places in each polygon; fewer where there are many polygons."""

LAND_LEVEL = 9
"""Level of the cells on land."""

Masses = tuple[Float, NDArray[np.int64] | int, Float]
"""Places (m, 2) in the domain's CRS, the level of the cell around each, and its mass."""


@np.errstate(**NUMPY_ERRORS)
def prior(
    source: Any,
    domain: Domain,
    weight: str | ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    crs: str | None = None,
) -> Prior:
    """Read PUBLIC data that say where records are likely, for ``build(…, prior=…)``.

    Examples are last year's published records, addresses, a population grid and an earlier
    release. They must be public, and made and chosen without a look at the private records.

    Args:
        source: a file or table of points, as for :func:`dpviz.load`; of cells, each by a place in
            it and its ``weight``; a file of polygons, whose weights are spread evenly; an array
            (n, 2) in the domain's CRS; a release, or its file; ``"land"``, for records on land.
        domain: the public box of the records.
        weight: name of the column of weights, from 0; for an array, its weights (n,). By default
            each point weighs 1, and a polygon too. Weights in records or inhabitants do best.
        columns: names of the coordinate columns, as for :func:`dpviz.load`.
        crs: CRS of the source, if its file states none and it is not the domain's.

    Raises:
        DataError: it cannot be read; negative or missing weights; nothing inside the domain; or
            more than 10,000,000 cells.

    >>> box = Domain((0, 0), (1, 1))
    >>> prior([[0.1, 0.1], [0.2, 0.1]], box).facts["kind"]
    'points'
    """
    require(domain, Domain, "domain", DataError)
    if domain.dims != 2:
        raise DataError(f"a prior needs two coordinates, the domain has {domain.dims} axes")
    named = None if columns is None else texts(columns, "columns", DataError)
    land = isinstance(source, str) and source == LAND
    path = Path(source) if isinstance(source, str | os.PathLike) and not land else None
    if land and weight is None:
        kind, masses = LAND, _on_land(domain)
    elif (
        land or isinstance(source, CountRelease) or (path and path.is_file() and stated_kind(path))
    ):
        if weight is not None:
            raise DataError("land, or a release, has its own weights: leave the weight out")
        kind, masses = "release", _of_release(read(path) if path else source, domain)
    elif path is None and not hasattr(source, "columns"):
        kind, masses = "points", _of_array(source, domain, weight)
    else:
        require(weight, str | None, "weight", DataError)
        selection = Selection(domain.counts_only, columns=named, crs=crs, public=True)
        kind, masses = _of_table(source, selection, weight if isinstance(weight, str) else None)
    places, level, mass = masses
    if not ((mass >= 0) & (mass < np.inf)).all():  # NaN fails it
        raise DataError("the prior has negative or missing weights: give numbers from 0")
    inside = domain.contains(places) & (mass > 0)
    if not inside.any():
        raise DataError(
            "the prior has no mass inside the bounds: check its coordinates, their order and CRS"
        )
    codes = encoded(domain, places[inside])
    level = np.broadcast_to(level, inside.shape)[inside]
    digest = hashlib.sha256(codes.tobytes() + mass[inside].tobytes())
    if path is not None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
    bounds = [*domain.lower, *domain.upper]
    facts = {"kind": kind, "sha256": digest.hexdigest(), "bounds": bounds, "crs": domain.crs}
    facts |= {"weight": weight} if isinstance(weight, str) else {}
    return Prior.of_cells(codes, level, mass[inside], domain.bits, facts)


def refuse_own_records(source: Path, records: Path) -> None:
    """Refuse a prior that is the records themselves; only their owner sees this message."""
    files = source.is_file() and records.is_file()
    if files and (source.samefile(records) or cmp(source, records, shallow=False)):
        raise DataError(
            f"{source.name} holds the records themselves: a prior must be PUBLIC, leave it out"
        )


def _on_land(domain: Domain) -> Masses:
    """Cells whose middles are on land, by the bundled shapes; each weighs 1."""
    side = 1 << LAND_LEVEL
    step = (np.indices((side, side)).reshape(2, -1).T + 0.5) / side
    places = domain.lower + step * _widths(domain)
    degrees = in_crs(places, domain.crs, "EPSG:4326")
    places, degrees = (each[finite_rows(degrees)] for each in (places, degrees))
    box = *degrees.min(axis=0).tolist(), *degrees.max(axis=0).tolist()
    shapes = base_map(box, fine=max(np.subtract(box[2:], box[:2])) <= FINE_DEGREES)["features"]
    land, water = (shapely.from_geojson(json.dumps(shape["geometry"])) for shape in shapes[:2])
    on_land = shapely.contains_xy(land, *degrees.T) & ~shapely.contains_xy(water, *degrees.T)
    return places[on_land], LAND_LEVEL, np.ones(int(on_land.sum()))


def _of_array(points: ArrayLike, domain: Domain, weight: Any) -> Masses:
    """Masses of points in memory."""
    places = array_points(points, domain)
    _check_size(len(places))
    mass = np.ones(len(places)) if weight is None else np.asarray(weight)
    if mass.shape != (len(places),) or mass.dtype.kind not in "iuf":
        raise DataError(f"weights of an array of {len(places):,} points: give one number for each")
    return places, FINEST_LEVEL, mass.astype(np.float64)


def _of_table(source: Any, chosen: Selection, weight: str | None) -> tuple[str, Masses]:
    """Points or cells of a table; polygons where no geometry is a point."""
    domain, crs = chosen.box("prior"), chosen.crs
    try:
        table = open_table(source)
        how = layout(table, chosen)
        places, mass = _placed(table, how, weight)
        shapes, crs = not how.columns and not len(places), how.crs
    except ShapesError:  # its schema says so
        shapes = True
    if shapes and isinstance(source, str | os.PathLike):
        bounds = [*domain.lower, *domain.upper]
        how_read = bounds, crs or domain.crs, domain.crs, weight
        inside = parsed(f"{__name__}:polygon_places", source, *how_read)
        x, y, level, mass = (arrow.number_array(inside[name]) for name in inside.column_names)
        return "polygons", (np.column_stack([x, y]), level.astype(np.int64), mass)
    if shapes:
        raise DataError("polygons in memory cannot be a prior: write them to a file")
    places = in_crs(places, how.crs, domain.crs)
    return "points" if weight is None else "cells", (places, FINEST_LEVEL, mass)


def _placed(table: Table, how: Layout, weight: str | None) -> tuple[Float, Float]:
    """Places (m, 2) of a table's rows, without rows that have none, and their masses."""
    places, masses, rows = [np.empty((0, 2))], [np.empty(0)], 0
    srid = srid_of(how.crs) if len(how.columns) == 1 else None
    wanted = [*how.columns] if weight is None else [*how.columns, weight]
    for block in table.blocks(list(dict.fromkeys(wanted)), geometry=not how.columns):
        rows += block.rows
        _check_size(rows)
        if block.places is not None:
            points = block.places
        elif len(how.columns) == 1:
            name = how.columns[0]
            points = text_points(block.columns[name], name, how.notation, srid)
        else:
            axes = [numbers(block.columns[name], name, how.notation) for name in how.columns]
            points = np.stack(axes).T
        mass = np.ones(len(points))
        if weight is not None:
            mass = numbers(block.columns[weight], weight, how.notation)
        placed = finite_rows(points)
        places.append(points[placed])
        masses.append(mass[placed])
    return np.concatenate(places), np.concatenate(masses)


def _of_release(release: Any, domain: Domain) -> Masses:
    """Leaves of a release of points, each as a cell of its size around its middle."""
    if not isinstance(release, CountRelease) or release.kind != "points":
        raise DataError("as a prior, give a release of points without kinds")
    first, nodes = release.domain, release.nodes
    if first.dims != 2:
        raise DataError(f"a prior needs a release in two dimensions, not in {first.dims}")
    rows = np.flatnonzero(nodes.leaf & (nodes.count > 0))
    low, high = nodes.lo[rows], nodes.hi[rows]
    share = (high - low) / first.side
    if first.crs == domain.crs:
        share *= _widths(first) / _widths(domain)
    places = in_crs(first.to_coordinates((low + high) / 2), first.crs, domain.crs)
    return places, _levels(share.min(axis=1)), nodes.count[rows]


def polygon_places(
    path: str, bounds: list[float], source: str, target: str, weight: str | None
) -> Any:
    """Places inside a file's polygons, a table of x, y, level, mass; runs in the child process."""
    shapes, words, stated = opened_shapes(path, [weight] if weight else ())
    shapes = projected(shapes, stated or source, target)
    weights = [1.0] * len(shapes) if weight is None else words[weight]
    wide = np.sqrt(np.prod(np.subtract(bounds[2:], bounds[:2])))
    many = min(max(MAX_CELLS // (8 * len(shapes)), 4), PLACES)
    columns: list[Any] = []
    for shape, given in zip(shapes, weights, strict=True):
        mass = float(given) if isinstance(given, int | float) else np.nan
        low, high = np.split(np.array(shapely.bounds(shape)), 2)
        if not shapely.area(shape) > 0:
            continue
        # Grid spacing that puts about this many places into the polygon.
        side = np.sqrt(shapely.area(shape) / many)
        cells = np.clip(np.ceil((high - low) / side), 1, 16 * many).astype(np.int64)
        step = (np.indices(tuple(cells)).reshape(2, -1).T + 0.5) / cells
        places = low + step * (high - low)
        places = places[shapely.contains_xy(shape, *places.T)]
        if not len(places):
            places = np.array([shapely.point_on_surface(shape).coords[0]])
        level = _levels(side / wide)
        part = np.full(len(places), mass / len(places))
        columns.append((*places.T, np.broadcast_to(level, len(places)), part))
    merged = map(np.concatenate, zip(*columns, strict=True)) if columns else [np.empty(0)] * 4
    return pa.table(dict(zip(("x", "y", "level", "mass"), merged, strict=True)))


def _widths(domain: Domain) -> Float:
    return np.subtract(domain.upper, domain.lower)


def _levels(share: ArrayLike) -> NDArray[np.int64]:
    """Levels of cells of about these shares of the domain's side, at most the finest."""
    return np.clip(np.rint(-np.log2(share)), 0, FINEST_LEVEL).astype(np.int64)


def _check_size(cells: int) -> None:
    if cells > MAX_CELLS:
        raise DataError(f"a prior of more than {MAX_CELLS:,} cells: give coarser ones")
