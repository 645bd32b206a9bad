"""Synthetic points from a release: they cost no ε and describe no real person.

Post-processing: anyone with the release could draw them. They reproduce its counts, noise and all,
and lie evenly inside each leaf.
"""

from __future__ import annotations

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import ParameterError, ReleaseError
from dpviz.trees.consistency import Families, sum_up
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int
from dpviz.trees.shrinkage import nonnegative, project

MAX_POINTS = 100_000_000


def sample(
    domain: Domain, nodes: Decomposition, n: int | None = None, seed: int | None = None
) -> Float:
    """Draw synthetic points.

    Negative counts cannot be sampled from: counts are first moved to the closest non-negative ones
    with the release's total and, from the root down, the total of every parent. Cutting each leaf
    at zero would add up to too many points. Of n points, a node of count c in a total T then gets
    n·c/T, rounded up or down, and exactly that on average: leaves stand in the order of the tree,
    and every T/n-th of their records is drawn, from a random first one (systematic sampling,
    W. Madow and L. Madow 1944). So many small leaves are not left empty together, as they would be
    if each was rounded.

    Returns coordinates in the domain's CRS, float64 of shape (n, dims), in random order.

    Args:
        n: how many; the noisy total, rounded, by default.
        seed: makes the sample repeatable. It is no seed of the release's noise.

    Raises:
        ParameterError: fewer than 0 points, or more than :data:`MAX_POINTS`.
        ReleaseError: the release has no positive total, so no point can be drawn.
    """
    try:
        random = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ParameterError(f"seed={seed!r}: give a whole number from 0") from None
    total = float(nodes.count[nodes.levels[0]].sum())
    n = max(round(total), 0) if n is None else n
    if not isinstance(n, (int, np.integer)) or not 0 <= n <= MAX_POINTS:
        raise ParameterError(f"{n} points: give a whole number from 0 to {MAX_POINTS:,}")
    weight = sampling_counts(nodes)
    leaves = depth_first_leaves(nodes)
    leaves = leaves[weight[leaves] > 0]
    if n and not len(leaves):
        raise ReleaseError("no leaf has a positive count: there is nothing to sample from")
    rows = np.repeat(leaves, systematic(weight[leaves], n, random))
    low, high = domain.to_coordinates(nodes.lo[rows]), domain.to_coordinates(nodes.hi[rows])
    points = low + random.random(low.shape) * (high - low)
    # Rounding must not move a point onto the upper side, which belongs to the next cell.
    points = np.minimum(points, np.nextafter(high, -np.inf))
    return np.asarray(points[random.permutation(n)])


def sampling_counts(nodes: Decomposition) -> Float:
    """Node counts for drawing: not negative, with the release's total, 0 for inner nodes."""
    roots = nodes.levels[0]
    wanted = nodes.count.copy()
    # Treat several roots as one family, so that the others compensate a negative one.
    total = np.maximum(wanted[roots].sum(keepdims=True), 0.0)
    family = Families(roots, np.zeros(1, np.int64), 0, np.zeros(roots.stop, np.int64))
    wanted[roots] = project(wanted[roots], nodes.variance[roots], family, total)
    counts = nonnegative(nodes.parent, wanted, nodes.variance)
    return np.where(nodes.leaf, counts, 0.0)


def depth_first_leaves(nodes: Decomposition) -> Int:
    """Leaves in depth-first order, so that the leaves below a node are neighbours."""
    width = sum_up(nodes.parent, np.ones(len(nodes))).astype(np.int64)
    place = np.cumsum(width) - width  # final for roots only
    for part in nodes.levels[1:]:
        above = nodes.parent[part]
        before = np.cumsum(width[part]) - width[part]
        first = nodes.first_child[above] - part.start
        place[part] = place[above] + before - before[first]
    leaves = np.flatnonzero(nodes.leaf)
    return np.asarray(leaves[np.argsort(place[leaves])])


def systematic(weight: Float, n: int, random: np.random.Generator) -> Int:
    """Split n into whole shares proportional to ``weight``, rounded without bias."""
    if not n:
        return np.zeros(len(weight), dtype=np.int64)
    ends = np.cumsum(weight)
    edges = np.floor(n * (ends / ends[-1]) + random.random()).astype(np.int64)
    edges[-1] = n  # n + a number below 1 may round to n + 1
    return np.asarray(np.diff(np.minimum(edges, n), prepend=0))
