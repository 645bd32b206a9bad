"""Small map of a rectangle in SVG: land, borders and towns around it, and its place on the Earth.

Drawn from the coarse base map as it is stored, since it is drawn while its owner waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from dpviz.datasets.basemap import WORLD, Bounds, Place, sketch, towns

WIDE, HIGH, FIT = 560, 280, 2.0
"""Pixels of the map, and its sides as multiples of the rectangle's."""

LEAST = 0.25
"""Degrees up to which a rectangle is shown as one of this size: the coasts are coarse."""

LEAST_BOX, MAX_NAMES = 6.0, 10
"""Pixels of the smallest rectangle drawn; names at most."""

LETTER, LINE = 7.2, 16.0
"""Pixels of the room for a letter of a name, and for its line."""

ACCENT = "#d9480f"
GLOBE = '<svg x="570" y="208" width="150" height="72" viewBox="-90 -43 180 86">'
"""The Earth beside the map, in pixels of two degrees."""


def extent_figure(bounds: Bounds) -> str:
    """Map around a rectangle in degrees; a ring on the Earth beside it tells a wrong hemisphere."""
    west, south, east, north = bounds
    x, y = (west + east) / 2, (south + north) / 2
    narrow = max(math.cos(math.radians(y)), 0.1)
    across, up = max(east - west, LEAST) * narrow, max(north - south, LEAST)
    scale = max(min(WIDE / across, HIGH / up) / FIT, HIGH / 180)  # pixels per degree of latitude
    wide, high = WIDE / 2 / scale / narrow, HIGH / 2 / scale
    around = max(x - wide, -180.0), max(y - high, -90.0), min(x + wide, 180.0), min(y + high, 90.0)

    def pixels(places: Any) -> Any:
        return (np.asarray(places) - (x, y)) * (narrow * scale, -scale)

    shapes = sketch(around)
    land = _path(map(pixels, shapes["land"] + shapes["water"]), "Z")
    borders = _path(map(pixels, shapes["border"]))
    (left, top), (right, bottom) = pixels([(west, north), (east, south)]).tolist()
    box_wide, box_high = max(right - left, LEAST_BOX), max(bottom - top, LEAST_BOX)
    names = _names(pixels, towns(around, math.log2(360 * narrow * scale / 512) + 1))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{HIGH}" viewBox="0 0 720 '
        f'{HIGH}"><svg width="{WIDE}" height="{HIGH}" viewBox="{-WIDE / 2} {-HIGH / 2} {WIDE} '
        f'{HIGH}"><rect x="{-WIDE / 2}" y="{-HIGH / 2}" width="{WIDE}" height="{HIGH}" {_SEA}/>'
        f'<path d="{land}" {_LAND}/><path d="{borders}" fill="none" stroke="#777777"/>'
        '<g fill="#222222" stroke="#ffffff" stroke-width="3" paint-order="stroke" '
        f'font-size="13" font-family="sans-serif" text-anchor="middle">{names}</g>'
        f'<rect x="{-box_wide / 2:.1f}" y="{-box_high / 2:.1f}" width="{box_wide:.1f}" '
        f'height="{box_high:.1f}" fill="none" stroke="{ACCENT}" stroke-width="2"/></svg>'
        f'{GLOBE}<rect x="-90" y="-43" width="180" height="86" {_SEA}/><path d="{_globe()}" '
        f'{_LAND}/><circle cx="{x / 2:.0f}" cy="{-y / 2:.0f}" r="6" fill="none" stroke="{ACCENT}" '
        'stroke-width="2.5"/></svg></svg>'
    )


def _names(pixels: Callable[[Any], Any], places: Iterable[Place]) -> str:
    """The largest places whose names lie on the map and not over each other."""
    names, taken = list[str](), list[tuple[float, float, float]]()
    for place in places:
        (x, y), half = pixels((place.lon, place.lat)).tolist(), len(place.name) * LETTER / 2
        inside = abs(x) + half <= WIDE / 2 and abs(y) + LINE <= HIGH / 2
        free = all(
            abs(x - other) > half + width or abs(y - line) > LINE for other, line, width in taken
        )
        if inside and free and len(taken) < MAX_NAMES:
            taken.append((x, y, half))
            names.append(f'<text x="{x:.0f}" y="{y:.0f}">{escape(place.name)}</text>')
    return "".join(names)


_SEA = 'fill="#7a9cb8" fill-opacity=".25"'
_LAND = 'fill="#888888" fill-opacity=".35" fill-rule="evenodd"'
"""Lakes are holes in the land."""


def _path(lines: Iterable[Any], end: str = "") -> str:
    """Lines in whole pixels, without points twice in a row; of a ring three are needed."""
    path = []
    for line in lines:
        whole = np.rint(line).astype(int)
        whole = whole[np.append(True, (whole[1:] != whole[:-1]).any(axis=1))]
        if len(whole) > 3 or not end:
            path.append(f"M{' '.join(f'{x},{y}' for x, y in whole.tolist())}{end}")
    return "".join(path)


@cache
def _globe() -> str:
    """Path of all land, in pixels of two degrees."""
    return _path((ring * (0.5, -0.5) for ring in sketch(WORLD)["land"]), "Z")
