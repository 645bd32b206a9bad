"""Gates: counts of a fine 2-D grid, drawn to their surroundings as far as noise explains them.

Post-processing: it sees noisy counts and their variance only. Meant for leaves that were all
measured alike, such as the hot grid's.
"""

from __future__ import annotations

import numpy as np

from dpviz.progress import checkpoint
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float

FINEST = 11
"""Rasters of 2^11 cells a side at most; leaves that are finer are left as they are."""

NEAR, FAR = 0.8, 2.0
"""Widths, in cells, of the two means (standard deviations of a Gaussian)."""


def gated(nodes: Decomposition, variance: float) -> Float:
    """Counts of the leaves, each drawn to its surroundings; inner nodes as they were.

    Level by level: on a raster of the level's cells, where a coarser leaf is spread evenly and a
    finer one summed up, see :func:`drawn`.

    Args:
        nodes: cells of a quadtree, with unbiased counts that add up.
        variance: of the noise in each leaf's count.
    """
    bits = int(nodes.hi[0].max()).bit_length() - 1
    counts = nodes.count.copy()
    raster = np.zeros((1, 1))
    for level, part in enumerate(nodes.levels[: FINEST + 1]):
        if level:
            raster = np.repeat(np.repeat(raster, 2, axis=0), 2, axis=1) / 4.0
        at = tuple((nodes.lo[part] >> (bits - level)).T)
        raster[at] = nodes.count[part]
        leaf = nodes.leaf[part]
        if leaf.any():
            rows = np.flatnonzero(leaf) + part.start
            counts[rows] = drawn(raster, variance)[tuple(each[leaf] for each in at)]
    return counts


def drawn(raster: Float, variance: float) -> Float:
    """A raster of noisy counts, each a mean of itself, of its neighbours and of a wider ring.

    The wide mean is corrected by what the near one differs from it beyond its noise, and that by
    what the cell itself differs: a gate e/(e + v) each, with v the variance of the noise and e the
    mean square of the differences around, less their noise, plus (mean/2)²: where there are many
    records, cells differ (local shrinkage after W. James and C. Stein, 1961; J.-S. Lee, 1980).

    Args:
        raster: shape (k, k).
        variance: of the noise in each cell.
    """
    from scipy.ndimage import gaussian_filter

    def mean(values: Float, width: float) -> Float:
        checkpoint()
        return np.asarray(gaussian_filter(values, width, mode="nearest"))

    def gate(difference: Float, around: Float, width: float, noise: float, taken: float) -> Float:
        signal = np.maximum(mean(difference**2, width) - taken, 0.0)
        signal += (np.maximum(around, 0.0) / 2.0) ** 2
        whole = signal + noise
        return difference * np.divide(signal, whole, out=np.ones_like(whole), where=whole > 0)

    near, far = mean(raster, NEAR), mean(raster, FAR)
    # Of independent noise, the near mean keeps about a tenth of the variance; a cell's difference
    # from it about 0.85 of it, for all that the far mean and the ring share.
    around = far + gate(near - far, far, 2.5, 0.10 * variance, 0.10 * variance)
    return around + gate(raster - around, around, 1.2, variance, 0.85 * variance)
