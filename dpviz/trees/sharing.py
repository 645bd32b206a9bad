"""Shares inside families: less of the parent's estimate for children with few records.

Non-negative estimates lie above zero where there are no records, which adds up over a large empty
region. A child's estimate from its own subtree, which may be negative, shows where that is.
Post-processing: it sees noisy numbers only.
"""

from __future__ import annotations

import numpy as np

from dpviz.trees.consistency import families
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float

# Fitted on the six real sets of assets/docs/results/ours.md, "Shares inside families".
MIN_SDS, DOUBTED_SDS = -3.0, 2.0
"""Limits of a child's estimate, in standard deviations of its noise."""

GROWTH = 0.3
"""Growth of the logarithm of a child's weight with each deviation above zero; below, it is 1."""

TINY = 1e-18
"""Least variance."""


def reshared_counts(nodes: Decomposition, raw: tuple[Float, Float]) -> Float:
    """Estimates of the nodes, shared anew inside each family from the root down, float64 (n,).

    With z a child's own (``raw``) estimate in standard deviations of its noise, its share of its
    parent's estimate weighs e^z times as much where z is negative, and e^(:data:`GROWTH`·z) where
    it is not.
    """
    z = raw[0] / np.sqrt(np.maximum(raw[1], TINY))
    wanted = nodes.count * np.exp(np.clip(z, MIN_SDS, 0.0) + GROWTH * np.clip(z, 0.0, DOUBTED_SDS))
    count = nodes.count.copy()
    for level in families(nodes.parent.astype(np.int64)):
        total = level.sums(wanted[level.part])
        ratio = np.divide(count[level.inner], total, out=np.zeros(len(total)), where=total > 0)
        count[level.part] = wanted[level.part] * level.each(ratio)
    return count
