"""Read public data that say where records are likely: points, cells, polygons, a release.

Public, so its errors may name what is wrong with it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from filecmp import cmp
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.checks import NUMPY_ERRORS, require, texts
from dpviz.datasets.basemap import FINE_DEGREES, base_map
from dpviz.domain import Domain
from dpviz.domain.attributes import Values
from dpviz.errors import DataError, ShapesError
from dpviz.files import arrow
from dpviz.lazy import pa, shapely
from dpviz.private.load.points import encoded, read_records
from dpviz.private.load.projection import finite_rows, in_crs
from dpviz.private.load.selection import Selection
from dpviz.private.load.tables.memory import array_points
from dpviz.private.load.tally import Fact
from dpviz.releases.counts import CountRelease
from dpviz.releases.points.region_file import opened_shapes, parsed, projected
from dpviz.releases.store import read, stated_kind
from dpviz.trees.lattice import Float
from dpviz.trees.prior import FINEST_LEVEL, LAND, Prior

MAX_CELLS = 10_000_000
"""Most cells of a prior."""

LAND_CELLS = 512
"""Cells of land per side of the domain."""

POLYGON_CELLS = 2_000_000
"""Approximate number of cells of all polygons together, at most 32 per side of each one's box."""

NO_WEIGHT = "the prior has negative or missing weights: give numbers from 0"

Cells = tuple[str, Float, Float, Float]
"""Kind of source; places (m, 2) in the domain's CRS; area and mass of the cell around each."""


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
    land = isinstance(source, str) and source == LAND
    path = Path(source) if isinstance(source, str | os.PathLike) and not land else None
    if path is not None and path.is_file() and stated_kind(path):
        source = read(path)
    if land or isinstance(source, CountRelease):
        if weight is not None:
            raise DataError("land, or a release, has its own weights: leave the weight out")
        kind, places, area, mass = _of_land(domain) if land else _of_release(source, domain)
    elif path is None and not hasattr(source, "columns"):
        kind, places, area, mass = _of_array(source, domain, weight)
    else:
        require(weight, str | None, "weight", DataError)
        named = None if columns is None else texts(columns, "columns", DataError)
        kind, places, area, mass = _of_table(source, domain, weight, named, crs)
    if len(places) > MAX_CELLS:
        raise DataError(f"a prior of more than {MAX_CELLS:,} cells: give coarser ones")
    if not ((mass >= 0) & (mass < np.inf)).all():  # NaN fails it
        raise DataError(NO_WEIGHT)
    inside = domain.contains(places) & (mass > 0)
    if not inside.any():
        raise DataError(
            "the prior has no mass inside the bounds: check its coordinates, their order and CRS"
        )
    codes, mass = encoded(domain, places[inside]), mass[inside].astype(np.float64)
    share = area[inside] / np.prod(np.subtract(domain.upper, domain.lower))
    halvings = np.rint(np.log2(np.clip(share, 4.0**-FINEST_LEVEL, 1.0)) / 2)
    digest = hashlib.sha256(codes.tobytes() + mass.tobytes())
    if path is not None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
    facts = {"kind": kind, "sha256": digest.hexdigest()}
    facts |= {"weight": weight} if isinstance(weight, str) else {}
    frame = domain.lower, domain.upper, domain.crs
    return Prior.of_cells(codes, 4.0 ** (domain.bits + halvings), mass, frame, facts)


def refuse_own_records(source: Path, records: Path) -> None:
    """Refuse a prior that is the records themselves; only their owner sees this message."""
    if source.is_file() and records.is_file() and cmp(source, records, shallow=False):
        raise DataError(
            f"{source.name} holds the records themselves: a prior must be PUBLIC, leave it out"
        )


def _of_release(release: CountRelease[Any], domain: Domain) -> Cells:
    first, nodes = release.domain, release.nodes
    if release.kind != "points" or first.dims != 2:
        raise DataError("as a prior, give a release of points in two dimensions, without kinds")
    leaf = nodes.leaf & (nodes.count > 0)
    corners = (first.to_coordinates(column[leaf]) for column in (nodes.lo, nodes.hi))
    low, high = (in_crs(each, first.crs, domain.crs) for each in corners)
    return "release", (low + high) / 2, (high - low).prod(axis=1), nodes.count[leaf]


