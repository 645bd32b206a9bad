"""How far synthetic trajectories are from real ones, by the measures of AdaTrace.

M. E. Gursoy, L. Liu, S. Truex, L. Yu, W. Wei: Utility-Aware Synthesis of Differentially Private and
Attack-Resilient Location Traces. CCS 2018, §6; settings are those of the experiments that its
authors publish. Here a trajectory is a line through the centres of its cells, real or synthetic:
what is lost by cutting places into cells is in neither.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.lattice import Float, Int

QUERIES = 200
RADIUS = 1 / 2.8
"""Circles of the query error, and their radius as a share of the longer side of the domain: the
authors' for Brinkhoff's generator."""

SANITY = 0.01
"""Least denominator of a relative error, as a share of the trajectories."""

SIDE = 6
"""Cells per side of the grid of trips and patterns."""

BUCKETS = 20
TOP = 100
SHORTEST, LONGEST = 2, 8
"""Frequent patterns: how many, and of how many cells."""

MEASURES = ("query error", "trip error", "diameter error", "length error", "pattern F1")
"""Of the first four less is better, 0 is best; of the last more, 1 is best."""


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
        return np.asarray(running[self.start[1:] - 1] - running[self.start[:-1]])

    @cached_property
    def diameter(self) -> Float:
        """Greatest distance between two points of each line, float64 (n,)."""
        length = np.diff(self.start)
        widest = np.zeros(len(self))
        for size in np.unique(length).tolist():
            rows = np.flatnonzero(length == size)
            for part in np.array_split(rows, max(1, len(rows) * size * size // 4_000_000)):
                xy = self.xy[self.start[part][:, None] + np.arange(size)]
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
    def _segments(self) -> tuple[Float, Float, Int]:
        """Distinct segments, their ends (k, 2) each, and which one begins at each point.

        The last point of a line begins a segment of no length. Lines through centres of cells have
        few distinct ones.
        """
        last = np.append(self.xy[1:], self.xy[-1:], axis=0)
        last[self.start[1:] - 1] = self.xy[self.start[1:] - 1]
        ends, which = np.unique(np.hstack([self.xy, last]), axis=0, return_inverse=True)
        return ends[:, :2], ends[:, 2:], which.ravel()

    def passing(self, centre: Float, radius: float) -> int:
        """Lines that come within the radius of a point."""
        first, last, which = self._segments
        inside = (_distance(first, last, centre) <= radius)[which]
        return int(np.logical_or.reduceat(inside, self.start[:-1]).sum())


def measures(real: Trajectories, synthetic: Trajectories, seed: int = 0) -> dict[str, float]:
    """Every measure of :data:`MEASURES`; both sides have a line at least."""
    share = len(real) / len(synthetic)
    west, south, east, north = real.bounds
    centres = np.random.default_rng(seed).uniform((west, south), (east, north), (QUERIES, 2))
    radius = RADIUS * max(east - west, north - south)
    errors = []
    for centre in centres:
        exact = real.passing(centre, radius)
        answer = synthetic.passing(centre, radius) * share
        errors.append(abs(answer - exact) / max(exact, SANITY * len(real)))
    return {
        "query error": float(np.mean(errors)),
        "trip error": divergence(_trips(real), _trips(synthetic)),
        "diameter error": _binned(real.diameter, synthetic.diameter),
        "length error": _binned(real.travelled, synthetic.travelled),
        "pattern F1": _f1(frequent(real), frequent(synthetic)),
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


def frequent(lines: Trajectories) -> set[tuple[int, ...]]:
    """The most frequent patterns: cells in a row, counted at every place where they occur."""
    count: Counter[tuple[int, ...]] = Counter()
    for cells in lines.cells:
        for size in range(SHORTEST, min(LONGEST, len(cells)) + 1):
            count.update(cells[at : at + size] for at in range(len(cells) - size + 1))
    ranked = sorted(count, key=lambda pattern: (-count[pattern], pattern))
    return set(ranked[:TOP])


def _f1(one: set[tuple[int, ...]], other: set[tuple[int, ...]]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _trips(lines: Trajectories) -> Float:
    """How often each pair of first and last cell occurs, as shares."""
    ends = [cells[0] * SIDE**2 + cells[-1] for cells in lines.cells]
    return np.bincount(ends, minlength=SIDE**4) / len(ends)


def _binned(real: Float, synthetic: Float) -> float:
    """Divergence over buckets of equal width from 0 to the real maximum; longer ones in the last.

    The authors leave what is longer than any real one out of the synthetic shares; that would hide
    it, so here it is counted.
    """
    width = max(float(real.max()), 1e-12) / BUCKETS

    def shares(values: Float) -> Float:
        bucket = np.minimum((values / width).astype(np.int64), BUCKETS - 1)
        return np.bincount(bucket, minlength=BUCKETS) / len(values)

    return divergence(shares(real), shares(synthetic))


def _distance(first: Float, last: Float, point: Float) -> NDArray[np.float64]:
    """Distance of a point to each segment, float64 (n,)."""
    along = last - first
    square = np.maximum((along**2).sum(axis=1), 1e-300)
    at = np.clip(((point - first) * along).sum(axis=1) / square, 0, 1)
    return np.asarray(np.hypot(*(first + at[:, None] * along - point).T))
