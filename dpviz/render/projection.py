"""Coordinates of the map in degrees and in Web Mercator world units, and areas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain.crs import DEGREES, MERCATOR_LATITUDE, transformation
from dpviz.domain.rectangles import rows_of
from dpviz.errors import DomainError
from dpviz.trees.lattice import Float

Box = tuple[float, float, float, float]

SIDES = "give west, south, east and north in degrees"

WORLD = 512.0
"""World units around the globe, deck.gl's common space."""

EARTH_RADIUS_KM = 6371.0088

HOME = (800, 560)
"""Pixels of a usual map: legends are worked out for the zoom at which it shows the domain."""


def world(lon_lat: ArrayLike) -> Float:
    """Web Mercator world units (x east, y north, 0–512) of shape (..., 2) in degrees."""
    lon_lat = np.asarray(lon_lat, dtype=np.float64)
    lat = np.radians(np.clip(lon_lat[..., 1], -MERCATOR_LATITUDE, MERCATOR_LATITUDE))
    x = WORLD * (lon_lat[..., 0] + 180.0) / 360.0
    y = WORLD * (np.pi + np.arctanh(np.sin(lat))) / (2 * np.pi)
    return np.stack([x, y], axis=-1)


def world_boxes(boxes: Float) -> Float:
    """The same of the two corners of boxes, (n, 4)."""
    return world(boxes.reshape(-1, 2, 2)).reshape(-1, 4)


def within_mercator(bounds: Box) -> Box:
    """Bounds in degrees without what lies nearer to a pole than maps on a screen show.

    >>> within_mercator((-180, -90, 180, 60))
    (-180, -85.051129, 180, 60)
    """
    west, south, east, north = bounds
    most = MERCATOR_LATITUDE
    return west, min(max(south, -most), most), east, min(max(north, -most), most)


def home_zoom(bounds: Box) -> float:
    """The zoom at which a usual map shows all of some bounds."""
    # All streets may lie on one line.
    across, up = np.maximum(world(bounds[2:]) - world(bounds[:2]), 1e-9)
    return float(np.log2(min(HOME[0] / across, HOME[1] / up)))


def rings_of(boxes: Float) -> Float:
    """Closed rings (n, 5, 2) around boxes (n, 4), from the lower left corner."""
    return boxes[:, [0, 1, 2, 1, 2, 3, 0, 3, 0, 1]].reshape(-1, 5, 2)


def is_degrees(crs: str) -> bool:
    """Return whether the CRS is plain longitude and latitude, which needs no transformation."""
    return crs.upper() in {"EPSG:4326", "OGC:CRS84"}


def to_degrees(boxes: ArrayLike, crs: str) -> Float:
    """Boxes (n, 4) of a CRS as west, south, east, north in degrees, float64.

    Outside longitude and latitude and Web Mercator a box is not quite a rectangle on the map: it is
    drawn between the middles of its sides, so that boxes beside each other share a side and none is
    too wide for its height. Where one lies over the meridian of 180°, all go on beyond it.

    Raises DomainError: a side is nowhere on the Earth, or no degrees follow from this CRS.
    """
    boxes = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
    if is_degrees(crs):
        return boxes
    change = transformation(crs, DEGREES)
    x, y = (boxes[:, :2].T + boxes[:, 2:].T) / 2
    west, east = (change.transform(side, y)[0] for side in (boxes[:, 0], boxes[:, 2]))
    south, north = (change.transform(x, side)[1] for side in (boxes[:, 1], boxes[:, 3]))
    if not np.isfinite([west, south, east, north]).all():
        raise DomainError(
            f"{crs} has no place on the Earth for some of these coordinates, so that no map can be "
            "drawn: choose a smaller area"
        )
    over = bool((east < west).any())
    return np.column_stack([beyond(west, over), south, beyond(east, over), north])


def beyond(longitude: Float, over: bool) -> Float:
    """Longitudes (n,), those west of 0° as degrees above 180 if the map lies over that meridian."""
    return np.where(over & (longitude < 0), longitude + 360, longitude)


def areas(boxes: ArrayLike) -> Float:
    """Areas in km² of boxes (n, 4) in degrees, on a sphere of the Earth's mean radius.

    >>> round(float(areas([[0, 0, 1, 1]])[0]))
    12364
    """
    west, south, east, north = np.radians(np.asarray(boxes, dtype=np.float64).reshape(-1, 4)).T
    return np.asarray(EARTH_RADIUS_KM**2 * (east - west) * (np.sin(north) - np.sin(south)))


def degree_boxes(boxes: Any) -> list[Box]:
    """Rectangles as tuples of west, south, east and north in degrees.

    >>> degree_boxes([[0, 0, 1, 2]])
    [(0.0, 0.0, 1.0, 2.0)]
    """
    return [(row[0], row[1], row[2], row[3]) for row in rows_of(boxes, 4, SIDES).tolist()]


def from_degrees(box: ArrayLike, crs: str, *, around: bool = False) -> Box:
    """Convert a box (west, south, east, north) in degrees to the CRS.

    The result goes through the middles of its sides, as :func:`to_degrees` draws one, or it lies
    around all of it. One from 179 to −179.5 degrees lies over the meridian of 180°, if the CRS goes
    on there.
    """
    ((west, south, east, north),) = degree_boxes([box])
    if is_degrees(crs):
        return west, south, east, north
    change = transformation(DEGREES, crs)
    if around:
        whole: Box = change.transform_bounds(west, south, east, north)
        return whole
    # Go the shorter way around the Earth; otherwise the ring is inside out.
    if west > east and west - east > 180:
        east += 360
    lon, lat = (west + east) / 2, (south + north) / 2
    x, y = change.transform((west, lon, east, lon), (lat, south, lat, north))
    return x[0], y[1], x[2], y[3]
