"""Ground below the cells, shores and borders above them, names of places: for orientation."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.datasets.basemap import (
    FILLED,
    FINE_DEGREES,
    LINES,
    Place,
    base_map,
    countries,
    towns,
)
from dpviz.datasets.geography import BOUNDS, CITY, TOWNS, river_outline, sea_outline, to_lonlat
from dpviz.datasets.streets import city_graph
from dpviz.errors import ParameterError
from dpviz.render.basemap_file import NAMES, basemap_marks, installed
from dpviz.render.colors import FRAME, LAND, ROAD, SHORE, WATER, Themed
from dpviz.render.marks import paths, polygons
from dpviz.render.names import places
from dpviz.render.projection import home_zoom, rings_of
from dpviz.render.scene import BUNDLED, COUNTRIES, PLACES, Bounds, Mark
from dpviz.trees.lattice import Float

FADE = (8.0, 9.0)
"""Zooms over which the bundled outlines (1:50m) fade: nearer they would be off by a kilometre."""

FINE_FADE = (10.5, 11.5)
"""The same for the outlines of 1:10m, which are off by 200 m."""

VARIABLE = "DPVIZ_BASEMAP"
"""Environment variable with an owner's base map file: see :mod:`dpviz.render.basemap_file`."""

MARGIN = 2.0
"""Margin on every side that a visitor may move to, in sizes of the rectangle."""

PIXELS = 2_000
"""Outlines are simplified to the rectangle's width divided by this."""

LOOKS: dict[str, tuple[Themed, float]] = {
    "land": (LAND, 0.0),
    "water": (WATER, 0.0),
    "state": (FRAME.faint(150), 0.6),
    "border": (FRAME, 1.2),
    "river": (SHORE, 0.8),
    "coast": (SHORE, 1.0),
}
"""Colours, and widths of lines in pixels."""

WORLD = (-180.0, -85.0, 180.0, 85.0)
WEST, EAST, NORTH = -540.0, 540.0, 89.9
"""Ends of the sea that is drawn around the world."""

NEAR_MARGIN, NEAR_ZOOMS = 0.5, 4.0
"""Margin, in sizes of the rectangle, within which more places are named; number of zooms for which
names are prepared."""


@lru_cache(maxsize=16)
def outlines(bounds: Bounds | None = None, source: str = "") -> tuple[Mark, ...]:
    """The base map around a rectangle: land and water below all marks, lines above, names.

    The invented city has a ground of its own: sea, river, main roads, towns. A public file that the
    environment names (:data:`VARIABLE`) or that was installed takes the place of the bundled one
    where it shows anything.
    """
    if bounds is not None and (ground := custom_basemap(bounds)):
        named = any(mark.id == NAMES for mark in ground)
        return ground if named else (*ground, *_names(bounds, _around(bounds)[0]))
    if bounds is not None and is_city(bounds, source):
        return city_ground(bounds[2])
    wider, tolerance = _around(bounds)
    fine = bounds is not None and max(bounds[2] - bounds[0], bounds[3] - bounds[1]) <= FINE_DEGREES
    shapes: dict[str, list[Float]] = {kind: [] for kind in (*FILLED, *LINES)}
    for part, turn in _turns(wider):
        for each in base_map(part, tolerance, fine=fine)["features"]:
            if (kind := each["properties"]["kind"]) in shapes:
                lines = each["geometry"]["coordinates"]
                rings = (line[0] if kind in FILLED else line for line in lines)
                shapes[kind] += [np.array(ring) + np.array([turn, 0.0]) for ring in rings]
    fade = FINE_FADE if fine else FADE
    marks = [_ground(BUNDLED, list(rings_of(np.array([_sea(wider)]))), WATER, fade=fade)]
    for kind, drawn in shapes.items():
        color, width = LOOKS[kind]
        if drawn and kind in FILLED:
            marks.append(_ground(kind, drawn, color, fade=fade))
        elif drawn:
            fading = list(FADE if kind == "river" else fade)  # rivers exist at 1:50m only
            marks.append(paths(kind, drawn, color=color, width=width, fade=fading))
    marks += _names(bounds, wider)
    return tuple(marks)


def custom_basemap(bounds: Bounds) -> tuple[Mark, ...]:
    """The marks of the owner's file; none where it shows nothing near."""
    path = os.environ.get(VARIABLE, "") or installed()
    try:
        return basemap_marks(path, bounds) if path else ()
    except ParameterError as error:
        logging.getLogger(__name__).warning("%s", str(error))  # rows of the file, not records
        return ()


