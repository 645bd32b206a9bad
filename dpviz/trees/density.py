"""A linear density inside each leaf, in place of the uniform one: four sub-cells per leaf.

The slopes come from the estimates of neighbouring leaves, so this is post-processing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.lattice import Codes, Float, Int, morton


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
    dims, leaf = nodes.dims, nodes.leaf
    open_leaf = leaf & (nodes.count > 0)
    for low, high in zip(nodes.lo.T, nodes.hi.T, strict=True):
        open_leaf &= high - low > 1
    leaves = np.flatnonzero(open_leaf)
    if dims > 2 or not len(leaves) or nodes.depth == 0:
        return nodes
    if len(nodes) + (len(leaves) << dims) > MAX_NODES:
        return nodes  # a flat density inside the leaves, where sub-cells would pass the cap
    boxes = [(nodes.lo[leaves, axis], nodes.hi[leaves, axis]) for axis in range(dims)]
    tilts = _tilts(nodes, leaves, boxes)
    steep = np.maximum(sum(np.abs(tilt) for tilt in tilts), 1.0)
    tilts = [tilt / steep for tilt in tilts]  # non-negative at the corners of the leaf
    shape = len(leaves), 1 << dims
    low, high = np.empty((2, *shape, dims), dtype=np.int64)
    shares = np.empty(shape)
    for corner in range(1 << dims):
        area, change = np.ones(()), np.zeros(())
        for axis, (lo, hi) in enumerate(boxes):
            middle = (lo + hi) // 2
            upper = (corner >> (dims - 1 - axis)) & 1
            low[:, corner, axis] = below = middle if upper else lo
            high[:, corner, axis] = above = hi if upper else middle
            area = area * ((above - below) / (hi - lo))
            change = change + (tilts[axis] if upper else -tilts[axis])
        shares[:, corner] = np.maximum(area * (1.0 + change), 0.0)  # rounding at the corners
    shares /= shares.sum(axis=1, keepdims=True)
    count, variance = nodes.count[leaves, None], nodes.variance[leaves, None]
    doubt = uniformity_variance(count, shares)
    doubt += shares * variance
    return _opened(
        nodes, leaves, {"lo": low, "hi": high, "count": shares * count, "variance": doubt}
    )


def _opened(nodes: Decomposition, leaves: Int, children: dict[str, NDArray[Any]]) -> Decomposition:
    """A tree with f children under each of some of its leaves.

    Args:
        nodes: the tree.
        leaves: rows of k leaves, ascending.
        children: columns, (k, f, d) and (k, f).
    """
    # Children stand in the order of their parents, so those of shallow leaves move the nodes of
    # their own level, and later ones, on.
    many, fanout = children["count"].shape
    earlier = np.zeros(len(nodes) + 1, dtype=np.int64)  # children of opened leaves before a row
    earlier[leaves + 1] = fanout
    np.cumsum(earlier, out=earlier)
    roots = nodes.levels[0].stop
    place = np.arange(len(nodes))
    place[roots:] += earlier[nodes.parent[roots:]]
    first = roots + np.cumsum(nodes.n_children)[leaves] + fanout * np.arange(many)
    added = (first[:, None] + np.arange(fanout)).ravel()
    columns = {}
    for name, new in children.items():
        old = getattr(nodes, name)
        columns[name] = column = np.empty((len(nodes) + added.size, *old.shape[1:]), old.dtype)
        column[place], column[added] = old, new.reshape(-1, *old.shape[1:])
        column.flags.writeable = False
    parent = np.full(len(nodes) + added.size, -1, dtype=np.int32)
    parent[place[roots:]] = place[nodes.parent[roots:]]
    parent[added] = np.repeat(place[leaves], fanout)
    parent.flags.writeable = False
    return Decomposition(parent=parent, **columns)


def _tilts(nodes: Decomposition, leaves: Int, boxes: list[tuple[Int, Int]]) -> list[Float]:
    """Relative difference between a leaf's upper half and its mean, (k,) for each axis."""
    density = nodes.count / nodes.volume
    here, side = density[leaves], int(nodes.hi[0].max())
    order = leaf_order(nodes)
    middles = [(lo + hi) // 2 for lo, hi in boxes]
    tilts = []
    for axis, (lo, hi) in enumerate(boxes):
        centre = 0.5 * (nodes.lo[:, axis] + nodes.hi[:, axis])
        slopes = []
        for edge in (lo - 1, hi):
            inside = (edge >= 0) & (edge < side)
            probe = [*middles]
            probe[axis] = np.where(inside, edge, middles[axis])  # itself, where there is no other
            other = located(order, np.stack(probe).T)
            distance = centre[other] - centre[leaves]
            change = density[other] - here
            slopes.append(
                np.divide(change, distance, out=np.zeros(len(leaves)), where=distance != 0)
            )
        before, after = slopes
        agree = before * after > 0
        total = np.where(agree, before + after, 1.0)
        limited = np.where(agree, 2.0 * before * after / total, 0.0)
        tilts.append(limited * (hi - lo) / 4.0 / here)
    return tilts


def leaf_order(nodes: Decomposition) -> tuple[Codes, Int]:
    """Where leaves begin on the Morton curve, ascending, and which they are: of a tree of Morton
    cells, whose leaves follow each other on the curve, each as one run, and leave nothing out.
    """
    leaves = np.flatnonzero(nodes.leaf)
    starts = morton(nodes.lo[leaves])
    order = np.argsort(starts)
    return starts[order], leaves[order]


def located(order: tuple[Codes, Int], cells: Int) -> Int:
    """The leaf that holds each lattice cell, shape (n, d)."""
    starts, leaves = order
    rank = np.searchsorted(starts, morton(cells), side="right") - 1
    return np.asarray(leaves[rank])
