"""Marginals: a release in more dimensions seen on two of its axes. Post-processing of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.box import Box
from dpviz.releases.points.range_count import box_count, shared_variance
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import grid_tree
from dpviz.trees.lattice import Float, Int, grid_edges
from dpviz.trees.shrinkage import settled


def share_within(nodes: Decomposition, axes: Sequence[int], lo: Int, hi: Int) -> Float:
    """The share of each node, (n,), that lies in [lo, hi) along some axes."""
    first, last = nodes.lo[:, axes], nodes.hi[:, axes]
    common = np.minimum(last, hi[axes]) - np.maximum(first, lo[axes])
    return np.asarray((np.maximum(common, 0) / (last - first)).prod(axis=1))


def marginal(
    release: PointRelease, axes: tuple[int, int], within: ArrayLike | None = None, cells: int = 64
) -> PointRelease:
    """A grid of range counts over two axes of a release.

    For trips (pickup, drop-off) axes (0, 1) show where trips start, and with ``within`` set to a
    rectangle of drop-offs, where trips *to there* start.

    Args:
        release: of at least two dimensions.
        axes: the two axes of the map.
        within: all lower, then all upper limits over the other axes, in their order; None: all.
        cells: cells per side, a power of two.

    Returns:
        A 2-D release with the same header; each count is a range count, and so is what uniformity
        assumes of it. Cells that cut one leaf share its noise: their variances are those of
        :func:`~dpviz.releases.points.range_count.shared_variance`, so that sums of cells are never
        surer than they are. Of wavelets the header's law is of any sum.

    Raises:
        DomainError: ``within`` is inside out or outside the domain.
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
    none, finer = np.zeros((cells, cells)), flat.side // domain.side
    nodes = grid_tree([grid_edges(flat.side, cells)] * 2, none, none)
    lo, hi = (np.repeat(side, len(nodes), axis=0) for side in domain.boxes(whole.ravel()))
    lo[:, axes], hi[:, axes] = nodes.lo // finer, nodes.hi // finer
    answers, variance, noise = release.count_boxes(lo, hi), none, release.noise
    assumed = answers.uniformity_sd**2
    if noise is None:
        inside = share_within(release.nodes, others, lo[0], hi[0]) * release.nodes.variance
        variance = shared_variance(release.nodes, inside, lo, hi)
    else:
        variance = answers.noise_sd**2
        # Of what the noise hides each cell of the map would have a share, and errors that all cells
        # may have in common add up: their settled counts alone, which sum to the records.
        known = release.nodes.replace(count=settled(release.nodes))
        assumed = box_count(known, None, lo, hi).uniformity_sd ** 2
        noise = noise.marginal(lo[0, others], hi[0, others], cells, flat.side)
    nodes = nodes.replace(count=answers.count, variance=variance, assumed=assumed)
    extra = {**release.header.extra, "marginal": [domain.columns[axis] for axis in axes]}
    return release.derived(
        Box(flat),
        nodes,
        replace(release.header, noise=noise.to_dict() if noise else {}, extra=extra),
    )
