"""The invented place of the built-in data: coast, river, park, towns, in plane kilometres.

Synthetic: no real location. The place is an empty part of the Namib coast, chosen so that
the outline of the base map and the shore of the city agree; no town stands there in reality.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

CITY = "city"
"""The name of its records: sequences, and trips on its roads."""

BOUNDS = (14.40, -24.10, 15.00, -23.60)
"""The public rectangle of every built-in city: west, south, east, north in degrees (EPSG:4326)."""

CENTRE = (14.70, -23.85)
_KM_PER_DEGREE = np.array([111.320 * np.cos(np.radians(CENTRE[1])), 110.77])

# Four vertices of the base map's coastline (Natural Earth 1:50m) where it crosses the rectangle.
_COAST_LAT = np.array([-24.203, -24.050, -23.642, -23.477])
_COAST_LON = np.array([14.503, 14.485, 14.496, 14.474])
_PARK = (-11.8, 3.1, 0.95, 0.5)  # centre and half-axes


@dataclass(frozen=True)
class Town:
    """A town: centre and radius in kilometres, share of the people, number of street districts."""

    name: str
    x: float
    y: float
    radius: float
    share: float
    districts: int


TOWNS = (
    Town("Port Meridian", -13.0, 1.2, 8.6, 0.640, 18),
    Town("Northshore", -15.6, 15.4, 3.8, 0.095, 5),
    Town("Eastbridge", 0.5, -4.9, 3.5, 0.080, 5),
    Town("Saltflat", -15.8, -14.6, 3.0, 0.052, 4),
    Town("Highfield", 4.4, 11.6, 3.0, 0.050, 4),
    Town("Millbrook", 12.6, -11.0, 2.3, 0.030, 3),
    Town("Farpoint", 22.0, 5.6, 2.0, 0.023, 2),
    Town("Orchard Hill", 15.8, 19.4, 1.3, 0.010, 1),
    Town("Cape Ledger", -17.4, 24.0, 1.1, 0.008, 1),
    Town("Quarry", -3.4, -21.2, 1.1, 0.007, 1),
    Town("Lakeside", 21.4, -21.0, 0.9, 0.005, 1),
)

ROADS = (
    ("Port Meridian", "Northshore"),
    ("Northshore", "Cape Ledger"),
    ("Port Meridian", "Saltflat"),
    ("Port Meridian", "Eastbridge"),
    ("Port Meridian", "Highfield"),
    ("Eastbridge", "Millbrook"),
    ("Eastbridge", "Highfield"),
    ("Eastbridge", "Quarry"),
    ("Saltflat", "Quarry"),
    ("Highfield", "Farpoint"),
    ("Highfield", "Orchard Hill"),
    ("Millbrook", "Lakeside"),
    ("Millbrook", "Farpoint"),
    ("Northshore", "Highfield"),
)
"""Pairs of towns joined by a main road."""


def to_lonlat(xy: Array) -> Array:
    """Longitude and latitude (n, 2) in degrees of plane kilometres (n, 2)."""
    return np.asarray(xy / _KM_PER_DEGREE + CENTRE)


def to_plane(lonlat: Array) -> Array:
    """Plane kilometres (n, 2) of longitude and latitude (n, 2) in degrees."""
    return np.asarray((lonlat - CENTRE) * _KM_PER_DEGREE)


def plane_bounds() -> Array:
    """The public rectangle in plane kilometres: [[west, south], [east, north]]."""
    return to_plane(np.array(BOUNDS).reshape(2, 2))


def river_y(x: Array) -> Array:
    """Northing in km of the middle of the river at easting `x`; it runs from east to west."""
    return np.asarray(
        -2.0 + 0.06 * (x + 15) + 1.5 * np.sin(x / 5.2 + 0.6) + 0.45 * np.sin(x / 1.9 + 2.0)
    )


def _river_slope(x: Array) -> Array:
    return np.asarray(0.06 + 1.5 / 5.2 * np.cos(x / 5.2 + 0.6) + 0.45 / 1.9 * np.cos(x / 1.9 + 2.0))


def _river_half_width(x: Array) -> Array:
    """Half of the river's width in km, which grows towards the mouth."""
    return np.asarray(0.09 + 0.38 * np.exp(-(x + 21.5) / 6.0))


def in_river(xy: Array) -> Mask:
    """True for points (n, 2) in km that lie in the river."""
    x, y = xy[:, 0], xy[:, 1]
    across = np.abs(y - river_y(x)) / np.hypot(1.0, _river_slope(x))
    return np.asarray(across < _river_half_width(x))


def in_sea(xy: Array) -> Mask:
    """True for points (n, 2) in km that lie west of the coast."""
    lonlat = to_lonlat(xy)
    return np.asarray(lonlat[:, 0] < np.interp(lonlat[:, 1], _COAST_LAT, _COAST_LON))


def sea_outline() -> Array:
    """The sea beside the city as a closed ring (n, 2) of longitude and latitude.

    All but the first and the last two points are its shore, from south to north.
    """
    west = BOUNDS[0] - 3.0
    lat = np.concatenate([[_COAST_LAT[0] - 2.0], _COAST_LAT, [_COAST_LAT[-1] + 2.0]])
    lon = np.concatenate([_COAST_LON[:1], _COAST_LON, _COAST_LON[-1:]])
    shore = np.column_stack([lon, lat])
    corners = np.array([[west, lat[0]], [west, lat[-1]]])
    return np.vstack([corners[:1], shore, corners[1:], corners[:1]])


def habitable(xy: Array) -> Mask:
    """True for points (n, 2) in km in the rectangle and not in sea, river or park."""
    x, y, half_x, half_y = _PARK
    park = np.hypot((xy[:, 0] - x) / half_x, (xy[:, 1] - y) / half_y) < 1
    low, high = plane_bounds()
    inside = np.all((xy > low) & (xy < high), axis=1)
    return np.asarray(inside & ~park & ~in_river(xy) & ~in_sea(xy))


def river_outline(east: float = BOUNDS[2]) -> Array:
    """The river as a closed ring (n, 2) of longitude and latitude, for a backdrop on the map.

    ``east``: longitude at which it begins.
    """
    x = np.linspace(-21.7, to_plane(np.array([[east, CENTRE[1]]]))[0, 0], 400)
    offset = _river_half_width(x) * np.hypot(1.0, _river_slope(x))
    bank = np.column_stack([x, river_y(x) + offset])
    other = np.column_stack([x, river_y(x) - offset])[::-1]
    return to_lonlat(np.vstack([bank, other, bank[:1]]))
