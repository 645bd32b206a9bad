"""Synthetic points from a release: free of charge, and of nobody.

Post-processing: whoever has the release could make them. They reproduce its counts, noise and all,
and lie evenly inside each leaf.
"""

from __future__ import annotations

import numpy as np

from dpviz.domain import Domain
from dpviz.errors import ParameterError, ReleaseError
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

MOST = 100_000_000


def sample(
    domain: Domain, nodes: Decomposition, n: int | None = None, seed: int | None = None
) -> Float:
    """Synthetic points.

    A leaf of estimate c gets its share n·c / Σc, rounded so that all shares add up to n (largest
    remainders first, ties at random); negative estimates count as zero.

    Args:
        domain: of the release.
        nodes: its decomposition.
        n: how many; the noisy total by default.
        seed: makes the sample repeatable. It is no seed of the release's noise.

    Returns:
        Coordinates in the domain's CRS, float64 of shape (n, dims), in random order.

    Raises:
        ParameterError: fewer than 0 points, or more than :data:`MOST`.
        ReleaseError: a release without any positive count, of which no point can be drawn.
    """
    random = np.random.default_rng(seed)
    leaves = np.flatnonzero(nodes.leaf & (nodes.count > 0))
    weight = nodes.count[leaves]
    n = round(float(weight.sum())) if n is None else n
    if not 0 <= n <= MOST:
        raise ParameterError(f"{n:,} points: give a number from 0 to {MOST:,}")
    if n and not len(leaves):
        raise ReleaseError("no leaf has a positive count: there is nothing to sample from")
    rows = np.repeat(leaves, _shares(weight, n, random)) if n else leaves[:0]
    low, high = domain.to_coordinates(nodes.lo[rows]), domain.to_coordinates(nodes.hi[rows])
    points = low + random.random(low.shape) * (high - low)
    # Rounding must not lift a point onto the upper side, which belongs to the next cell.
    points = np.minimum(points, np.nextafter(high, -np.inf))
    return np.asarray(points[random.permutation(n)])


def _shares(weight: Float, n: int, random: np.random.Generator) -> Int:
    """Whole shares of n in proportion to positive weights, by largest remainders."""
    exact = n * (weight / weight.sum())
    whole = np.floor(exact).astype(np.int64)
    rest = n - int(whole.sum())
    order = np.lexsort((random.random(len(weight)), whole - exact))
    whole[order[:rest]] += 1
    return np.asarray(whole)
