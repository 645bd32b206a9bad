"""Metres on the ground: lengths of lines, and a plane in which nearby distances compare.

A graph without a CRS is in a plane of its own, and its coordinates keep their unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.crs import known_crs
from dpviz.errors import DataError
from dpviz.lazy import pyproj

Int = NDArray[np.int64]
Float = NDArray[np.float64]

MAX_COORDINATE = 1e12
"""Largest coordinate: in any unit far beyond the Earth, and its square is still a number."""


def line_lengths(xy: Float, start: Int, crs: str) -> Float:
    """Length of each line, float64 (m,): metres on the ellipsoid, or units of an own plane.

    Args:
        xy: points (k, 2) of the lines one after another, at least two of each.
        start: offsets (m + 1,) into ``xy``.
        crs: CRS of the points, "" for a plane of its own.

    >>> line_lengths(np.array([[10.0, 60.0], [10.01, 60.0]]), np.array([0, 2]), "EPSG:4326").round()
    array([558.])
    """
    base = _geodetic(crs)
    if base is None:
        step = np.hypot(*np.diff(xy, axis=0).T)
    else:
        lon, lat = _degrees(xy, crs, base).T
        step = base.get_geod().inv(lon[:-1], lat[:-1], lon[1:], lat[1:])[2]
    step[start[1:-1] - 1] = 0.0  # from the end of a line to the start of the next
    return np.asarray(np.add.reduceat(step, start[:-1]))


def local_plane(xy: Float, crs: str) -> Callable[[Float], Float]:
    """A map of points (n, 2) to a conformal plane in metres around the middle of ``xy``.

    A conformal plane has one scale around each point, whatever the latitude: what is nearest
    there is nearest on the ground. A plane of its own stays as it is.
    """
    base = _geodetic(crs)
    if base is None:
        return lambda points: points
    degrees = _degrees(xy, crs, base)
    lon, lat = ((degrees.min(axis=0) + degrees.max(axis=0)) / 2).tolist()
    centred = pyproj.crs.coordinate_operation.StereographicConversion(lat, lon)
    plane = pyproj.crs.ProjectedCRS(centred, geodetic_crs=base)
    change = pyproj.Transformer.from_crs(known_crs(crs), plane, always_xy=True)

    def mapped(points: Float) -> Float:
        moved = np.column_stack(change.transform(points[:, 0], points[:, 1]))
        return np.asarray(
            moved.clip(-MAX_COORDINATE, MAX_COORDINATE)
        )  # opposite the middle it is infinite

    return mapped


def _geodetic(crs: str) -> Any:
    """Longitude and latitude in degrees of the same datum; None where a CRS has none."""
    base = known_crs(crs).to_2d().geodetic_crs if crs else None
    return None if base is None else pyproj.crs.GeographicCRS(datum=base.datum)


def _degrees(xy: Float, crs: str, base: Any) -> Float:
    change = pyproj.Transformer.from_crs(known_crs(crs), base, always_xy=True)
    degrees = np.column_stack(change.transform(xy[:, 0], xy[:, 1]))
    if not (np.abs(degrees) <= (360.0, 90.0)).all():
        raise DataError(f"the road graph lies nowhere on the Earth in {crs[:60]}: name its CRS")
    return np.asarray(degrees)
