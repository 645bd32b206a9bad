"""Owner's base map: a public file of streets, water and places, around the cells.

GeoJSON, GeoPackage, GeoParquet or a Shapefile, cut to the surroundings of the domain. A column
``kind`` (water, green, road, place, building) or else the layer's name says what a shape is;
without either, areas are land use, lines are roads and points are places with the column ``name``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import DpvizError, ParameterError
from dpviz.files.foreign import recognised
from dpviz.files.sandbox import run_in_sandbox
from dpviz.files.writing import write_file
from dpviz.lazy import shapely
from dpviz.render.colors import FRAME, QUIET, ROAD, WATER, Themed, stops
from dpviz.render.marks import paths, polygons
from dpviz.render.names import places
from dpviz.render.scene import Bounds, Mark

GREEN = Themed(stops("e3ead8")[0], stops("233026")[0])
AREAS = {"water": WATER, "green": GREEN, "building": QUIET, "border": FRAME, "area": ROAD}
LINES = {"road": (ROAD, 1.6), "border": (FRAME, 1.0), "water": (WATER, 1.6)}

Shapes = NDArray[np.object_]

NAMES = "base-names"
"""Id of the mark with a file's names."""


SINGLE = {"GeoJSON": ".geojson", "GeoPackage": ".gpkg", "Parquet": ".parquet"}
"""Formats of one file each, and the endings of their copies."""


def installed() -> str:
    """Path of the base map that was installed for this user's maps; empty if there is none."""
    return next((str(path) for path in sorted(_folder().glob("basemap.*"))), "")


def install(path: str | Path) -> str:
    """Copy a file to where all maps of this user look for one; the copy's path."""
    place = Path(path).expanduser()
    if not place.is_file():
        raise ParameterError(f"base map {str(path)!r}: no such file: check its name")
    with place.open("rb") as file:
        ending = SINGLE.get(recognised(file.read(1024)))
    if not ending:
        raise ParameterError(f"base map {str(path)!r}: write it as {', '.join(SINGLE)}")
    _folder().mkdir(parents=True, exist_ok=True)
    copy = write_file(_folder() / f"basemap{ending}", lambda name: shutil.copyfile(place, name))
    for old in _folder().glob("basemap.*"):
        if old != copy:
            old.unlink()
    return str(copy)


def uninstall() -> None:
    """Delete what :func:`install` copied."""
    for path in _folder().glob("basemap.*"):
        path.unlink()


def _folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("dpviz", appauthor=False)


def basemap_marks(path: str | Path, bounds: Bounds) -> tuple[Mark, ...]:
    """The marks of a file around a rectangle (west, south, east, north in degrees)."""
    place = Path(path)
    if not place.is_file():
        raise ParameterError(f"base map {str(path)!r}: no such file: check its name")
    try:
        table = run_in_sandbox(
            "dpviz.render.ground_file:shapes_near",
            str(place.absolute()),
            list(bounds),
            where=place.name,
            size=place.stat().st_size,
            needs=("pyogrio.raw", "pyproj", "shapely"),
        )
    except DpvizError as error:
        raise ParameterError(f"base map {str(path)!r}: {error}") from error
    shapes = np.asarray(shapely.from_wkb(table["shape"].to_pylist()), dtype=object)
    kinds = np.asarray(table["kind"].to_pylist(), dtype=object)
    marks = [*_areas(shapes, kinds), *_lines(shapes, kinds)]
    return (*marks, *_names(table["name"].to_pylist(), shapes))


def _pieces(shapes: Shapes, kinds: Shapes, type_id: int) -> list[tuple[Any, str]]:
    """Simple shapes of one of shapely's types, each with its kind."""
    owner = np.arange(len(shapes))
    for _ in range(2):  # collections of multi-shapes
        shapes, at = shapely.get_parts(shapes, return_index=True)
        owner = owner[at]
    chosen = np.flatnonzero(shapely.get_type_id(shapes) == type_id)
    return [(shapes[at], str(kinds[owner[at]])) for at in chosen.tolist()]


def _areas(shapes: Shapes, kinds: Shapes) -> list[Mark]:
    areas: dict[str, list[Any]] = {}
    for part, kind in _pieces(shapes, kinds, 3):
        name = kind if kind in AREAS else "area"
        # Triangles, because a ring cannot contain its holes.
        triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(part))
        areas.setdefault(name, []).extend(shapely.get_coordinates(each) for each in triangles)
    order = [name for name in ("green", "area", "water", "building", "border") if name in areas]
    return [polygons(f"base-{name}", areas[name], color=AREAS[name], ground=True) for name in order]


def _lines(shapes: Shapes, kinds: Shapes) -> list[Mark]:
    lines_of: dict[str, list[Any]] = {}
    for part, kind in _pieces(shapes, kinds, 1):
        name = kind if kind in LINES else "road"
        lines_of.setdefault(name, []).append(shapely.get_coordinates(part))
    return [
        paths(f"base-line-{name}", lines, color=LINES[name][0], width=LINES[name][1])
        for name, lines in lines_of.items()
    ]


def _names(names: list[str], shapes: Shapes) -> list[Mark]:
    rows: list[tuple[str, float, float, float, float]] = []
    for at in np.flatnonzero(shapely.get_type_id(shapes) == 0).tolist():
        if names[at]:
            lon, lat = shapely.get_coordinates(shapes[at])[0].tolist()
            rows.append((names[at][:60], lon, lat, len(rows), 0.0))
    return [places(NAMES, rows, dots=True)] if rows else []
