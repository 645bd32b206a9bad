"""The offline base map as marks: coasts and borders above the cells, which hide land."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpviz.datasets.basemap import base_map, city_backdrop
from dpviz.render.marks import paths
from dpviz.render.scene import Bounds, Mark


@lru_cache(maxsize=16)
def outlines(bounds: Bounds | None = None) -> tuple[Mark, ...]:
    """Coast and border lines around a rectangle, three times its size on every side."""
    if bounds is None:
        wider, tolerance = None, 0.1
    else:
        west, south, east, north = bounds
        across, up = max(east - west, 1.0), max(north - south, 1.0)
        wider = (
            max(west - 3 * across, -180.0),
            max(south - 3 * up, -85.0),
            min(east + 3 * across, 180.0),
            min(north + 3 * up, 85.0),
        )
        tolerance = 0.1 if across > 60 else 0.0
    features = {each["properties"]["kind"]: each for each in base_map(wider, tolerance)["features"]}
    marks = []
    for kind, opacity, width in (("border", 90, 1.0), ("coast", 170, 1.2)):
        whole = features[kind]["geometry"]["coordinates"]
        lines = [part for line in whole for part in _unwrapped(line)]
        if lines:
            marks.append(paths(kind, lines, themed=opacity, width=width))
    return tuple(marks)


def _unwrapped(line: list[list[float]]) -> list[NDArray[np.float64]]:
    """A line cut where it leaves the map at ±180 degrees to go on at the other side."""
    points = np.asarray(line, dtype=np.float64)
    jumps = np.flatnonzero(np.abs(np.diff(points[:, 0])) > 180) + 1
    return [part for part in np.split(points, jumps) if len(part) > 1]


@lru_cache(maxsize=1)
def river() -> Mark:
    """The outline of the invented city's river."""
    rings = [feature["geometry"]["coordinates"][0] for feature in city_backdrop()["features"]]
    return paths("river", rings, color=(90, 150, 210, 200), width=1.2)