def _around(bounds: Bounds | None) -> tuple[Bounds | None, float]:
    if bounds is None:
        return None, 0.1
    west, south, east, north = bounds
    across, up = max(east - west, 1.0), max(north - south, 1.0)
    over = min(across, max(360.0 - across, 0.0) / 2)  # beyond 180°, where the map repeats
    wider = (
        max(west - MARGIN * across, min(-180.0, west - over)),
        max(south - MARGIN * up, -85.0),
        min(east + MARGIN * across, max(180.0, east + over)),
        min(north + MARGIN * up, 85.0),
    )
    return wider, 0.1 if across > 60 else across / PIXELS


def _turns(bounds: Bounds | None) -> list[tuple[Bounds | None, float]]:
    """The parts of a rectangle between ±180 degrees, and how far east each of them is put."""
    if bounds is None:
        return [(None, 0.0)]
    west, south, east, north = bounds
    return [
        ((max(west - turn, -180.0), south, min(east - turn, 180.0), north), turn)
        for turn in (0.0, -360.0, 360.0)
        if west - turn < 180.0 and east - turn > -180.0
    ]


def _sea(bounds: Bounds | None) -> Bounds:
    """Beyond ±180 degrees and to the north too, where a window shows what is beside the world."""
    west, south, east, north = bounds or WORLD
    return (
        WEST if west <= -180.0 else west,
        south,
        EAST if east >= 180.0 else east,
        NORTH if north >= WORLD[3] else north,
    )


def _names(bounds: Bounds | None, wider: Bounds | None) -> list[Mark]:
    """Countries and towns; of a rectangle's surroundings those that are seen beside it."""
    seen = bounds or WORLD
    zoom = home_zoom(seen)
    across, up = NEAR_MARGIN * (seen[2] - seen[0]), NEAR_MARGIN * (seen[3] - seen[1])
    low, high = np.reshape(wider or WORLD, (2, 2))
    near = (
        *np.maximum([seen[0] - across, seen[1] - up], low).tolist(),
        *np.minimum([seen[2] + across, seen[3] + up], high).tolist(),
    )
    small = [*_places(near, lambda part: towns(part, zoom + NEAR_ZOOMS))]
    small += _places(wider, lambda part: towns(part, zoom + 1.0))
    large = [(row[0].upper(), *row[1:]) for row in _places(wider, countries)]
    marks = places(COUNTRIES, large, fixed=True), places(PLACES, list(dict.fromkeys(small)))
    return [mark for mark in marks if len(mark.table)]


def _places(
    bounds: Bounds | None, within: Callable[[Bounds], list[Place]]
) -> Iterator[tuple[str, float, float, float, float]]:
    """Rows of the places in a rectangle, which may go on beyond ±180 degrees."""
    for part, turn in _turns(bounds):
        for each in within(part or WORLD):
            yield each.name, each.lon + turn, each.lat, each.rank, each.start


def city_ground(east: float = BOUNDS[2]) -> tuple[Mark, ...]:
    """Sea, river, main roads and towns of the invented city.

    The river begins at the ``east`` of the area that is shown, or with the easternmost main road.
    """
    shore, streets = sea_outline(), city_graph()
    lines = list(streets.lines()[streets.main])
    banks = river_outline(max(east, *(float(line[:, 0].max()) for line in lines)))
    half = len(banks) // 2
    roads = paths("main-roads", lines, color=ROAD, width=1.6, ground=True)
    return (
        _ground("sea", [shore], WATER),
        _ground("river-water", [banks], WATER),
        roads,
        paths("shore", [shore[1:-2]], color=SHORE, width=1.0),
        paths("river", [banks[:half], banks[half : 2 * half]], color=SHORE, width=1.0),
        town_names(),
    )


@lru_cache(maxsize=1)
def town_names() -> Mark:
    """Names of the invented city's towns, above their centres."""
    order = sorted(TOWNS, key=lambda town: -town.share)
    rows: list[tuple[str, float, float, float, float]] = []
    for rank, town in enumerate(order):
        above = np.array([[town.x, town.y + 0.75 * town.radius]])
        lon, lat = to_lonlat(above)[0].tolist()
        rows.append((town.name, lon, lat, min(rank + 1, 3), 8.0))
    return places("towns", rows)


def is_city(bounds: Bounds, source: str = "") -> bool:
    """True for the built-in city's rectangle, and for any within it of the city's own data."""
    inward = (np.array(bounds) - BOUNDS) * (1, 1, -1, -1)
    return bool(np.allclose(inward, 0.0, atol=1e-6) or (source == CITY and (inward >= 0).all()))


def _ground(name: str, rings: list[Any], color: Themed, **options: Any) -> Mark:
    if "fade" in options:
        options["fade"] = list(options["fade"])
    return polygons(name, rings, color=color, ground=True, **options)
