"""Estimates and sub-cells that follow a public prior, as far as noisy counts agree with it.

Post-processing: it sees noisy numbers and the public prior only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpviz.progress import checkpoint
from dpviz.trees.consistency import families
from dpviz.trees.decomposition import MAX_NODES, is_leaf
from dpviz.trees.density import MIN_SDS, SLOPED, uniformity_variance
from dpviz.trees.lattice import Codes, Float, Int
from dpviz.trees.prior import Fit, Fitting, Prior
from dpviz.trees.shrinkage import project, shrink_level

MIN_VARIANCE = 1e-9
"""Least variance of a count, so that certain ones can be weighed."""

MAX_OFF_SDS = 3.0
"""Deviations off what the prior expects from which on a count is left as it is."""

MIN_RECORDS = 5.0
"""Records below which no cell is divided further."""

MIN_UNEVENNESS = 0.05
"""Least difference of two shares for which a cell is divided."""

MAX_CELLS = 1_000_000
"""Public cap on sub-cells."""


def level_fits(
    codes: list[Codes], parent: Int, raw: tuple[Float, Float], prior: Prior
) -> tuple[list[Fit], Float]:
    """Fits of the levels below the root, and shares of nodes in their parents.

    Args:
        codes: Morton codes of each level of a tree.
        parent: breadth-first parents.
        raw: each node's estimate from its own subtree, and its variance.
        prior: public.

    Returns:
        The fits, and the share of each node, NaN on levels where the prior is not used.
    """
    fitting, fits, share = Fitting(), [], np.full(len(parent), np.nan)
    for depth, level in enumerate(families(parent), 1):
        mass = prior.masses(codes[depth], depth).reshape(-1, 4)
        count, variance = (each[level.part].reshape(-1, 4) for each in raw)
        fit = fitting.add(count, variance, mass)
        fits.append(fit)
        if fit.used:
            share[level.part] = fit.shares(mass).ravel()
    return fits, share


def guided_estimates(parent: Int, raw: tuple[Float, Float], fits: list[Fit], share: Float) -> Float:
    """Non-negative, consistent estimates, which move towards what a trusted fit expects.

    As :func:`~dpviz.trees.shrinkage.shrink_tree`, but on levels with a trusted fit a true count is
    normal around share q × its parent's final total T, with the variance q(1 − q)(T + φT²). A few
    cells may hold much more than any fit expects: a count far off is left as it is.
    """
    leaf, final = is_leaf(parent), np.maximum(raw[0], 0.0)
    for level, fit in zip(families(parent), fits, strict=True):
        part, total = level.part, final[level.inner]
        count, variance = raw[0][part], raw[1][part]
        if fit.trusted:
            whole, q = level.each(total), share[part]
            known = q * (1.0 - q) * whole * (1.0 + fit.misfit * whole)
            both = np.maximum(known + variance, MIN_VARIANCE)
            near = (q * whole - count) ** 2 <= MAX_OFF_SDS**2 * both
            trust = near * variance / both
            wanted = count + trust * (q * whole - count)
            spread = (1.0 - trust) * variance
        else:
            wanted, spread = shrink_level(count, variance, leaf[part])
        final[part] = project(wanted, spread, level, total)
    return final


def tree_with_sub_cells(
    codes: list[Codes],
    columns: tuple[NDArray[np.bool_], Float, Float, Float],
    fits: list[Fit],
    prior: Prior,
) -> tuple[list[Codes], Float, Float]:
    """A tree with sub-cells below its leaves, which divide the records as the prior says.

    A leaf is divided while its children's shares are uneven and its count exceeds the noise. Levels
    below the tree use the last fit above them. Where the prior says nothing, or is not used,
    leaves of the tree are divided once by their slopes, as in
    :func:`~dpviz.trees.density.refine`.

    A sub-cell's variance is its share of the leaf's, so that of any union of sub-cells is never
    understated, and that of the fit: how far noisy counts were off the prior's shares.

    Args:
        codes: Morton codes of each level.
        columns: of each node, whether it is a leaf; count; variance; shares of its quarters by
            slopes, (n, 4).
        fits: of the levels below the root.
        prior: public.

    Returns:
        Codes of each level in ascending order; counts and variances, breadth-first.
    """
    ends = np.cumsum([len(level) for level in codes])[:-1]
    levels = list(zip(codes, *(np.split(column, ends) for column in columns), strict=True))
    room = min(MAX_CELLS, MAX_NODES - len(columns[0]))
    detailed_levels: list[tuple[Codes, Float, Float]] = []
    below = none = tuple(column[:0] for column in levels[0])
    fit, depth = Fit(), 0
    while depth < len(levels) or len(below[0]):
        checkpoint()
        cells = levels[depth] if depth < len(levels) else none
        cells = tuple(map(np.concatenate, zip(cells, below, strict=True)))
        order = np.argsort(cells[0], kind="stable")
        code, leaf, count, variance, slope = (column[order] for column in cells)
        detailed_levels.append((code, count, variance))
        fit = fits[depth] if depth < len(fits) else fit
        rows = np.flatnonzero(leaf & (count > MIN_SDS * np.sqrt(variance)))
        children = (code[rows, None] << np.uint64(2)) | np.arange(4, dtype=np.uint64)
        share, total = slope[rows], count[rows, None]
        unsure = uniformity_variance(total, share) / SLOPED
        if fit.used:
            q = fit.shares(prior.masses(children.ravel(), depth + 1).reshape(-1, 4))
            follows = ((np.ptp(q, axis=1) > MIN_UNEVENNESS) & (count[rows] > MIN_RECORDS))[:, None]
            share = np.where(follows, q, share)
            spread = q * (1.0 - q) * total * (1.0 + fit.misfit * total)
            unsure = np.where(follows, spread, unsure)
        divided = np.ptp(share, axis=1) > 0
        if 4 * divided.sum() > room:
            divided[:] = False
        rows, children, share, unsure = (each[divided] for each in (rows, children, share, unsure))
        room -= children.size
        below = (
            children.ravel(),
            np.ones(children.size, dtype=np.bool_),
            (share * count[rows, None]).ravel(),
            (share * variance[rows, None] + unsure).ravel(),
            np.full((children.size, 4), 0.25),
        )
        depth += 1
    counts, variances = (np.concatenate([level[at] for level in detailed_levels]) for at in (1, 2))
    return [level[0] for level in detailed_levels], counts, variances
