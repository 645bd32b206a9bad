"""The map of a part of a period: a release with time as one of places. Post-processing of it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.box import Box
from dpviz.releases.points.marginal import marginal, share_within
from dpviz.releases.points.range_count import shared_variance
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import rectangle_tree
from dpviz.trees.lattice import Int

CELLS = 64
"""Per side of the grid that stands for trees whose nodes seen from above are no tree."""


def during(release: PointRelease, period: Any) -> PointRelease:
    """A 2-D release of a part of the period, for a map.

    The nodes of the period seen from above are its cells where they are a tree in turn, as they are
    of quadtrees; otherwise a grid is. Each count is the range count's, and so is what it assumes:
    that records are spread evenly in time within the cells that the period cuts.

    Cells that stand under one node share its noise. So a cell's variance is its covariance with the
    count of all of them, Σ over leaves of (share of the leaf in the cell and period) · (share in
    the period) · variance: as no leaf's share is negative, the variances of disjoint cells add up
    to no less than the variance of their sum. It is more than that of ``release.count``.

    Args:
        release: with time; of one with kinds, the map has them too.
        period: as for :meth:`CountRelease.count`.

    Raises:
        DomainError: no axis is time, or no such period.
    """
    domain = release.domain
    if domain.kinds is not None:
        parts = [during(part, period) for part in release.parts]
        extra = {**release.header.extra, "period": parts[0].header.extra["period"]}
        header = replace(release.header, noise=parts[0].header.noise, extra=extra)
        trees = [(part.frame, part.nodes, None) for part in parts]
        return release.with_trees(trees, header)
    place = domain.place.plain
    box = domain.over(place.bounds, period)
    start, end = max(box[0, 2], domain.period[0]), min(box[0, 5], domain.period[1])
    extra = {**release.header.extra, "period": [*map(domain.calendar.words, (start, end))]}
    (lo,), (hi,) = domain.boxes(box)
    finer = place.side // domain.side
    seen = None if release.noise is not None else _seen_from_above(release.nodes, lo[2], hi[2])
    if seen is None:
        grid = marginal(release, (0, 1), (start, end), CELLS)
        return replace(grid, header=replace(grid.header, extra=extra))
    corner, parent = seen
    answers = release.count_boxes(*_columns_of(corner, lo[2], hi[2]))
    inside = share_within(release.nodes, [2], lo, hi) * release.nodes.variance
    variance = shared_variance(release.nodes, inside, *_columns_of(corner, lo[2], hi[2]))
    low, high = corner[:, :2] * finer, corner[:, 2:] * finer
    assumed = answers.uniformity_sd**2
    nodes = Decomposition(low, high, parent, answers.count, variance, assumed)
    return release.derived(Box(place), nodes, replace(release.header, extra=extra))


def _columns_of(corner: Int, lo: int, hi: int) -> tuple[Int, Int]:
    """Boxes over rectangles (k, 4) and the time [lo, hi)."""
    one = np.ones((len(corner), 1), dtype=np.int64)
    return np.hstack([corner[:, :2], one * lo]), np.hstack([corner[:, 2:], one * hi])


def _seen_from_above(nodes: Decomposition, lo: int, hi: int) -> tuple[Int, Int] | None:
    """Tree of the rectangles of nodes in the time [lo, hi); None if they form no tree."""
    at = np.flatnonzero((nodes.lo[:, 2] < hi) & (nodes.hi[:, 2] > lo))
    place = np.full(len(nodes) + 1, -1, dtype=np.int64)
    place[at] = np.arange(len(at))
    corners = np.hstack([nodes.lo[at, :2], nodes.hi[at, :2]])
    return rectangle_tree(corners, place[nodes.parent[at]])


def windows(release: PointRelease, most: int = 12) -> tuple[list[PointRelease], list[str]]:
    """Maps of the whole period in at most ``most`` usual steps, and the start of each.

    Raises:
        DomainError: no axis is time.
    """
    cuts = window_cuts(release.domain, most)
    maps = [during(release, pair) for pair in itertools.pairwise(cuts)]
    return maps, [release.domain.calendar.words(cut) for cut in cuts[:-1]]


def window_cuts(domain: Domain, most: int) -> list[float]:
    """Starts of at most ``most`` usual steps of the whole period, and its end."""
    start, end = domain.period
    step = domain.calendar.usual_step(start, end, domain.step or 0.0, most)
    cuts: list[float] = domain.calendar.edges(start, end, step).tolist()
    if len(cuts) - 1 > most:  # decades, by years
        cuts = np.linspace(start, end, most + 1).tolist()
    return cuts
