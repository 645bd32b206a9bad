"""The map of a part of a period: a release with time as one of places. Post-processing of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz import calendar
from dpviz.releases.points.marginal import marginal
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import breadth_first, renumbered
from dpviz.trees.lattice import Int

if TYPE_CHECKING:
    from dpviz.releases.points.release import PointRelease

CELLS = 64
"""Per side of the grid that stands for trees whose nodes seen from above are no tree."""


def during(release: PointRelease, period: Any) -> PointRelease:
    """A 2-D release of a part of the period, for a map.

    The nodes of the period seen from above are its cells where they are a tree in turn, as they are
    of quadtrees; otherwise a grid is. Each count and its variance are the range count's.

    Args:
        release: with time.
        period: as for :meth:`PointRelease.count`.

    Returns:
        The release of a map: cells above each other's nodes share noise, so sums of cells are asked
        of ``release`` itself.

    Raises:
        DomainError: no axis is time, or no such period.
    """
    from dpviz.releases.points.release import PointRelease

    domain = release.domain
    place = domain.place
    box = domain.over(place.bounds, calendar.period(period))
    start, end = max(box[0, 2], domain.period[0]), min(box[0, 5], domain.period[1])
    extra = {**release.header.extra, "period": [calendar.words(start), calendar.words(end)]}
    (lo,), (hi,) = domain.boxes(box)
    seen = None if release.noise is not None else _seen_from_above(release.nodes, lo[2], hi[2])
    if seen is None:
        grid = marginal(release, (0, 1), (start, end), CELLS)
        return replace(grid, header=replace(grid.header, extra=extra))
    corner, parent = seen
    window = np.full((len(corner), 1), 1, dtype=np.int64)
    low = np.hstack([corner[:, :2], window * lo[2]])
    high = np.hstack([corner[:, 2:], window * hi[2]])
    answers = release.count_boxes(low, high)
    finer = place.side // domain.side
    nodes = Decomposition(
        corner[:, :2] * finer, corner[:, 2:] * finer, parent, answers.count, answers.noise_sd**2
    )
    return PointRelease(place, nodes, replace(release.header, extra=extra))


def _seen_from_above(nodes: Decomposition, lo: int, hi: int) -> tuple[Int, Int] | None:
    """Distinct rectangles (k, 4) of the nodes within [lo, hi) of time, and the parent of each.

    Breadth-first; None where they are no tree: where those of one area have several shapes, so that
    some may cross, or where children leave gaps.
    """
    at = np.flatnonzero((nodes.lo[:, 2] < hi) & (nodes.hi[:, 2] > lo))
    corners = np.hstack([nodes.lo[at, :2], nodes.hi[at, :2]])
    rectangles, first, which = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    above = np.full(len(nodes) + 1, -1, dtype=np.int64)
    above[at] = which.ravel()
    # The first node with a rectangle has a parent with another one.
    parent = above[nodes.parent[at[first]]]
    sides = rectangles[:, 2:] - rectangles[:, :2]
    shapes = np.unique(sides, axis=0)
    chain = shapes[np.argsort(shapes.prod(axis=1), kind="stable")]
    aligned = not (rectangles[:, :2] % sides).any() and not (sides & (sides - 1)).any()
    if not aligned or (np.diff(chain, axis=0) < 0).any() or (parent < 0).sum() != 1:
        return None
    area = sides.prod(axis=1)
    inside = np.bincount(parent[parent >= 0], area[parent >= 0], minlength=len(area))
    if ((inside > 0) & (inside != area)).any():
        return None
    order = breadth_first(parent)
    return rectangles[order], renumbered(parent, order)
