"""An owner's own base map: a public file of streets, water and places, drawn below the cells.

GeoJSON, GeoPackage, GeoParquet or a Shapefile, clipped to the surroundings of the domain. A column
``kind`` (water, green, road, place, building) says what a shape is; without it, areas are land use,
lines are roads and points are places with the column ``name``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ParameterError
from dpviz.render.colors import FRAME, QUIET, ROAD, WATER, Themed, stops
from dpviz.render.marks import paths, polygons
from dpviz.render.names import places
from dpviz.render.scene import Bounds, Mark

if TYPE_CHECKING:
    import geopandas

AROUND = 0.25
"""Of the domain's size, on every side: what is kept of the file."""

PIXELS = 4_000
"""Shapes are simplified to the domain's width divided by this."""

MOST = 200_000
"""Points of all shapes: more would make every page heavy."""

GREEN = Themed(stops("e3ead8")[0], stops("1b241d")[0])
AREAS = {"water": WATER, "green": GREEN, "building": QUIET, "border": FRAME, "area": ROAD}
LINES = {"road": (ROAD, 1.6), "border": (FRAME, 1.0), "water": (WATER, 1.6)}

Shapes = NDArray[np.object_]


def basemap_marks(path: str | Path, bounds: Bounds) -> tuple[Mark, ...]:
    """The marks of a file around a rectangle (west, south, east, north in degrees).

    Raises:
        ParameterError: no such file, no geometry, or nothing in it near the rectangle.
    """
    import shapely

    frame = _read(path)
    west, south, east, north = bounds
    across, up = AROUND * (east - west), AROUND * (north - south)
    box = shapely.box(west - across, south - up, east + across, north + up)
    shapes = np.asarray(frame.geometry.values, dtype=object)
    near = shapely.intersects(shapes, box)
    frame, shapes = frame[near], shapely.intersection(shapely.make_valid(shapes[near]), box)
    if not len(shapes):
        raise ParameterError(f"base map {str(path)!r}: nothing in it lies near the area")
    shapes = shapely.simplify(shapes, (east - west) / PIXELS)
    if shapely.get_num_coordinates(shapes).sum() > MOST:
        raise ParameterError(
            f"base map {str(path)!r}: more than {MOST:,} points near the area: "
            "keep main roads and large areas only"
        )
    given = "kind" in frame.columns
    kinds = frame["kind"].astype(str).str.lower().to_numpy() if given else np.full(len(frame), "")
    marks = [*_areas(shapes, kinds), *_lines(shapes, kinds)]
    return (*marks, *_names(frame, shapes))


def _read(path: str | Path) -> geopandas.GeoDataFrame:
    import geopandas

    if not Path(path).is_file():
        raise ParameterError(f"base map {str(path)!r}: no such file")
    try:
        parquet = Path(path).suffix.lower() in {".parquet", ".geoparquet"}
        frame = geopandas.read_parquet(path) if parquet else geopandas.read_file(path)
    except Exception as error:
        raise ParameterError(
            f"base map {str(path)!r}: cannot be read as GeoJSON, GeoPackage or GeoParquet"
        ) from error
    if not isinstance(frame, geopandas.GeoDataFrame) or frame.geometry.isna().all():
        raise ParameterError(f"base map {str(path)!r}: holds no shapes")
    frame = frame[~frame.geometry.isna() & ~frame.geometry.is_empty]
    return frame if frame.crs is None else frame.to_crs("EPSG:4326")


def _pieces(shapes: Shapes, kinds: Shapes, type_id: int) -> list[tuple[Any, str]]:
    """Simple shapes of one of shapely's types, each with its kind."""
    import shapely

    owner = np.arange(len(shapes))
    for _ in range(2):  # collections of multi-shapes
        shapes, at = shapely.get_parts(shapes, return_index=True)
        owner = owner[at]
    chosen = np.flatnonzero(shapely.get_type_id(shapes) == type_id)
    return [(shapes[at], str(kinds[owner[at]])) for at in chosen.tolist()]


def _areas(shapes: Shapes, kinds: Shapes) -> list[Mark]:
    import shapely

    areas: dict[str, list[Any]] = {}
    for part, kind in _pieces(shapes, kinds, 3):
        name = kind if kind in AREAS else "area"
        # Triangles, because a ring cannot say where its holes are.
        triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(part))
        areas.setdefault(name, []).extend(shapely.get_coordinates(each) for each in triangles)
    order = [name for name in ("green", "area", "water", "building", "border") if name in areas]
    return [polygons(f"base-{name}", areas[name], color=AREAS[name], ground=True) for name in order]


def _lines(shapes: Shapes, kinds: Shapes) -> list[Mark]:
    import shapely

    lines_of: dict[str, list[Any]] = {}
    for part, kind in _pieces(shapes, kinds, 1):
        name = kind if kind in LINES else "road"
        lines_of.setdefault(name, []).append(shapely.get_coordinates(part))
    return [
        paths(f"base-line-{name}", lines, color=LINES[name][0], width=LINES[name][1], ground=True)
        for name, lines in lines_of.items()
    ]


def _names(frame: geopandas.GeoDataFrame, shapes: Shapes) -> list[Mark]:
    import shapely

    if "name" not in frame.columns:
        return []
    names = frame["name"].tolist()
    rows: list[tuple[str, float, float, int, float]] = []
    for at in np.flatnonzero(shapely.get_type_id(shapes) == 0).tolist():
        if isinstance(names[at], str) and names[at]:
            lon, lat = shapely.get_coordinates(shapes[at])[0].tolist()
            rows.append((names[at][:60], lon, lat, len(rows), 0.0))
    return [places("base-names", rows, dots=True)] if rows else []
