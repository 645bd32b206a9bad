"""A linear density inside each leaf, in place of the uniform one: four sub-cells per leaf.

The slopes come from the estimates of neighbouring leaves, so this is post-processing.
"""

from __future__ import annotations

import numpy as np

from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.grid import breadth_first, renumbered
from dpviz.trees.lattice import Float, Int, morton


def uniformity_variance(count: Float, share: Float) -> Float:
    """Variance of the records in a part of a leaf, by a Beta model around the part's share.

    Of c records in a leaf, a part with the share s of its volume holds c·B, with B of mean s and
    concentration 2: variance c²·s(1 − s)/3.

    Args:
        count: estimates of the leaves; negative ones count as none.
        share: of each leaf's volume, between 0 and 1.
    """
    return np.maximum(count, 0.0) ** 2 * share * (1.0 - share) / 3.0


def refine(nodes: Decomposition) -> Decomposition:
    """Split every leaf into 2^d sub-cells by limited linear slopes (2-D or less).

    The slope along an axis is the harmonic mean of the slopes to the two neighbours, zero where
    they disagree (B. van Leer, 1974); the sub-cells of a leaf sum to it and are non-negative. A
    sub-cell's variance is its share of the leaf's, so that of any union of sub-cells is never
    understated, although their noise is one and the same draw; and that of the uniformity model,
    because nobody measured how the leaf's records lie in its quarters.
    """
    dims = nodes.dims
    wide = ((nodes.hi - nodes.lo) > 1).all(axis=1)
    leaves = np.flatnonzero(nodes.leaf & (nodes.count > 0) & wide)
    if dims > 2 or not len(leaves) or nodes.depth == 0:
        return nodes
    if len(nodes) + (len(leaves) << dims) > MAX_NODES:
        return nodes  # a flat density inside the leaves, where sub-cells would pass the cap
    tilt = _tilts(nodes, leaves)
    steep = np.abs(tilt).sum(axis=1, keepdims=True)
    tilt = tilt / np.maximum(steep, 1.0)  # non-negative at the corners of the leaf
    middle = (nodes.lo[leaves] + nodes.hi[leaves]) // 2
    low, high, share = [], [], []
    for corner in range(1 << dims):
        upper = np.array(
            [(corner >> (dims - 1 - axis)) & 1 for axis in range(dims)], dtype=np.bool_
        )
        lo = np.where(upper, middle, nodes.lo[leaves])
        hi = np.where(upper, nodes.hi[leaves], middle)
        low.append(lo)
        high.append(hi)
        area = np.prod((hi - lo) / (nodes.hi[leaves] - nodes.lo[leaves]), axis=1)
        share.append(area * (1.0 + np.where(upper, tilt, -tilt).sum(axis=1)))
    shares = np.maximum(np.stack(share, axis=1), 0.0)  # rounding at the corners
    shares /= shares.sum(axis=1, keepdims=True)
    fanout = 1 << dims
    parent = np.repeat(leaves, fanout)
    # Sub-cells of shallow leaves must stand among the nodes of their own level.
    parent = np.concatenate([nodes.parent, parent])
    order = breadth_first(parent)
    columns = {
        "lo": np.concatenate([nodes.lo, np.stack(low, axis=1).reshape(-1, dims)]),
        "hi": np.concatenate([nodes.hi, np.stack(high, axis=1).reshape(-1, dims)]),
        "count": np.concatenate([nodes.count, (shares * nodes.count[leaves, None]).ravel()]),
        "variance": np.concatenate(
            [
                nodes.variance,
                (
                    shares * nodes.variance[leaves, None]
                    + uniformity_variance(nodes.count[leaves, None], shares)
                ).ravel(),
            ]
        ),
    }
    ordered = {name: column[order] for name, column in columns.items()}
    return Decomposition(parent=renumbered(parent, order), **ordered)


def _tilts(nodes: Decomposition, leaves: Int) -> Float:
    """Relative difference between a leaf's upper half and its mean, per axis: shape (n, d)."""
    density = nodes.count / nodes.volume
    centre = 0.5 * (nodes.lo + nodes.hi)
    tilt = np.zeros((len(leaves), nodes.dims))
    side = int(nodes.hi[0].max())
    for axis in range(nodes.dims):
        slopes = []
        for outward in (-1, 1):
            probe = (nodes.lo[leaves] + nodes.hi[leaves]) // 2
            probe[:, axis] = nodes.hi[leaves, axis] if outward > 0 else nodes.lo[leaves, axis] - 1
            inside = (probe[:, axis] >= 0) & (probe[:, axis] < side)
            other = leaves.copy()
            other[inside] = locate(probe[inside], nodes)
            distance = centre[other, axis] - centre[leaves, axis]
            change = density[other] - density[leaves]
            slopes.append(
                np.divide(change, distance, out=np.zeros(len(leaves)), where=distance != 0)
            )
        before, after = slopes
        agree = before * after > 0
        total = np.where(agree, before + after, 1.0)
        limited = np.where(agree, 2.0 * before * after / total, 0.0)
        width = (nodes.hi - nodes.lo)[leaves, axis]
        tilt[:, axis] = limited * width / 4.0 / density[leaves]
    return tilt


def locate(cells: Int, nodes: Decomposition) -> Int:
    """The leaf that holds each lattice cell, shape (n, d), of a tree of Morton cells.

    Its leaves follow each other on the Morton curve, each as one run, and leave nothing out.
    """
    leaves = np.flatnonzero(nodes.leaf)
    starts = morton(nodes.lo[leaves])
    order = np.argsort(starts)
    rank = np.searchsorted(starts[order], morton(cells), side="right") - 1
    return np.asarray(leaves[order[rank]])
