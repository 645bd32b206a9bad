"""A linear density inside each leaf, in place of the uniform one: four sub-cells per leaf.

The slopes come from the estimates of neighbouring leaves, so this is post-processing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpviz.progress import checkpoint
from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.lattice import STRIP, Codes, Float, Int, morton, rowwise


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
    columns, place, first = _with_room(nodes, leaves, 1 << dims)
    curve = _Curve.of(nodes)
    for start in range(0, len(leaves), STRIP):
        checkpoint()
        part = slice(start, start + STRIP)
        columns["parent"][first[part, None] + np.arange(1 << dims)] = place[leaves[part], None]
        _fill(columns, first[part], nodes, leaves[part], curve)
    for column in columns.values():
        column.flags.writeable = False
    return Decomposition(**columns)


def _with_room(
    nodes: Decomposition, leaves: Int, fanout: int
) -> tuple[dict[str, NDArray[Any]], Int, Int]:
    """Columns with room for children under each of some leaves (rows, ascending).

    Returns:
        The columns, whose new rows hold nothing yet; the new row of each node, (n,), and that of
        each of the leaves' first child, (k,).
    """
    # Children stand in the order of their parents, so those of shallow leaves move the nodes of
    # their own level, and later ones, on.
    many, roots = len(leaves), nodes.levels[0].stop
    earlier = np.zeros(len(nodes) + 1, dtype=np.int64)  # children of opened leaves before a row
    earlier[leaves + 1] = fanout
    np.cumsum(earlier, out=earlier)
    place = np.arange(len(nodes))
    place[roots:] += earlier[nodes.parent[roots:]]
    first = roots + np.cumsum(nodes.n_children)[leaves] + fanout * np.arange(many)
    columns: dict[str, NDArray[Any]] = {}
    for name in ("lo", "hi", "count", "variance"):
        old = getattr(nodes, name)
        columns[name] = np.empty((len(nodes) + many * fanout, *old.shape[1:]), old.dtype)
        rowwise(columns[name])[place] = rowwise(old)
    columns["parent"] = parent = np.full(len(nodes) + many * fanout, -1, dtype=np.int32)
    parent[place[roots:]] = place[nodes.parent[roots:]]
    return columns, place, first


def _fill(
    columns: dict[str, NDArray[Any]], first: Int, nodes: Decomposition, leaves: Int, curve: _Curve
) -> None:
    """Write the 2^d sub-cells of each of some leaves, from the row of its first one on, (k,)."""
    dims = nodes.dims
    count, variance = nodes.count[leaves], nodes.variance[leaves]
    boxes = [(nodes.lo[leaves, axis], nodes.hi[leaves, axis]) for axis in range(dims)]
    tilts = _tilts(count / nodes.volume[leaves], boxes, curve)
    steep = np.maximum(sum(np.abs(tilt) for tilt in tilts), 1.0)
    shares, change = np.ones((1 << dims, len(leaves))), np.zeros((1 << dims, len(leaves)))
    for axis, ((lo, hi), tilt) in enumerate(zip(boxes, tilts, strict=True)):
        middle, side = (lo + hi) >> 1, hi - lo
        tilt /= steep  # non-negative at the corners of the leaf
        halves = (lo, middle, (middle - lo) / side, -tilt), (middle, hi, (hi - middle) / side, tilt)
        for corner in range(1 << dims):
            low, high, part, more = halves[(corner >> (dims - 1 - axis)) & 1]
            columns["lo"][:, axis][first + corner] = low
            columns["hi"][:, axis][first + corner] = high
            shares[corner] *= part
            change[corner] += more
    change += 1.0
    shares = np.maximum(shares * change, 0.0)  # rounding at the corners
    shares /= shares.sum(axis=0)
    for corner, share in enumerate(shares):
        columns["count"][first + corner] = share * count
        columns["variance"][first + corner] = uniformity_variance(count, share) + share * variance


class _Curve(NamedTuple):
    """The leaves of a tree in the order of the Morton curve.

    Attributes:
        starts: where each begins on it, ascending, uint64 (m,).
        density: records per lattice cell, float64 (m,).
        centres: of each, (m,) for each axis.
        side: of the lattice.
    """

    starts: Codes
    density: Float
    centres: list[Float]
    side: int

    @classmethod
    def of(cls, nodes: Decomposition) -> _Curve:
        starts, leaves = leaf_order(nodes)
        middles = [
            0.5 * (low[leaves] + high[leaves])
            for low, high in zip(nodes.lo.T, nodes.hi.T, strict=True)
        ]
        density = nodes.count[leaves] / nodes.volume[leaves]
        return cls(starts, density, middles, int(nodes.hi[0].max()))


def _tilts(here: Float, boxes: list[tuple[Int, Int]], curve: _Curve) -> list[Float]:
    """Relative difference between a leaf's upper half and its mean, (k,) for each axis.

    Args:
        here: the leaves' densities, (k,).
        boxes: their lower and upper limits, (k,) each, for each axis.
        curve: all leaves.
    """
    middles = [(lo + hi) >> 1 for lo, hi in boxes]
    tilts = []
    for axis, (lo, hi) in enumerate(boxes):
        centre = 0.5 * (lo + hi)
        slopes = []
        # At the domain's edge a leaf is its own neighbour.
        for edge in (np.maximum(lo - 1, 0), np.minimum(hi, curve.side - 1)):
            other = _ranks(curve.starts, np.stack([*middles[:axis], edge, *middles[axis + 1 :]]).T)
            distance = curve.centres[axis][other]
            distance -= centre
            distance[distance == 0] = 1.0  # from itself nothing differs
            change = curve.density[other]
            change -= here
            slopes.append(np.divide(change, distance, out=change))
        before, after = slopes
        product = before * after
        agree = product > 0
        total = np.where(agree, before + after, 1.0)
        limited = np.where(agree, 2.0 * product / total, 0.0)
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
    return np.asarray(leaves[_ranks(starts, cells)])


def _ranks(starts: Codes, cells: Int) -> Int:
    """The last leaf on the curve that begins at each cell or before it."""
    return np.searchsorted(starts, morton(cells), side="right") - 1
