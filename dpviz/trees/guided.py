"""Estimates and sub-cells that follow a public prior, as far as noisy counts agree with it.

Post-processing: it sees noisy numbers and the public prior only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.progress import checkpoint
from dpviz.trees.consistency import TINY, families
from dpviz.trees.decomposition import MAX_NODES, Decomposition, is_leaf
from dpviz.trees.density import MIN_SDS
from dpviz.trees.lattice import Float, Int, morton, unmorton
from dpviz.trees.prior import Fit, Fitting, Prior
from dpviz.trees.shrinkage import project, shrink_level

MAX_OFF_SDS = 3.0
"""Deviations off what the prior expects from which on a count is left as it is."""

MIN_RECORDS, MIN_UNEVENNESS = 5.0, 1e-6
"""Least records of a cell that is divided, and difference of two shares that the prior states."""

DRAWN = 1_000
"""On its map, a cell with more than this part of a prior's mass is drawn as its four quarters."""


def level_fits(
    nodes: Decomposition, raw: tuple[Float, Float], prior: Prior
) -> tuple[list[Fit], Float]:
    """Fits of the levels below the root, and shares of nodes in their parents.

    ``raw``: each node's estimate from its own subtree, and its variance.
    """
    fitting, fits, share = Fitting(), [], np.ones(len(nodes))
    mass = prior.masses(morton(nodes.lo), nodes.volume)
    for part in nodes.levels[1:]:
        count, variance, masses = (each[part].reshape(-1, 4) for each in (*raw, mass))
        fits.append(fitting.add(count, variance, masses))
        share[part] = fits[-1].shares(masses).ravel()
    return fits, share


def guided_estimates(parent: Int, raw: tuple[Float, Float], fits: list[Fit], share: Float) -> Float:
    """Non-negative, consistent estimates, which move towards what a trusted fit expects.

    As :func:`~dpviz.trees.shrinkage.shrink_tree`, but on levels with a trusted fit a true count is
    normal around its share of its parent's final total, with the variance of the fit. A few cells
    may hold much more than any fit expects: a count far off is left as it is.
    """
    leaf, final = is_leaf(parent), np.maximum(raw[0], 0.0)
    for level, fit in zip(families(parent), fits, strict=True):
        part, total = level.part, final[level.inner]
        count, variance = raw[0][part], raw[1][part]
        if fit.trusted:
            whole = level.each(total)
            away = share[part] * whole - count
            both = np.maximum(fit.spread(share[part], whole) + variance, TINY)
            trust = (away**2 <= MAX_OFF_SDS**2 * both) * variance / both
            count, variance = count + trust * away, (1.0 - trust) * variance
        else:
            count, variance = shrink_level(count, variance, leaf[part])
        final[part] = project(count, variance, level, total)
    return final


def with_sub_cells(
    nodes: Decomposition, slope: Float, fits: list[Fit], prior: Prior
) -> Decomposition:
    """A tree with sub-cells below its leaves, which divide the records as the prior says.

    A cell of enough records for its noise is divided while its quarters' shares are uneven, below
    the tree by the last fit above. Where the prior says nothing, or is not used, leaves of the tree
    are divided once by ``slope``, shares of each node's quarters (n, 4), as in
    :func:`~dpviz.trees.density.refine`.

    A sub-cell's variance is its share of the leaf's, so that that of any union of sub-cells is
    never understated, and that of the fit: how far noisy counts were off the prior's shares.
    """
    levels, whole = np.array(fits), int(nodes.volume[0])
    start = morton(nodes.lo).astype(np.int64)
    every: list[Any] = [nodes.level.astype(np.int64), start, nodes.count, nodes.variance]
    cells, slope = [column[nodes.leaf] for column in every], slope[nodes.leaf]
    tree, room = [every], MAX_NODES - len(nodes)
    while len(slope):
        checkpoint()
        rows = cells[2] > np.maximum(MIN_RECORDS, MIN_SDS * np.sqrt(cells[3]))
        depth, start, count, variance = (column[rows, None] for column in cells)
        fit = Fit(*levels[np.minimum(depth, len(levels) - 1)].transpose(2, 0, 1))
        size = whole >> 2 * (depth + 1)
        quarters = start + np.arange(4) * size
        share = fit.shares(prior.masses(quarters, size))
        follows = np.ptp(share, axis=1, keepdims=True) > MIN_UNEVENNESS
        share = np.where(follows, share, slope[rows])
        unsure = np.where(follows, fit.spread(share, count), Fit().spread(share, count))
        divided = np.ptp(share, axis=1) > 0
        below = depth + 1, quarters, share * count, share * variance + unsure
        cells = [np.broadcast_to(each, share.shape)[divided].ravel() for each in below]
        slope = np.full((len(cells[0]), 4), 0.25)
        room -= len(slope)
        if room < 0:
            break
        tree.append(cells)
    depth, start, count, variance = map(np.concatenate, zip(*tree, strict=True))
    key = (depth << 58) | start  # a place has 52 bits; in ascending order breadth-first
    order = np.argsort(key, kind="stable")  # of few runs
    depth, start, key = depth[order], start[order], key[order]
    above = key - (1 << 58) - start % (4 * whole >> 2 * depth)
    lo = unmorton(start, 2)
    return Decomposition.of_halves(
        lo=lo,
        hi=lo + (nodes.hi[0] >> depth[:, None]),
        parent=np.append(-1, np.searchsorted(key, above[1:])),
        count=count[order],
        variance=variance[order],
    )


def prior_cells(prior: Prior, side: int) -> Decomposition:
    """A domain of so many lattice steps, divided by the prior alone; counts are masses."""
    low, whole = np.zeros((1, 2), dtype=np.int64), prior.before[-1:]
    drawn = np.full(1, DRAWN * MIN_RECORDS)
    root = Decomposition(low, low + side, np.full(1, -1), drawn, np.zeros(1))
    exact = Fit(1.0, 1e-12 * whole[0], 0.0)
    nodes = with_sub_cells(root, np.full((1, 4), 0.25), [exact], prior)
    return nodes.replace(count=nodes.count * whole / drawn, variance=np.zeros(len(nodes)))
