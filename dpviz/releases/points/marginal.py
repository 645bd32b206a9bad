"""Marginals: a release in more dimensions seen on two of its axes. Post-processing of a release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpviz.domain import Domain
from dpviz.releases.points.release import PointRelease
from dpviz.trees.grid import grid_tree
from dpviz.trees.lattice import grid_edges


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
        A 2-D release with the same header; each cell's variance is that of its range count, and
        what uniformity assumes of it likewise. Cells that cut one leaf share its noise: ask the
        release itself for the noise of their sums.

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
    lo, hi = (np.repeat(side, cells * cells, axis=0) for side in domain.boxes(whole.ravel()))
    edges = grid_edges(domain.side, cells)
    first, second = (part.ravel() for part in np.meshgrid(*[np.arange(cells)] * 2, indexing="ij"))
    for axis, part in zip(axes, (first, second), strict=True):
        lo[:, axis], hi[:, axis] = edges[part], edges[part + 1]
    answers = release.count_boxes(lo, hi)
    noise = release.noise
    if noise is not None:
        noise = noise.marginal(lo[0, others], hi[0, others], cells, flat.side)
    nodes = grid_tree(
        [grid_edges(flat.side, cells)] * 2,
        answers.count.reshape(cells, cells),
        (answers.noise_sd**2).reshape(cells, cells),
    )
    finer = flat.side // domain.side
    lo, hi = (np.repeat(side[:1], len(nodes), axis=0) for side in (lo, hi))
    lo[:, axes], hi[:, axes] = nodes.lo // finer, nodes.hi // finer
    nodes = nodes.replace(assumed=release.count_boxes(lo, hi).uniformity_sd ** 2)
    extra = {**release.header.extra, "marginal": [domain.columns[axis] for axis in axes]}
    return PointRelease(
        flat, nodes, replace(release.header, noise=noise.to_dict() if noise else {}, extra=extra)
    )
