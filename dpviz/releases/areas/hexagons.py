"""H3 hexagons as areas: the cells over a box, and their parents as the hierarchy.

Children are those that H3 names by id, so that they partition their parent exactly; a parent's
outline is that of its children together, which differs a little from the hexagon that H3 draws.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
from dpviz.releases.points.region_count import polygonal
from dpviz.releases.points.region_file import projected

MAX_COARSEST = 10
"""Most areas of the coarsest level, up to which parents are added: a public rule."""

FINEST_RESOLUTION = 15
"""The finest resolution of H3."""

POLAR_LATITUDE = 85.0
"""Latitude up to which hexagons are drawn: cells around a pole have no outline on a map."""

PIECE_DEGREES = 60.0
"""Degrees of longitude that H3 fills at once: H3 reads a wider edge as one across 180°."""

BORDER_SAMPLES = 64
"""Sample points per side of a box's border, to find cells that only reach into the box."""


def hexagons(resolution: int, domain: Domain) -> Areas:
    """The H3 cells that a box touches, cut to the box, and their parents.

    Coarser levels are added until one has at most 10 areas. A record is in the cell that H3 gives
    for its place.

    Args:
        resolution: resolution of the finest cells, 0 (1,100 km wide) to 15 (1 m).
        domain: the public box.

    Raises:
        ParameterError: another resolution, more cells than the limits allow, or a cell or bounds
            around a pole.
    """
    resolution = whole(resolution, "resolution", ParameterError)
    require(domain, Domain, "domain", ParameterError)
    if not 0 <= resolution <= FINEST_RESOLUTION:
        raise ParameterError(
            f"areas h3:{resolution}: give a resolution from 0 to {FINEST_RESOLUTION}"
        )
    if domain.dims != 2:
        raise ParameterError(f"areas h3:{resolution} in {domain.dims} dimensions: give a 2-D box")
    cells = _cells_over(domain, resolution)
    shapes = _outlines(cells, domain)
    some = np.array([not shape.is_empty for shape in shapes])
    cells, shapes = cells[some], shapes[some]
    coarsest = resolution
    chains = [[cell] for cell in cells.tolist()]
    while coarsest > 0 and len({chain[0] for chain in chains}) > MAX_COARSEST:
        coarsest -= 1
        chains = [[h3.cell_to_parent(chain[0], coarsest), *chain] for chain in chains]
    levels = tuple(f"h3:{each}" for each in range(coarsest, resolution + 1))
    paths = [[h3.int_to_str(cell) for cell in chain] for chain in chains]
    order, names, parent = hierarchy(paths, levels)
    return Areas(domain, levels, tuple(names), parent, shapes[order], resolution)


def level_words(level: str) -> str:
    """Name of a level of areas in words: of hexagons by their mean size.

    >>> level_words("h3:7"), level_words("h3:10"), level_words("ward")
    ('hexagons of 5.2 km²', 'hexagons of 15,000 m²', 'ward')
    """
    if not re.fullmatch(r"h3:\d+", level):
        return level
    size = h3.average_hexagon_area(int(level[3:]), "km^2")
    size, unit = (size, "km²") if size >= 0.1 else (size * 1e6, "m²")
    size = float(f"{size:.2g}")
    return f"hexagons of {size:,g} {unit}" if size < 10 else f"hexagons of {size:,.0f} {unit}"


def level_titles(levels: Sequence[str]) -> list[str]:
    """Titles of the levels of areas: the name of a column is one only beside other levels.

    >>> level_titles(["h3:6", "h3:7"]), level_titles(["district", "ward"]), level_titles(["name"])
    (['hexagons of 36 km²', 'hexagons of 5.2 km²'], ['district', 'ward'], ['areas'])
    """
    words = list(map(level_words, levels))
    return ["areas"] if words == [*levels[:1]] else words


def finest_words(areas: Areas) -> str:
    """Number and title of the finest areas, such as "6 areas" or "25 finest areas"."""
    title = level_titles(areas.levels)[-1]
    return f"{areas.leaves:,} {'finest areas' if title == areas.levels[-1] else title}"


def _cells_over(domain: Domain, resolution: int) -> NDArray[np.uint64]:
    """Ids of the cells that touch a box, ascending."""
    low, high = np.array(domain.lower), np.array(domain.upper)
    frame = shapely.segmentize(shapely.box(*low, *high), float((high - low).max()) / BORDER_SAMPLES)
    border = to_degrees(shapely.get_coordinates(frame), domain.crs)
    west, south, east, north = shapely.total_bounds(shapely.points(border))
    if not (-180 <= west < east <= 180 and -POLAR_LATITUDE <= south < north <= POLAR_LATITUDE):
        raise ParameterError(
            f"areas h3:{resolution}: give bounds within ±180 degrees of longitude and "
            f"±{POLAR_LATITUDE:g} of latitude"
        )
    if domain.crs != DEGREES and east - west > 180:
        raise ParameterError(f"areas h3:{resolution}: give such wide bounds in {DEGREES}")
    ring = shapely.Polygon(border)
    _check_number(ring, resolution)
    cells: set[int] = set()
    for left in np.arange(west, east, PIECE_DEGREES).tolist():
        piece = shapely.intersection(ring, shapely.box(left, south, left + PIECE_DEGREES, north))
        for part in shapely.get_parts(piece):
            if part.geom_type == "Polygon":
                shape = h3.LatLngPoly([(lat, lon) for lon, lat in part.exterior.coords])
                cells.update(h3.h3shape_to_cells_experimental(shape, resolution, "overlap"))
    cells.update(h3.latlng_to_cell(lat, lon, resolution) for lon, lat in border.tolist())
    return np.array(sorted(cells), dtype=np.uint64)


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
    shapes = np.array([_outline(cell) for cell in cells.tolist()], dtype=object)
    frame = shapely.box(*domain.bounds)
    if domain.crs == DEGREES:  # a cell across the meridian of 180° is on both sides of the map
        turned = [
            shapely.transform(shapes, lambda xy, by=by: np.add(xy, (by, 0)))
            for by in (-360, 0, 360)
        ]
        cut = shapely.union_all(shapely.intersection(np.stack(turned), frame), axis=0)
    else:
        cut = shapely.intersection(projected(shapes, DEGREES, domain.crs), frame)
    return np.array([polygonal(each) for each in cut], dtype=object)


def _outline(cell: int) -> Any:
    """Outline of a cell in degrees; its longitudes may lie beyond ±180."""
    lat, lon = np.array(h3.cell_to_boundary(cell)).T
    east = np.cumsum((np.diff(lon, append=lon[0]) + 180) % 360 - 180)
    if abs(east[-1]) > 180:
        raise ParameterError(
            f"areas h3:{h3.get_resolution(cell)}: a cell holds a pole: choose a higher resolution, "
            "or bounds farther from it"
        )
    return shapely.Polygon(np.column_stack([lon[0] + np.append(0.0, east[:-1]), lat]))
