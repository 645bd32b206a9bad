"""Distances of synthetic trajectories from real ones, by the measures of AdaTrace.

M. E. Gursoy, L. Liu, S. Truex, L. Yu, W. Wei: Utility-Aware Synthesis of Differentially Private and
Attack-Resilient Location Traces. CCS 2018, §6; definitions and settings are those of the
experiments in the code that its authors publish (``Experiments``, ``Evaluation`` and ``Query`` of
git-disl/AdaTrace). Real trajectories are lines through the places themselves, so that what is lost
by cutting places into cells is part of every error.

Where this differs from that code: the public rectangle stands for the extent of the data; bins
reach from 0 to the greatest real value (there their width is a twentieth of greatest less least),
and what is longer is counted in the last one instead of left out; a line that stands still counts
for the circles that it is in (there for all); a line that skips cells of the patterns' grid is not
filled up between them, and one of a single cell has no pattern (there that cell twice).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.lazy import shapely
from dpviz.trees.lattice import Float, Int

QUERIES = 200
RADIUS = 1 / 2.8
"""Circles of the query error, and their radius as a share of the longer side of the domain: the
authors' for Brinkhoff's generator."""

SANITY = 0.01
"""Least denominator of a relative error, as a share of the trajectories."""

SIDE = 6
"""Cells per side of the grid of trips and patterns."""

BINS = 20
TOP = 100
SHORTEST, LONGEST = 2, 8
"""Frequent patterns: how many, and of how many cells."""

MEASURES = ("query error", "trip error", "diameter error", "length error", "pattern F1")
"""Errors, of which 0 is best, and a score, of which 1 is best."""


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Lines through points in a rectangle.

    Attributes:
        start: int64 (n + 1,): the points of line r are ``xy[start[r]:start[r + 1]]``, one at least.
        xy: float64 (points, 2).
        bounds: west, south, east, north of the public domain.
    """

    start: Int
    xy: Float
    bounds: tuple[float, float, float, float]

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def travelled(self) -> Float:
        """Length of each line, float64 (n,)."""
        step = np.hypot(*np.diff(self.xy, axis=0).T)
        step[self.start[1:-1] - 1] = 0.0  # from one line to the next
        running = np.concatenate([[0.0], np.cumsum(step), [0.0]])
        first, last = running[self.start[:-1]], running[self.start[1:] - 1]
        return np.asarray(last - first)

    @cached_property
    def diameter(self) -> Float:
        """Greatest distance between two points of each line, float64 (n,)."""
        # The two places farthest apart are corners of the hull, which has few of them.
        line = np.repeat(np.arange(len(self)), np.diff(self.start))
        hulls = shapely.convex_hull(shapely.multipoints(self.xy, indices=line))
        corners, line = shapely.get_coordinates(hulls, return_index=True)
        start, length = np.searchsorted(line, np.arange(len(self))), np.bincount(line)
        widest = np.zeros(len(self))
        for size in np.unique(length).tolist():
            rows = np.flatnonzero(length == size)
            for part in np.array_split(rows, max(1, len(rows) * size * size // 4_000_000)):
                xy = corners[start[part][:, None] + np.arange(size)]
                apart = xy[:, :, None] - xy[:, None]
                widest[part] = np.hypot(apart[..., 0], apart[..., 1]).max(axis=(1, 2))
        return widest

    @cached_property
    def cells(self) -> list[tuple[int, ...]]:
        """The cells of the measures' grid that each line passes, without repetition in a row."""
        west, south, east, north = self.bounds
        place = (self.xy - (west, south)) / (east - west, north - south) * SIDE
        column, row = np.clip(place.astype(np.int64), 0, SIDE - 1).T
        cell = column * SIDE + row
        lines = []
        for first, last in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            visited = cell[first:last]
            lines.append(tuple(visited[np.append(True, visited[1:] != visited[:-1])].tolist()))
        return lines

    @cached_property
    def patterns(self) -> set[tuple[int, ...]]:
        """The :data:`TOP` most frequent cells in a row, counted at every place where they occur."""
        count: Counter[tuple[int, ...]] = Counter()
        for cells in self.cells:
            for size in range(SHORTEST, min(LONGEST, len(cells)) + 1):
                count.update(cells[at : at + size] for at in range(len(cells) - size + 1))
        ranked = sorted(count, key=lambda pattern: (-count[pattern], pattern))
        return set(ranked[:TOP])

    @cached_property
    def _passing(self) -> dict[int, Int]:
        return {}

    def passing(self, seed: int) -> Int:
        """Lines that come within each of the circles of a seed, int64 (:data:`QUERIES`,)."""
        if seed not in self._passing:
            west, south, east, north = self.bounds
            random = np.random.default_rng(seed)
            centres = random.uniform((west, south), (east, north), (QUERIES, 2))
            radius = RADIUS * max(east - west, north - south)
            # The last place of a line begins a segment of no length.
            along = np.diff(self.xy, axis=0, append=self.xy[-1:])
            along[self.start[1:] - 1] = 0.0
            inverse = 1 / np.maximum((along**2).sum(axis=1), 1e-300)
            answers = [self._within(centre, radius, along, inverse) for centre in centres]
            self._passing[seed] = np.array(answers)
        return self._passing[seed]

    def _within(self, centre: Float, radius: float, along: Float, inverse: Float) -> int:
        """Lines that come within the radius of a point."""
        (x, y), (dx, dy) = (centre - self.xy).T, along.T
        at = np.clip((x * dx + y * dy) * inverse, 0, 1)
        inside = (at * dx - x) ** 2 + (at * dy - y) ** 2 <= radius**2
        return int(np.logical_or.reduceat(inside, self.start[:-1]).sum())


def measures(real: Trajectories, synthetic: Trajectories, seed: int = 0) -> dict[str, float]:
    """Every measure of :data:`MEASURES`; both sides have a line at least.

    Query error: mean of |answer − exact| ÷ max(exact, :data:`SANITY` of the lines) over
    :data:`QUERIES` circles with centres drawn evenly from the rectangle; a line counts if any of
    its segments comes within the radius. Trip error: :func:`divergence` of the pairs of first and
    last cell. Diameter and length error: divergence of the greatest distances of two places, and
    of the distances travelled, in :data:`BINS` bins. Pattern F1: of the :data:`TOP` most
    frequent patterns of each side.
    """
    exact, share = real.passing(seed), len(real) / len(synthetic)
    error = np.abs(synthetic.passing(seed) * share - exact) / np.maximum(exact, SANITY * len(real))
    return {
        "query error": float(error.mean()),
        "trip error": divergence(_trips(real), _trips(synthetic)),
        "diameter error": _binned(real.diameter, synthetic.diameter),
        "length error": _binned(real.travelled, synthetic.travelled),
        "pattern F1": _f1(real.patterns, synthetic.patterns),
    }


def divergence(one: Float, other: Float) -> float:
    """Jensen–Shannon divergence of two distributions, in nats.

    >>> round(divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 4)  # ln 2
    0.6931
    """
    middle = (one + other) / 2

    def relative(p: Float) -> float:
        some = p > 0
        return float((p[some] * np.log(p[some] / middle[some])).sum())

    return max(0.5 * relative(one) + 0.5 * relative(other), 0.0)


def _f1(one: set[tuple[int, ...]], other: set[tuple[int, ...]]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _trips(lines: Trajectories) -> Float:
    """Share of each pair of first and last cell."""
    ends = [cells[0] * SIDE**2 + cells[-1] for cells in lines.cells]
    return np.bincount(ends, minlength=SIDE**4) / len(ends)


def _binned(real: Float, synthetic: Float) -> float:
    """Divergence over bins of equal width from 0 to the real maximum; longer ones in the last.

    The authors leave what is longer than any real one out of the synthetic shares; that would hide
    it, so here it is counted.
    """
    width = max(float(real.max()), 1e-12) / BINS

    def shares(values: Float) -> Float:
        number = np.minimum((values / width).astype(np.int64), BINS - 1)
        return np.bincount(number, minlength=BINS) / len(values)

    return divergence(shares(real), shares(synthetic))