def _of_land(domain: Domain) -> Cells:
    """Cells whose middles are on land, by the bundled shapes; each weighs 1."""
    places = _grid([domain.bounds], LAND_CELLS)[0]
    degrees = in_crs(places, domain.crs, "EPSG:4326")
    places, degrees = (each[finite_rows(degrees)] for each in (places, degrees))
    box = *degrees.min(axis=0).tolist(), *degrees.max(axis=0).tolist()
    shapes = base_map(box, fine=max(np.subtract(box[2:], box[:2])) <= FINE_DEGREES)["features"]
    land, water = (shapely.from_geojson(json.dumps(shape["geometry"])) for shape in shapes[:2])
    dry = shapely.contains_xy(land, *degrees.T) & ~shapely.contains_xy(water, *degrees.T)
    one, whole = np.ones(int(dry.sum())), np.subtract(domain.upper, domain.lower).prod()
    return LAND, places[dry], whole / LAND_CELLS**2 * one, one


def _of_array(points: ArrayLike, domain: Domain, weight: Any) -> Cells:
    places = array_points(points, domain)
    mass = np.ones(len(places)) if weight is None else np.asarray(weight)
    if mass.shape != (len(places),) or mass.dtype.kind not in "iuf":
        raise DataError(f"weights of {len(places):,} points: give one number for each")
    return "points", places, np.zeros(len(places)), mass


def _of_table(source: Any, domain: Domain, weight: Any, columns: Any, crs: str | None) -> Cells:
    """Points or cells of a table; polygons where no geometry is a point."""
    values = Values(weight, 0.0, 1.0) if weight is not None else None  # never clipped
    box = replace(domain.counts_only, values=values)
    try:
        records = read_records(source, Selection(box, columns=columns, crs=crs, public=True))
    except ShapesError:
        if not isinstance(source, str | os.PathLike):
            raise
        task = f"{__name__}:polygon_places"
        table = parsed(task, source, crs or domain.crs, domain.crs, weight)
        x, y, area, mass = (arrow.number_array(column) for column in table.columns)
        return "polygons", np.column_stack([x, y]), area, mass
    if records.counts[Fact.NO_VALUE]:
        raise DataError(NO_WEIGHT)
    mass = np.ones(len(records.points)) if records.value is None else records.value
    return "cells" if weight else "points", records.points, np.zeros(len(mass)), mass


def polygon_places(path: str, source: str, target: str, weight: str | None) -> Any:
    """Places inside a file's polygons, a table of x, y, and the area and mass around each.

    Runs in the child process.
    """
    shapes, words, stated = opened_shapes(path, [weight] if weight else ())
    shapes = projected(shapes, stated or source, target)
    given = words[weight] if weight else [1.0] * len(shapes)
    mass = np.array([each if isinstance(each, int | float) else np.nan for each in given])
    area, side = shapely.area(shapes), min(math.isqrt(POLYGON_CELLS // len(shapes)), 32)
    wide = (area > 0) & (area < np.inf)
    shapes, area, mass = shapes[wide], area[wide], mass[wide]
    shapely.prepare(shapes)
    places = _grid(shapely.bounds(shapes), side)
    inside = shapely.contains_xy(shapes[:, None], places[..., 0], places[..., 1])
    missed = ~inside.any(axis=1)  # narrow ones get one place
    places[missed, 0] = shapely.get_coordinates(shapely.point_on_surface(shapes[missed]))
    inside[missed, 0] = True
    row, number = np.nonzero(inside)[0], inside.sum(axis=1)
    (x, y), area, mass = places[inside].T, (area / number)[row], (mass / number)[row]
    return pa.table({"x": x, "y": y, "area": area, "mass": mass})


def _grid(boxes: ArrayLike, side: int) -> Float:
    """Middles of side × side cells of boxes, west, south, east, north, (m, 4): (m, side², 2)."""
    low, high = np.split(np.asarray(boxes)[:, None], 2, axis=2)
    return np.asarray(low + (np.indices((side, side)).reshape(2, -1).T + 0.5) / side * (high - low))
