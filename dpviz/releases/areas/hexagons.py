"""H3 hexagons as areas: the cells over a box, and their parents as the hierarchy.

Children are those that H3 names by id, so that they partition their parent exactly; a parent's
outline is that of its children together, which differs a little from the hexagon that H3 draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.checks import require, whole
from dpviz.domain import Domain
from dpviz.domain.crs import DEGREES
from dpviz.errors import ParameterError
from dpviz.files import limits
from dpviz.lazy import h3, shapely
from dpviz.releases.areas.cell_ids import to_degrees
from dpviz.releases.areas.hierarchy import hierarchy
from dpviz.releases.areas.partition import Areas
from dpviz.trees.lattice import Float

FEW = 10
"""Parents are added until a level has at most so many areas: a public rule."""

FINEST = 15
"""The finest resolution of H3."""

PIECE = 60.0
"""Degrees: wider boxes are covered in pieces, since H3 takes a wide edge for one that crosses the
antimeridian."""

BENDS = 32
"""Pieces of an edge of a cell of resolution 0; half as many at each finer one."""

STEPS = 64
"""Sample points per side of a box's border, to find cells that only reach into the box."""


def hexagons(resolution: int, domain: Domain) -> Areas:
    """The H3 cells that a box touches, cut to the box, and their parents.

    Parents are added up to the resolution that leaves at most 10 areas. A record is in the cell
    that H3 gives for its place.

    Args:
        resolution: of the finest cells, 0 (1,100 km wide) to 15 (1 m).
        domain: the public box.

    Raises:
        ParameterError: another resolution, or more cells than the limits allow.
    """
    resolution = whole(resolution, "resolution", ParameterError)
    require(domain, Domain, "domain", ParameterError)
    if not 0 <= resolution <= FINEST:
        raise ParameterError(f"areas h3:{resolution}: give a resolution from 0 to {FINEST}")
    if domain.dims != 2:
        raise ParameterError(f"areas h3:{resolution} in {domain.dims} dimensions: give a 2-D box")
    cells = _cells_over(domain, resolution)
    shapes = _outlines(cells, domain)
    some = np.array([not shape.is_empty for shape in shapes])
    cells, shapes = cells[some], shapes[some]
    coarsest = resolution
    chains = [[cell] for cell in cells.tolist()]
    while coarsest > 0 and len({chain[0] for chain in chains}) > FEW:
        coarsest -= 1
        chains = [[h3.cell_to_parent(chain[0], coarsest), *chain] for chain in chains]
    levels = tuple(f"h3:{each}" for each in range(coarsest, resolution + 1))
    paths = [[h3.int_to_str(cell) for cell in chain] for chain in chains]
    order, names, parent = hierarchy(paths, levels)
    return Areas(domain, levels, tuple(names), parent, shapes[order], resolution)


def _cells_over(domain: Domain, resolution: int) -> NDArray[np.uint64]:
    """Ids of the cells that touch a box, ascending."""
    low, high = np.array(domain.lower), np.array(domain.upper)
    frame = shapely.segmentize(shapely.box(*low, *high), float((high - low).max()) / STEPS)
    border = to_degrees(shapely.get_coordinates(frame), domain.crs)
    if domain.crs != DEGREES and np.ptp(border[:, 0]) > 180:
        raise ParameterError(f"areas h3:{resolution}: give such wide bounds in {DEGREES}")
    ring = shapely.Polygon(border)
    _check_number(ring, resolution)
    west, south, east, north = ring.bounds
    if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
        raise ParameterError(
            f"areas h3:{resolution}: the bounds reach beyond ±180 and ±90 degrees: narrow them"
        )
    cells: set[int] = set()
    for left in _pieces(west, east):
        for bottom in _pieces(south, north):
            piece = shapely.intersection(
                ring, shapely.box(left, bottom, left + PIECE, bottom + PIECE)
            )
            for part in shapely.get_parts(piece):
                if part.geom_type == "Polygon" and not part.is_empty:
                    corners = [(lat, lon) for lon, lat in part.exterior.coords]
                    shape = h3.LatLngPoly(corners)
                    cells.update(h3.h3shape_to_cells_experimental(shape, resolution, "overlap"))
    cells.update(h3.latlng_to_cell(lat, lon, resolution) for lon, lat in border.tolist())
    return np.array(sorted(cells), dtype=np.uint64)


