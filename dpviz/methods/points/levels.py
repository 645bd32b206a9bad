"""Counts of a tree measured level by level, each level with its own share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpviz.private.mechanisms.noise import geometric
from dpviz.trees.lattice import Float, Int

if TYPE_CHECKING:
    from dpviz.private.budget import Share
    from dpviz.private.mechanisms.noise import Noise


def measured_levels(noise: Noise, shares: list[Share], exact: list[Int]) -> tuple[Float, Float]:
    """Noisy counts and variances of a tree's nodes, level by level with the level's share."""
    pairs = [geometric(noise, share, counts) for share, counts in zip(shares, exact, strict=False)]
    return (
        np.concatenate([noisy for noisy, _ in pairs]).astype(np.float64),
        np.concatenate([variance for _, variance in pairs]),
    )


def geometric_weights(height: int) -> list[float]:
    """Relative shares of the levels, root first: height i (leaves 0) gets 2^{(h−i)/3}."""
    return [2.0 ** (depth / 3.0) for depth in range(height + 1)]
