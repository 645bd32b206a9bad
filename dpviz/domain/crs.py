"""Coordinate reference systems named by a user: their existence and their units."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain.frame import Domain, default_columns
from dpviz.errors import DomainError
from dpviz.lazy import pyproj
from dpviz.trees.lattice import Float

DEGREES = "EPSG:4326"

MERCATOR_LATITUDE = 85.051129
"""Degrees north and south at which maps on a screen end: they are in Web Mercator."""

METRES_PER_DEGREE = 111_195.0
"""Metres per degree of latitude on a sphere of radius 6371 km."""


@lru_cache(maxsize=64)
def known_crs(name: str) -> pyproj.CRS:
    """The CRS of this name."""
    try:
        return pyproj.CRS.from_user_input(name)
    except (pyproj.exceptions.CRSError, UnicodeEncodeError) as error:
        raise DomainError(
            f"CRS {name[:60]!r} is unknown: give a code such as {DEGREES} or EPSG:32631"
        ) from error


def earth_limits(name: str) -> tuple[float, float]:
    """Largest longitude and latitude, without signs, of a place on the Earth, in the CRS's unit.

    Both are infinite if the CRS is not geographic, or not known (empty).

    >>> earth_limits("EPSG:4326"), earth_limits("EPSG:4807"), earth_limits("EPSG:3857")
    ((360.0, 90.0), (400.0, 100.0), (inf, inf))
    """
    if not name or not (crs := known_crs(name)).is_geographic:
        return math.inf, math.inf
    turn = round(math.tau / crs.axis_info[0].unit_conversion_factor, 6)
    return turn, turn / 4


def axis_names(domain: Domain) -> tuple[str, ...]:
    """Names of the axes: x and y instead of the default lon and lat if the CRS is projected."""
    default = domain.without_time.columns == default_columns(domain.without_time.dims)
    if not default or not known_crs(domain.crs).is_projected:
        return domain.columns
    named = [name.replace("lon", "x").replace("lat", "y") for name in domain.without_time.columns]
    return (*named, *domain.columns[len(named) :])


@lru_cache(maxsize=16)  # making one takes 20 ms
def transformation(source: str, target: str) -> pyproj.Transformer:
    """Transformer from x and y of one CRS to those of another."""
    start, end = known_crs(source), known_crs(target)
    try:
        return pyproj.Transformer.from_crs(start, end, always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise DomainError(
            f"cannot transform CRS {start.name[:60]!r} to {end.name[:60]!r}: both must be on "
            f"the Earth, such as {DEGREES}"
        ) from error


def metres_per_unit(name: str, y: ArrayLike) -> tuple[Float, Float]:
    """Metres per unit across and along (x and y), float64, each of the shape of ``y``.

    ``y``: second coordinates, on which the width of a degree depends.
    """
    crs, y = known_crs(name), np.asarray(y, dtype=np.float64)
    if crs.is_geographic:
        along = np.full_like(y, METRES_PER_DEGREE)
        return along * np.cos(np.radians(np.clip(y, -89.0, 89.0))), along
    units = [axis.unit_conversion_factor or 1.0 for axis in crs.axis_info] or [1.0, 1.0]
    return np.full_like(y, units[0]), np.full_like(y, units[1])
