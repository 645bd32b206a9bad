"""Noisy counts of a tree: every level with its own share, or the leaves only."""

from __future__ import annotations

import numpy as np

from dpviz.private.budget import DISJOINT, Budget, Share
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import MAX_NODES, is_leaf
from dpviz.trees.lattice import Float, Int


def measured_levels(noise: Noise, shares: list[Share], exact: list[Int]) -> tuple[Float, Float]:
    """Noisy counts and variances of a tree's nodes, level by level with the level's share."""
    pairs = [geometric(noise, share, counts) for share, counts in zip(shares, exact, strict=False)]
    return (
        np.concatenate([noisy for noisy, _ in pairs]).astype(np.float64),
        np.concatenate([variance for _, variance in pairs]),
    )


def leaf_sums(parent: Int, exact: Int, budget: Budget, noise: Noise) -> tuple[Float, Float]:
    """Spend the rest of the budget on leaf counts; an inner count is the sum of its leaves.

    Returns noisy counts and variances of all nodes, float64 (n,) each. Of ``exact`` only the counts
    of leaves are used.
    """
    leaf = is_leaf(parent)
    share = budget.spend(budget.left, "leaf counts", mechanism="geometric", why=DISJOINT)
    noisy, variance = np.zeros((2, len(leaf)))
    noisy[leaf], variance[leaf] = geometric(noise, share, exact[leaf])
    return sum_up(parent, noisy), sum_up(parent, variance)


def highest(dims: int) -> int:
    """The greatest height of a complete tree of fanout 2^dims under the public cap on nodes."""
    height, level, nodes = 0, 1, 1
    while nodes + (level << dims) <= MAX_NODES:
        height, level, nodes = height + 1, level << dims, nodes + (level << dims)
    return height


def geometric_weights(height: int) -> list[float]:
    """Relative shares of the levels, root first: height i (leaves 0) gets 2^{(h−i)/3}."""
    return [2.0 ** (depth / 3.0) for depth in range(height + 1)]
