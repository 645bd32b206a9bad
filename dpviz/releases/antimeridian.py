"""Shapes over the meridian of 180°, cut there as RFC 7946 (§3.1.9) asks.

Transformed corner by corner to degrees, they would reach around the rest of the world.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpviz.domain.crs import DEGREES, transformation
from dpviz.lazy import geopandas, shapely
from dpviz.trees.lattice import Float, Int

PLAIN = {"LineString", "MultiLineString", "Polygon", "MultiPolygon"}
"""Geometry types that are cut: the only ones made of edges."""


def cut(moved: Any, frame: Any) -> Any:
    """A GeoDataFrame in degrees, with the shapes that cross 180° in pieces on both sides of it.

    Longitudes beyond ±180, of a domain that goes on there, are of the same meridians within.

    Args:
        moved: the frame, transformed corner by corner.
        frame: in its CRS, in which the middle of an edge shows which way the edge goes.
    """
    west, _, east, _ = moved.total_bounds
    if not (east - west > 180 or west < -180 or east > 180):
        return moved
    shapes = moved.geometry.to_numpy().copy()
    corners, owner = shapely.get_coordinates(shapes, return_index=True)
    turns = _turns(corners[:, 0], owner, frame)
    crossing = np.union1d(owner[:-1][turns != 0], owner[np.abs(corners[:, 0]) > 180]).tolist()
    for at in crossing:
        first, end = np.searchsorted(owner, [at, at + 1])
        if shapes[at].geom_type in PLAIN:
            shapes[at] = _cut(shapes[at], corners[first:end], turns[first : end - 1])
        elif shapes[at].geom_type == "Point":
            shapes[at] = shapely.Point((shapes[at].x + 180) % 360 - 180, shapes[at].y)
    geometry = geopandas.GeoSeries(shapes, index=moved.index, crs=moved.crs)
    return moved.assign(**{moved.geometry.name: geometry}) if crossing else moved


def _turns(lon: Float, owner: Int, frame: Any) -> Int:
    """Where the way from corner to corner crosses 180°: 1 eastwards, −1 westwards, int64 (n − 1,).

    Longitudes jump there; but they also do along an edge that is more than half the Earth long.
    """
    turns = np.zeros(len(lon) - 1, dtype=np.int64)
    jumps = np.flatnonzero((np.abs(np.diff(lon)) > 180) & (np.diff(owner) == 0))
    if len(jumps):
        corners = shapely.get_coordinates(frame.geometry)
        middle = (corners[jumps] + corners[jumps + 1]) / 2
        there = transformation(frame.crs.to_wkt(), DEGREES).transform(*middle.T)[0]
        apart = there - (lon[jumps] + lon[jumps + 1]) / 2
        with np.errstate(invalid="ignore"):  # a middle may be nowhere on the Earth
            over = np.abs((apart + 180) % 360 - 180) > 90
        turns[jumps[over]] = np.sign(lon[jumps] - lon[jumps + 1])[over]
    return turns


def _cut(shape: Any, corners: Float, turns: Int) -> Any:
    """A shape in pieces, from its corners (n, 2) and the turns between them (n − 1,)."""
    start, pieces = 0, []
    for part in shapely.get_parts(shape):
        is_area, paths = part.geom_type == "Polygon", []
        for path in [part.exterior, *part.interiors] if is_area else [part]:
            end = start + int(shapely.get_num_coordinates(path))
            lon, lat = corners[start:end].T
            turn = np.concatenate([[0], np.cumsum(turns[start : end - 1])])
            paths.append((lon + 360.0 * turn, lat))
            start = end
        if is_area and not part.is_empty:
            outer, *holes = [ring(x[:-1], y[:-1], round(x[-1] - x[0])) for x, y in paths]
            pieces += polygons(outer.difference(shapely.union_all(holes)))
        elif not part.is_empty:
            lines = _within_180(shapely.LineString(np.column_stack(paths[0])))
            pieces += [each for each in lines if each.length > 0]
    if not pieces:
        return shape
    if shape.geom_type.endswith("Polygon"):
        return shapely.orient_polygons(shapely.MultiPolygon(pieces))
    return shapely.MultiLineString(pieces)


def ring(lon: Float, lat: Float, around: int) -> Any:
    """A polygon between −180 and 180 degrees; one that crosses an edge of that map is in pieces.

    Args:
        lon: of each corner, float64 (n,); they go on beyond ±180 where the ring does.
        lat: likewise.
        around: degrees to the east between leaving the first corner and coming back to it: 0, or
            ±360 around a pole.
    """
    if around:  # the map has an edge at the pole
        pole = 90.0 if lat.mean() > 0 else -90.0
        lon = np.append(lon, [lon[0] + around, lon[0] + around, lon[0]])
        lat = np.append(lat, [lat[0], pole, pole])
    whole = shapely.Polygon(np.column_stack([lon, lat]))
    if whole.bounds[0] >= -180 and whole.bounds[2] <= 180:
        return whole
    if not whole.is_valid:  # untrusted files may hold it
        whole = shapely.MultiPolygon(polygons(shapely.make_valid(whole)))
    return shapely.union_all([each for part in _within_180(whole) for each in polygons(part)])


def polygons(shape: Any) -> list[Any]:
    """The polygons of a shape that have a surface."""
    members = shapely.get_parts(shape)
    nested = [p for part in members for p in shapely.get_parts(part)]
    return [each for each in nested if each.geom_type == "Polygon" and each.area > 0]


def _within_180(shape: Any) -> list[Any]:
    """Return a shape's parts between ±180 degrees, those beyond shifted by whole turns."""
    west, _, east, _ = shape.bounds
    turns = range(math.ceil((east - 180) / 360), math.floor((west + 180) / 360) - 1, -1)
    world = shapely.box(-180, -90, 180, 90)
    moved = [
        shapely.transform(shape, lambda xy, turn=turn: xy - [360.0 * turn, 0]) for turn in turns
    ]
    return [part for each in moved for part in shapely.get_parts(shapely.intersection(each, world))]
