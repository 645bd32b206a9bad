"""Ids of H3 cells, from places or from their text form."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.crs import DEGREES, transformation
from dpviz.errors import DataError
from dpviz.lazy import h3
from dpviz.trees.lattice import Float


def cells_at(places: Float, crs: str, resolution: int) -> NDArray[np.uint64]:
    """H3 cell of each place (n, 2), uint64 (n,)."""
    located = h3.latlng_to_cell
    lonlat = to_degrees(places, crs)
    cells = (located(lat, lon, resolution) for lon, lat in lonlat.tolist())
    return np.fromiter(cells, dtype=np.uint64, count=len(places))


def numbers_of(names: Iterable[str]) -> NDArray[np.uint64]:
    """H3 ids as numbers, uint64, from their text form."""
    try:
        return np.array([int(name, 16) for name in names], dtype=np.uint64)
    except (ValueError, OverflowError):
        raise DataError("the name of an area is not an H3 id") from None


def to_degrees(places: Float, crs: str) -> Float:
    """Longitude and latitude of places (n, 2); 0 where the CRS cannot convert them."""
    if crs == DEGREES:
        return places
    lon, lat = transformation(crs, DEGREES).transform(places[:, 0], places[:, 1])
    finite = np.isfinite(lon) & np.isfinite(lat)
    return np.column_stack([np.where(finite, lon, 0.0), np.where(finite, lat, 0.0)])
