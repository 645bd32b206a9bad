"""Map of a part of a release's period, with time removed; post-processing."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.domain import Domain
from dpviz.domain.periods import steps_words, whole_words
from dpviz.releases.counts import PointRelease, is_points
from dpviz.releases.points.box import even_grid, outlines
from dpviz.releases.points.marginal import on_map
from dpviz.releases.release import Release
from dpviz.releases.split import count_release
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import rectangle_tree
from dpviz.trees.lattice import Int

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def during(release: PointRelease, period: Any) -> PointRelease:
    """A 2-D release of a part of the period, for a map.

    Its cells are the rectangles of the period's nodes if these form a tree, as in quadtrees, and a
    grid otherwise. Each count is a range count: records are assumed to be spread evenly in time
    within the nodes that the period cuts. For the variances see
    :func:`~dpviz.releases.points.marginal.on_map`.

    Args:
        release: with time; a map of a release with kinds has the same kinds.
        period: as for :meth:`CountRelease.count`.
    """
    domain = release.domain
    if domain.kinds is not None:
        parts = [during(part, period) for part in release.parts]
        extra = {**release.header.extra, "period": parts[0].header.extra["period"]}
        header = replace(release.header, noise=parts[0].header.noise, extra=extra)
        return count_release(release.by, [(part.frame, part.nodes, None) for part in parts], header)
    place = domain.without_time.counts_only
    box = domain.query_boxes(place.bounds, period)
    start, end = max(box[0, 2], domain.period[0]), min(box[0, 5], domain.period[1])
    extra = {"period": [*map(domain.calendar.text, (start, end))]}
    (lo,), (hi,) = domain.boxes(box)
    tree = None if release.noise is not None else _rectangles(release.nodes, lo[2], hi[2])
    if tree is None:
        nodes = even_grid(place.side)
    else:
        corners, parent = tree
        nodes = outlines(corners * (place.side // domain.side), parent)
    return on_map(release, place, (0, 1), (lo, hi), nodes, extra)


def _rectangles(nodes: Decomposition, lo: int, hi: int) -> tuple[Int, Int] | None:
    """Tree of the rectangles of nodes in the time [lo, hi); None if they do not nest."""
    at = np.flatnonzero((nodes.lo[:, 2] < hi) & (nodes.hi[:, 2] > lo))
    place = np.full(len(nodes) + 1, -1, dtype=np.int64)
    place[at] = np.arange(len(at))
    corners = np.hstack([nodes.lo[at, :2], nodes.hi[at, :2]])
    return rectangle_tree(corners, place[nodes.parent[at]])


def has_windows(release: Release) -> TypeIs[PointRelease]:
    """Return whether a release is of points on a map with time."""
    if not is_points(release) or release.domain.time is None:
        return False
    return release.domain.without_time.dims == 2


def windows(release: PointRelease, most: int = 12) -> tuple[list[PointRelease], list[str]]:
    """Maps of the whole period and of at most ``most`` steps, each with its words."""
    axis, period = release.domain.calendar, release.domain.period
    pairs = list(itertools.pairwise(window_cuts(release.domain, most)))
    steps = pairs if len(pairs) > 1 else []
    names = [whole_words(axis, *period), *steps_words(axis, steps)]
    return [during(release, pair) for pair in (period, *steps)], names


def window_cuts(domain: Domain, most: int = 12) -> list[float]:
    """Starts of at most ``most`` steps of the whole period, and its end."""
    start, end = domain.period
    step = domain.calendar.default_step(start, end, domain.step or 0.0, most)
    cuts: list[float] = domain.calendar.edges(start, end, step).tolist()
    if len(cuts) - 1 > most:  # decades use steps of years
        cuts = np.linspace(start, end, most + 1).tolist()
    return cuts
