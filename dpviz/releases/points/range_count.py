"""Range counts from a release, with the noise that is in them.

A rectangle is snapped to lattice lines; a node inside it gives its estimate, a leaf cut by it the
share of its area (the uniformity assumption), so areas are exact integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpviz.trees.lattice import Float, Int, overlaps

if TYPE_CHECKING:
    from dpviz.releases.points.release import PointRelease

INTERVAL_SDS = 2.12
"""Half-width of a 95 % interval in standard deviations of the noise: the two-sided 95 % point of a
single Laplace draw, ln(20)/√2 = 2.118. Sums of several draws are closer to normal (1.96), so it is
safe for every number of nodes. The estimates of disjoint nodes are never positively correlated
after least-squares consistency, so the sum of their variances is never too small. Where they may
be, the release's header says so, and the variance is that of :mod:`dpviz.trees.haar`."""

BULK = 64
"""From this many rectangles on, the compiled walk pays for its import."""


@dataclass(frozen=True)
class Answers:
    """Answers to q rectangles, as columns of length q.

    Attributes:
        count: estimated records.
        noise_sd: standard deviation of the noise in ``count``.
        low, high: 95 % interval for the noise alone.
        uniformity_sd: how far the true spread inside the leaves that the edge cuts may move the
            count: an ESTIMATE, from a Beta model of concentration 2 around the share of the area.
        nodes: nodes used.
    """

    count: Float
    noise_sd: Float
    low: Float
    high: Float
    uniformity_sd: Float
    nodes: Int

    def __len__(self) -> int:
        return len(self.count)


@dataclass(frozen=True)
class Cover:
    """The nodes that answer one rectangle, and the share of each that lies inside it."""

    nodes: Int
    fraction: Float


def range_count(release: PointRelease, rects: ArrayLike) -> Answers:
    """Estimated records in rectangles.

    Args:
        release: any release.
        rects: shape (q, 2·dims) or (2·dims,), in the domain's CRS: all lower limits, then all upper
            limits (2-D: west, south, east, north). The part outside the domain is cut off.

    Raises:
        DomainError: a rectangle that is inside out, not finite or wholly outside the domain.
    """
    lo, hi = release.domain.boxes(rects)
    return box_count(release, lo, hi)


def box_count(release: PointRelease, lo: Int, hi: Int) -> Answers:
    """Estimated records in lattice boxes [lo, hi), int64 of shape (q, dims) each."""
    if len(lo) < BULK:
        found = [cover(release, lo[row], hi[row]) for row in range(len(lo))]
        columns = np.array([_sums(release, each) for each in found]).reshape(len(lo), 4)
    else:
        from dpviz.trees.kernels import walk_tree

        nodes = release.nodes
        columns = walk_tree(
            nodes.lo,
            nodes.hi,
            nodes.first_child,
            nodes.n_children,
            nodes.count,
            nodes.variance,
            nodes.levels[0].stop,
            np.ascontiguousarray(lo),
            np.ascontiguousarray(hi),
        )
    if release.noise is not None:
        columns[:, 1] = release.noise.of_boxes(lo, hi)
    return answers_from(columns)


def answers_from(columns: Float) -> Answers:
    """Answers from sums over the nodes used.

    Args:
        columns: shape (q, 4): count, variance of the noise, variance of what uniformity assumes,
            nodes used.
    """
    count, noise_sd, uniformity_sd = columns[:, 0], np.sqrt(columns[:, 1]), np.sqrt(columns[:, 2])
    half = INTERVAL_SDS * noise_sd
    return Answers(
        count=count,
        noise_sd=noise_sd,
        low=np.floor(count - half),
        high=np.ceil(count + half),
        uniformity_sd=uniformity_sd,
        nodes=columns[:, 3].astype(np.int64),
    )


def cover(release: PointRelease, lo: ArrayLike, hi: ArrayLike) -> Cover:
    """The nodes that answer the lattice box [lo, hi): the reference walk, level by level."""
    nodes = release.nodes
    lo, hi = np.asarray(lo, np.int64), np.asarray(hi, np.int64)
    frontier = np.arange(nodes.levels[0].stop)
    used, shares = [], []
    while len(frontier):
        volume = nodes.volume[frontier]
        common = overlaps(nodes.lo[frontier], nodes.hi[frontier], lo, hi)
        answered = (common > 0) & ((common == volume) | (nodes.n_children[frontier] == 0))
        used.append(frontier[answered])
        shares.append(common[answered] / volume[answered])
        opened = frontier[(common > 0) & ~answered]
        sizes = nodes.n_children[opened].astype(np.int64)
        offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        frontier = np.repeat(nodes.first_child[opened].astype(np.int64), sizes) + offsets
    return Cover(np.concatenate(used), np.concatenate(shares))


def _sums(release: PointRelease, found: Cover) -> tuple[float, float, float, int]:
    count, variance = release.nodes.count[found.nodes], release.nodes.variance[found.nodes]
    share = found.fraction
    cut = np.maximum(count, 0.0) ** 2 * share * (1.0 - share) / 3.0
    return (
        float(count @ share),
        float(variance @ share**2),
        float(cut.sum()),
        len(found.nodes),
    )
