"""Marginals: project a release onto two of its axes, as post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.releases.counts import CountRelease, PointRelease
from dpviz.releases.points.box import Box, even_grid
from dpviz.releases.points.range_count import shared_variance
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int
from dpviz.trees.shrinkage import nonnegative_counts


def share_within(nodes: Decomposition, axes: Sequence[int], lo: Int, hi: Int) -> Float:
    """Share of each node, (n,), that lies in [lo, hi) along some axes."""
    first, last = nodes.lo[:, axes], nodes.hi[:, axes]
    common = np.minimum(last, hi[axes]) - np.maximum(first, lo[axes])
    return np.asarray((np.maximum(common, 0) / (last - first)).prod(axis=1))


def marginal(
    release: PointRelease, axes: tuple[int, int], within: ArrayLike | None = None, cells: int = 64
) -> PointRelease:
    """A grid of range counts over two axes of a release.

    For trips (pickup, drop-off) axes (0, 1) show where trips start, and with ``within`` set to a
    rectangle of drop-offs, where trips *to there* start.

    Returns a 2-D release with the same header, by :func:`on_map`.

    Args:
        within: all lower, then all upper limits over the other axes, in their order; None: all.
        cells: cells per side, a power of two.
    """
    domain = release.domain
    flat = Domain(
        tuple(domain.lower[axis] for axis in axes),
        tuple(domain.upper[axis] for axis in axes),
        tuple(domain.columns[axis] for axis in axes),
        domain.crs,
    )
    others = [axis for axis in range(domain.dims) if axis not in axes]
    whole = np.array([domain.lower, domain.upper])
    if within is not None:
        whole[:, others] = np.asarray(within, dtype=np.float64).reshape(2, -1)
    (lo,), (hi,) = domain.boxes(whole.ravel())
    extra = {"marginal": list(flat.columns)}
    return on_map(release, flat, axes, (lo, hi), even_grid(flat.side, cells), extra)


def on_map(
    release: PointRelease,
    flat: Domain,
    axes: Sequence[int],
    window: tuple[Int, Int],
    nodes: Decomposition,
    extra: dict[str, Any],
) -> PointRelease:
    """Project a release onto two of its axes; the counts are range counts.

    Cells that cut the same leaf share its noise. So the stated variance of a cell is its covariance
    with the sum of all cells: Σ over leaves of (share of the leaf in the cell and window) · (share
    in the window) · variance. No share is negative, so that variances of disjoint cells add up to
    at least the variance of their sum. They are larger than those of ``release.count``. For
    wavelets the header states the exact noise of any sum. The root alone is in no sum: its errors
    are those of ``release.count``, so that a total is one number with one error everywhere.

    Args:
        release: a release of one part.
        window: lattice box to count in; its limits along the two axes do not matter.
        nodes: cells of the map on the flat domain's lattice; a grid if the release states a noise.
    """
    domain, noise = release.domain, release.noise
    others = [axis for axis in range(domain.dims) if axis not in axes]
    lo, hi = (np.repeat(side[None], len(nodes), axis=0) for side in window)
    for side, of_nodes in ((lo, nodes.lo), (hi, nodes.hi)):
        side[:, axes] = of_nodes // (flat.side // domain.side)
    answers = release.count_boxes(lo, hi)
    variance = answers.noise_sd**2
    # Use nonnegative counts of wavelets: with raw ones every cell of the map would get a share of
    # the noise, and errors that cells have in common would add up. The variances state the noise.
    held = release.nodes.count if noise is None else nonnegative_counts(release.nodes)
    certain = release.nodes.replace(count=held, variance=np.zeros(len(held)))
    assumed = release.frame.sums(certain, None, (lo, hi))[:, 2]
    if noise is None:
        inside = share_within(release.nodes, others, lo[0], hi[0]) * release.nodes.variance
        variance = shared_variance(release.nodes, inside, lo, hi)
    else:
        cells = int(flat.side // (nodes.hi - nodes.lo)[-1, 0])
        noise = noise.marginal(lo[0, others], hi[0, others], cells, flat.side)
    grid = nodes.replace(count=answers.count, variance=variance, assumed=assumed)
    if nodes.levels[0].stop == 1:
        variance[0] = answers.noise_sd[0] ** 2
        # A count adds the errors that its nodes share; this error includes them already.
        assumed[0] = answers.uniformity_sd[0] ** 2 / (1 + grid.coherence**2)
    return CountRelease(
        Box(flat),
        grid.replace(variance=variance, assumed=assumed),
        replace(
            release.header,
            noise=noise.to_dict() if noise else {},
            extra={**release.header.extra, **extra},
        ),
    )
