"""Polygons cut to boxes, many at a time, in time linear in their vertices.

A general overlay is quadratic for shapes of many spikes. Here a ring is cut by one line after the
other (Sutherland and Hodgman, Communications of the ACM 1974). Where that leaves edges that run to
and fro along a border, they enclose nothing: areas are right, which is all that is asked of pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpviz.lazy import shapely
from dpviz.trees.lattice import Float, Int, positions_within

FLAT = 1e-12
"""A share of a piece's bounding box below which the piece is a line: coordinates are floats."""


class Outlines(NamedTuple):
    """Rings of pieces, vertex by vertex; outer ones run counterclockwise, holes clockwise.

    Attributes:
        xy: vertices, float64 (m, 2), without the one that closes a ring.
        ring: the ring of each vertex, int64 (m,), ascending.
        piece: the piece of each vertex, int64 (m,), ascending.
    """

    xy: Float
    ring: Int
    piece: Int

    def bounds(self, n: int) -> Float:
        """Bounding boxes (w, s, e, n) of n pieces; inside out for one without vertices."""
        boxes = np.tile([np.inf, np.inf, -np.inf, -np.inf], (n, 1))
        first = np.flatnonzero(np.diff(self.piece, prepend=-1))
        if len(first):
            rows = self.piece[first]
            boxes[rows, :2] = np.minimum.reduceat(self.xy, first, axis=0)
            boxes[rows, 2:] = np.maximum.reduceat(self.xy, first, axis=0)
        return boxes

    def areas(self, origin: Float) -> Float:
        """Areas of n pieces, float64 (n,): each measured from a point near it, (n, 2)."""
        x, y = (self.xy - origin[self.piece]).T
        after = self._next()
        twice = np.bincount(self.piece, x * y[after] - x[after] * y, len(origin))
        return np.asarray(twice / 2)

    def copies(self, pieces: Int) -> Outlines:
        """Copy pieces by number (ascending); one named twice is copied twice."""
        n = int(self.piece[-1]) + 1 if len(self.piece) else 0
        size = np.bincount(self.piece, minlength=n)
        begin = np.cumsum(size) - size
        sizes = size[pieces]
        piece = np.repeat(np.arange(len(pieces)), sizes)
        rows = begin[pieces][piece] + positions_within(sizes)
        ring = self.ring[rows]
        return Outlines(self.xy[rows], _numbered(ring, piece), piece)

    def clipped(self, low: Float, high: Float) -> Outlines:
        """The pieces cut to a box each: lower and upper limits, float64 (n, 2)."""
        outlines = self
        for axis in (0, 1):
            outlines = outlines._halved(axis, low[:, axis], 1.0)._halved(axis, high[:, axis], -1.0)
        return outlines

    def _halved(self, axis: int, limit: Float, sign: float) -> Outlines:
        """Clip each piece to the half-plane at or beyond its line."""
        line = limit[self.piece]
        beyond = sign * (self.xy[:, axis] - line)
        inside = beyond >= 0
        if inside.all():
            return self
        after = self._next()
        crosses = inside != inside[after]
        count = inside.astype(np.int64) + crosses
        place = np.cumsum(count) - count
        xy = np.empty((int(count.sum()), 2))
        xy[place[inside]] = self.xy[inside]
        here, there = np.flatnonzero(crosses), after[crosses]
        part = beyond[here] / (beyond[here] - beyond[there])
        point = self.xy[here] + part[:, None] * (self.xy[there] - self.xy[here])
        point[:, axis] = line[here]
        xy[place[here] + inside[here]] = point
        return Outlines(xy, np.repeat(self.ring, count), np.repeat(self.piece, count))

    def _next(self) -> Int:
        """The row of the vertex after each one, in its ring."""
        begins = np.diff(self.ring, prepend=-1) != 0
        after = np.arange(1, len(self.ring) + 1)
        first = np.flatnonzero(begins)
        after[np.append(first[1:], len(after))[: len(first)] - 1] = first
        return after


def outlines_of(shapes: Any) -> Outlines:
    """Outlines of valid polygons and multipolygons, a piece each."""
    polygons, shape = shapely.get_parts(shapely.orient_polygons(shapes), return_index=True)
    rings, part = shapely.get_rings(polygons, return_index=True)
    xy, ring = shapely.get_coordinates(rings, return_index=True)
    opens = np.append(ring[1:] == ring[:-1], False)[: len(ring)]
    return Outlines(xy[opens], ring[opens], shape[part][ring[opens]])


def joined(several: Sequence[Outlines]) -> Outlines:
    """The pieces of all, one after another, numbered anew without those that have no vertices."""
    if not several:
        return Outlines(np.empty((0, 2)), np.empty(0, np.int64), np.empty(0, np.int64))
    rings, pieces = [each.ring for each in several], [each.piece for each in several]
    xy = np.concatenate([each.xy for each in several])
    return Outlines(xy, _continued(rings), _continued(pieces))


def _continued(several: Sequence[Int]) -> Int:
    ends = np.cumsum([0, *(int(each[-1]) + 1 if len(each) else 0 for each in several)])
    return np.concatenate([each + end for each, end in zip(several, ends, strict=False)])


def is_flat(bounds: Float, area: Float) -> Any:
    """Return which pieces enclose no area (up to rounding), bool (n,)."""
    sides = bounds[:, 2:] - bounds[:, :2]
    return ~((sides > 0).all(axis=1) & (area > FLAT * sides.prod(axis=1)))


def _numbered(ring: Int, piece: Int) -> Int:
    """Rings numbered anew, so that copies of one have numbers of their own."""
    begins = (np.diff(ring, prepend=-1) != 0) | (np.diff(piece, prepend=-1) != 0)
    return np.cumsum(begins) - 1
