"""A slope inside each leaf, in place of the uniform density: four sub-cells per leaf.

The slopes come from the estimates of neighbouring cells, so this is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.consistency import sum_up
from dpviz.trees.cores import parallel_map, strips
from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.lattice import STRIP_ROWS, Float, Int, rowwise

POWER = 0.35
"""Power of the ratio of counts with which a half of a leaf follows its neighbour. A density that
grows evenly in its logarithm has 1/4; chosen on built-in and real points, see
assets/docs/results/ours.md."""

MAX_LOG_RATIO = 4.0
"""Upper limit of the logarithm of a ratio of counts; an empty neighbour has this value."""

MIN_SDS = 0.5
"""Standard deviations of its noise below which a leaf keeps an even density. This saves a third to
half of all sub-cells, for errors that are 0.1 % larger: see assets/docs/results/ours.md."""


SLOPED = 3.0
"""The largest possible variance of an unmeasured quarter, as a multiple of the stated one: that of
a Beta distribution of concentration 2."""


def uniformity_variance(count: Float, share: Float) -> Float:
    """Largest variance of the records in a part of a leaf, around the part's share.

    In a leaf of c records, a part with the share s of its volume holds c·B, with B from 0 to 1 and
    of mean s. Its variance is at most c²·s(1 − s), where all records lie in one place (Bhatia and
    Davis, 2000). No smaller one covers the squares that people ask for, around busy places.

    Args:
        count: estimates of the leaves; negative ones count as none.
        share: share of each leaf's volume, between 0 and 1.
    """
    return np.maximum(count, 0.0) ** 2 * share * (1.0 - share)


def refine(nodes: Decomposition, doubt: float = 0.0) -> Decomposition:
    """Split leaves into 2^d sub-cells that follow their neighbours (2-D or less).

    Leaves that hold less than :data:`MIN_SDS` deviations of their noise stay as they are.

    The half of a leaf towards a neighbour of its own size gets a weight of (neighbour's count ÷
    leaf's)^:data:`POWER`; the neighbour is a part of a larger leaf, or the sum of smaller ones. A
    quarter's share is the product over the axes: positive, and the shares sum to one, so that the
    leaf keeps its count. (Ours; after W. Tobler's smooth maps that keep totals, JASA 74, 1979.)

    A sub-cell's variance is its share of the leaf's, so that of any union of sub-cells is never
    understated, although their noise is one and the same draw; and that of the uniformity model,
    because it was not measured how the leaf's records lie in its quarters.

    Args:
        nodes: a tree of Morton cells.
        doubt: number of standard deviations of each leaf's noise that are added to its count before
            counts are compared, so that noise alone makes no steep slopes.
    """
    dims, leaf = nodes.dims, nodes.leaf
    leaves = np.flatnonzero(leaf & (nodes.count > MIN_SDS * np.sqrt(nodes.variance)))
    for low, high in zip(nodes.lo.T, nodes.hi.T, strict=True):
        leaves = leaves[high[leaves] - low[leaves] > 1]
    if dims > 2 or not len(leaves) or nodes.depth == 0:
        return nodes
    if len(nodes) + (len(leaves) << dims) > MAX_NODES:
        return nodes  # a flat density inside leaves whose sub-cells would exceed the limit
    columns, first = _with_room(nodes, leaves, 1 << dims)
    density = densities(nodes, doubt)

    def fill(part: slice) -> None:
        _fill(columns, first[part], nodes, leaves[part], density)

    parallel_map(fill, strips(len(leaves), STRIP_ROWS))
    for column in columns.values():
        column.flags.writeable = False
    return Decomposition.of_halves(**columns)


def densities(nodes: Decomposition, doubt: float = 0.0) -> Float:
    """Records per volume in each node, for slopes; for ``doubt`` see :func:`refine`."""
    records = nodes.count
    if doubt:
        records = sum_up(nodes.parent, np.maximum(records, 0.0) + doubt * np.sqrt(nodes.variance))
    return np.asarray(records / nodes.volume)


def _with_room(
    nodes: Decomposition, leaves: Int, fanout: int
) -> tuple[dict[str, NDArray[Any]], Int]:
    """Columns with room for children under each of some leaves (rows, ascending).

    Returns the columns, whose new rows hold nothing yet but their parents, and the row of each of
    the leaves' first child, (k,).
    """
    # Children are in the order of their parents, so children of shallow leaves shift later nodes of
    # their own level and of the levels below.
    many, roots = len(leaves), nodes.levels[0].stop
    # Number of children of opened leaves before each row.
    earlier = np.zeros(len(nodes) + 1, dtype=np.int64)
    earlier[leaves + 1] = fanout
    np.cumsum(earlier, out=earlier)
    place = np.arange(len(nodes))
    place[roots:] += earlier[nodes.parent[roots:]]
    first = roots + np.cumsum(nodes.n_children)[leaves] + fanout * np.arange(many)
    children = nodes.n_children.copy()
    children[leaves] = fanout

    def moved(old: NDArray[Any]) -> NDArray[Any]:
        column = np.empty((len(nodes) + many * fanout, *old.shape[1:]), old.dtype)
        rowwise(column)[place] = rowwise(old)
        return column

    names = "lo", "hi", "count", "variance"
    wide = parallel_map(moved, [getattr(nodes, name) for name in names])
    columns = dict(zip(names, wide, strict=True))
    above = np.append(np.int32(-1), place.astype(np.int32))
    columns["parent"] = np.repeat(above, np.append(roots, children))
    return columns, first


def _fill(
    columns: dict[str, NDArray[Any]], first: Int, nodes: Decomposition, leaves: Int, density: Float
) -> None:
    """Write the 2^d sub-cells of each of some leaves, from the row of its first one on, (k,)."""
    dims = nodes.dims
    count, variance = nodes.count.take(leaves), nodes.variance.take(leaves)
    lows, highs = nodes.lo.take(leaves, axis=0), nodes.hi.take(leaves, axis=0)
    corners = range(1 << dims)
    shares = sloped_shares(nodes, leaves, density)
    boxes = np.empty((2, len(corners), *lows.shape), dtype=np.int64)
    for axis in range(dims):
        lo, hi = lows[:, axis], highs[:, axis]
        middle = (lo + hi) >> 1
        halves = (lo, middle), (middle, hi)
        for corner in corners:
            low, high = halves[(corner >> (dims - 1 - axis)) & 1]
            boxes[0, corner, :, axis], boxes[1, corner, :, axis] = low, high
    values = {
        "lo": boxes[0],
        "hi": boxes[1],
        "count": shares * count,
        "variance": uniformity_variance(count, shares) / SLOPED + shares * variance,
    }
    for name, cells in values.items():
        column = rowwise(columns[name])
        for corner in corners:
            column[first + corner] = rowwise(cells[corner])


def sloped_shares(nodes: Decomposition, leaves: Int, density: Float) -> Float:
    """Shares of the 2^d sub-cells of leaves, as :func:`refine` describes, (2^d, k).

    Args:
        leaves: rows of leaves, (k,).
        density: records per volume in each node, above 0 in these, (n,).
    """
    dims = nodes.dims
    shares = np.ones((1 << dims, len(leaves)))
    for axis, both in enumerate(_pulls(nodes, leaves, density)):
        lo, hi = nodes.lo[leaves, axis], nodes.hi[leaves, axis]
        lower = (((lo + hi) >> 1) - lo) / (hi - lo)
        below, above = lower * np.exp(both[0]), (1.0 - lower) * np.exp(both[1])
        lower = below / (below + above)
        for corner, share in enumerate(shares):
            share *= (1.0 - lower) if (corner >> (dims - 1 - axis)) & 1 else lower
    return shares


def _pulls(nodes: Decomposition, leaves: Int, density: Float) -> Iterator[tuple[Float, Float]]:
    """Yield per axis the logarithmic pull of the lower and the upper neighbour on a leaf.

    Args:
        leaves: rows of leaves, (k,).
        density: records per volume in each node, above 0 in these, (n,).
    """
    here, volume = density.take(leaves), nodes.volume.take(leaves)
    for sides in nodes.adjacent_nodes:
        pulls = []
        for column in sides:
            there = column.take(leaves)
            outside = there < 0  # no neighbour beyond the domain's edge
            ratio = density.take(there) / here
            np.clip(ratio, math.exp(-MAX_LOG_RATIO), math.exp(MAX_LOG_RATIO), out=ratio)
            # The middle of a neighbour r times as wide is (1 + r)/2 widths away.
            times = nodes.volume.take(there) / volume
            distance = 0.5 * (1.0 + times ** (1.0 / nodes.dims))
            pulls.append(np.where(outside, 0.0, POWER * np.log(ratio) / distance))
        yield pulls[0], pulls[1]