def _pieces(low: float, high: float) -> list[float]:
    return np.arange(low, high, PIECE).tolist()


def _check_number(ring: Any, resolution: int) -> None:
    """Refuse too many cells before listing them, estimated from the average cell size."""
    lon, lat = np.radians(np.array(ring.exterior.coords)).T
    surface = abs(np.sum(np.diff(lon) * (np.sin(lat[1:]) + np.sin(lat[:-1])) / 2)) * 6371.0**2
    cells = surface / h3.average_hexagon_area(resolution, "km^2")
    if not cells <= limits.REGIONS.most:
        raise ParameterError(
            f"areas h3:{resolution}: some {cells:,.0f} cells in the bounds, more than "
            f"{limits.REGIONS}: choose a lower resolution"
        )


def _outlines(cells: NDArray[np.uint64], domain: Domain) -> NDArray[np.object_]:
    """Polygons of cells in the domain's CRS, cut to its box; empty if a cell only touches it."""
    resolution = h3.get_resolution(int(cells[0]))
    bends = max(1, BENDS >> resolution)
    shapes = [_outline(h3.cell_to_boundary(cell), bends) for cell in cells.tolist()]
    if domain.crs != DEGREES:
        from dpviz.releases.points.region_file import projected

        shapes = list(projected(np.array(shapes, dtype=object), DEGREES, domain.crs))
    frame = shapely.box(*domain.bounds)
    cut = shapely.intersection(np.array(shapes, dtype=object), frame)
    areas = [shapely.MultiPolygon(_surfaces(each)) for each in cut]
    made = [each.geoms[0] if len(each.geoms) == 1 else each for each in areas]
    return np.array(made, dtype=object)


def _bent(boundary: Any, pieces: int) -> tuple[Float, Float]:
    """Latitudes and longitudes along a cell's edges (great circles), cut into pieces."""
    lat, lon = np.radians(np.array(boundary)).T
    corners = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    steps = np.arange(pieces)[:, None] / pieces
    ends = np.roll(corners, -1, axis=0)
    edges = [a * (1 - steps) + b * steps for a, b in zip(corners, ends, strict=True)]
    x, y, z = np.concatenate(edges).T
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def _outline(boundary: Any, bends: int) -> Any:
    """Outline of a cell within ±180 degrees; a cell across that meridian gets two pieces."""
    lat, lon = _bent(boundary, bends)
    turn = (np.diff(lon, append=lon[0]) + 180) % 360 - 180
    lon = lon[0] + np.concatenate([[0.0], np.cumsum(turn[:-1])])
    around = round(float(turn.sum()))
    if around:  # the cell holds a pole, where the map has an edge
        pole = 90.0 if lat.mean() > 0 else -90.0
        lon = np.append(lon, [lon[0] + around, lon[0] + around, lon[0]])
        lat = np.append(lat, [lat[0], pole, pole])
    whole = shapely.Polygon(np.column_stack([lon, lat]))
    if whole.bounds[0] >= -180 and whole.bounds[2] <= 180:
        return whole
    world = shapely.box([180, -180, -540], -90, [540, 180, -180], 90)
    pieces = shapely.intersection(whole, world)
    turned = [
        shapely.transform(piece, lambda xy, turn=turn: xy - [360.0 * turn, 0])
        for piece, turn in zip(pieces, (1, 0, -1), strict=True)
    ]
    return shapely.union_all([surface for piece in turned for surface in _surfaces(piece)])


def _surfaces(shape: Any) -> list[Any]:
    """Polygons of a shape, without the lines and points where it only touches an edge."""
    return [each for each in shapely.get_parts(shape) if each.geom_type == "Polygon"]
