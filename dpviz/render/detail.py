"""Adaptive detail: the finest cells that stand out of their noise, else their sums.

Post-processing of a release's columns; it costs nothing. A box is opened where it stands out of its
noise and its children are large enough on the screen. Children that stand are drawn, or opened in
their turn. The others are pooled: while the pool does not stand and cannot be distinguished from
its sparsest standing sibling, it takes that sibling in. A pool that stands is one area of one
density; one that does not, though clearly emptier than its siblings, stays blank, or is enclosed
where all around it stands. At every zoom the rows that are drawn tile the domain, and their totals
add up to the whole: nothing is clamped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.lazy import shapely
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

Mask = NDArray[np.bool_]

SHOWN, POOLED, QUIET, NEVER = 0, 1, 2, 3
"""Kinds of a row: by itself; with its siblings; blank, too few to tell from none; not drawn."""

STANDS = 2.0
"""Standard deviations of its noise above which a count is drawn; below it is blank, or quiet."""

GAP = 3.0
"""Standard deviations by which a pool must be sparser than the sparsest standing sibling to stay
blank: more than :data:`STANDS`, because that sibling was picked for standing out."""

FEW = 16
"""Cells of a blank area up to which it may be a hole: a larger one is open country."""

CLOSER = 3.0
"""Zooms after which cells are an eighth as long: smaller blank ones beside a hole do not count."""

PIXELS = 2.0
"""A box is opened once the shortest side of its children is so long."""


@dataclass(frozen=True)
class Detail:
    """One row a node.

    Attributes:
        kind: :data:`SHOWN` and so on, uint8 (n,).
        since, until: zooms (deck.gl's) at which the node is drawn: since ≤ zoom < until.
        group: the first node of the area that it is drawn with, int64 (n,).
        total, variance, km2: of that area.
        cells: nodes in it.
        enclosed: quiet, though every cell beside its area stands, (n,). A map would look broken
            there: it is hatched.
    """

    kind: NDArray[np.uint8]
    since: Float
    until: Float
    group: Int
    total: Float
    variance: Float
    km2: Float
    cells: Int
    enclosed: Mask

    def at(self, zoom: float) -> Mask:
        """The nodes drawn at a zoom; the quiet ones among them are blank."""
        return np.asarray((self.since <= zoom) & (zoom < self.until) & (self.kind != NEVER))


def stands(count: Float, variance: Float) -> Mask:
    """True where counts stand out from their noise, by :data:`STANDS` standard deviations."""
    return np.asarray((count > 0) & (count >= STANDS * np.sqrt(variance)))


def detail(nodes: Decomposition, km2: Float, side: Float, *, correlated: bool = False) -> Detail:
    """Choose the nodes to draw at each zoom, and their densities.

    Args:
        nodes: of a release, children tiling their parents.
        km2: area of each node, (n,).
        side: the shorter side of each node in pixels at zoom 0, (n,).
        correlated: the noise of siblings may go together: standard deviations add up, not
            variances.
    """
    count, variance = nodes.count, nodes.variance
    above = nodes.parent.astype(np.int64) + 1  # 0 is the whole: the roots are its children
    pooled = _pooled(above, count, variance, km2, correlated)
    since, until = _zooms(nodes, pooled, side)
    n = len(nodes)
    kind = np.full(n, SHOWN, dtype=np.uint8)
    group, total, noise, area = np.arange(n), count.copy(), variance.copy(), km2.copy()
    cells = np.ones(n, dtype=np.int64)
    pool = np.flatnonzero(pooled)
    if len(pool):
        start = np.flatnonzero(np.diff(above[pool], prepend=-1))  # siblings lie next to each other
        size = np.diff(start, append=len(pool))
        parent = above[pool[start]] - 1
        summed = np.add.reduceat(count[pool], start)
        spread = np.add.reduceat(np.sqrt(variance[pool]) if correlated else variance[pool], start)
        spread = spread**2 if correlated else spread
        whole = (parent >= 0) & (size == nodes.n_children[parent])  # then the parent knows better
        spread = np.where(whole, np.minimum(spread, variance[parent]), spread)
        verdict = np.where(stands(summed, spread), POOLED, QUIET)
        for column, values in (
            (kind, verdict),
            (group, pool[start]),
            (total, summed),
            (noise, spread),
            (area, np.add.reduceat(km2[pool], start)),
            (cells, size),
        ):
            column[pool] = np.repeat(values, size)
    kind[(cells == 1) & (kind == POOLED)] = SHOWN
    kind[since == np.inf] = NEVER
    enclosed = _enclosed(nodes, kind, since, group, cells)
    return Detail(kind, since, until, group, total, noise, area, cells, enclosed)


def _pooled(above: Int, count: Float, variance: Float, km2: Float, correlated: bool) -> Mask:
    """The children that do not stand, and the siblings that their pool takes in, (n,).

    A pool takes in siblings from the sparsest on, so what it holds when it meets the next is a
    running sum, and all splits of the tree are decided at once.
    """
    pooled = ~stands(count, variance)
    spread = np.sqrt(variance) if correlated else variance
    parents = int(above.max()) + 1
    columns = (count, spread, km2)
    first = [np.bincount(above[pooled], each[pooled], parents) for each in columns]
    rest = np.flatnonzero(~pooled & (first[2][above] > 0))
    if not len(rest):
        return pooled
    density = count / km2
    rest = rest[np.lexsort((density[rest], above[rest]))]
    owner = above[rest]
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    sibling = np.repeat(np.arange(len(start)), np.diff(start, append=len(rest)))
    held = []
    for begins, each in zip(first, columns, strict=True):
        before = np.cumsum(each[rest]) - each[rest]
        held.append(begins[owner] + before - before[start][sibling])
    have, noise, area = held
    noise = noise**2 if correlated else noise
    gap = np.sqrt(variance[rest] / km2[rest] ** 2 + noise / area**2)
    stop = stands(have, noise) | (density[rest] - have / area >= GAP * gap)
    stopped = np.cumsum(stop)
    before = stopped[start] - stop[start]
    pooled[rest[stopped == before[sibling]]] = True
    return pooled


def _zooms(nodes: Decomposition, pooled: Mask, side: Float) -> tuple[Float, Float]:
    """Since and until of every node; infinite since where an ancestor is never opened."""
    n = len(nodes)
    since, until = np.full(n, np.inf), np.full(n, np.inf)
    since[nodes.levels[0]] = -np.inf
    inner = np.flatnonzero(nodes.n_children)
    if not len(inner):
        return since, until
    shortest = np.full(n, np.nan)
    shortest[inner] = np.minimum.reduceat(side, nodes.first_child[inner])
    with np.errstate(divide="ignore"):  # beyond where maps end: no pixel at any zoom
        wanted = np.log2(PIXELS / shortest)
    for level in nodes.levels:
        here = np.arange(level.start, level.stop)
        if level.start:
            since[here] = until[nodes.parent[here]]
        opened = here[(since[here] < np.inf) & ~pooled[here] & (nodes.n_children[here] > 0)]
        until[opened] = np.maximum(since[opened], wanted[opened])
    return since, until


def _enclosed(
    nodes: Decomposition, kind: NDArray[np.uint8], since: Float, group: Int, cells: Int
) -> Mask:
    """Quiet nodes beside whose area no other quiet one lies that is nearly as large, (n,)."""
    result = np.zeros(len(nodes), dtype=bool)
    quiet = np.flatnonzero(kind == QUIET)
    rows = quiet[(nodes.parent[quiet] >= 0) & (cells[quiet] <= FEW)]
    if not len(rows) or nodes.dims != 2:
        return result
    lo, hi = nodes.lo.astype(np.float64), nodes.hi.astype(np.float64)
    tree = shapely.STRtree(shapely.box(*(lo[quiet] + 0.25).T, *(hi[quiet] - 0.25).T))
    open_sides = []
    for wider in np.array([[0.5, -0.5], [-0.5, 0.5]]):  # to both sides; up and down
        around = shapely.box(*(lo[rows] - wider).T, *(hi[rows] + wider).T)
        asked, at = tree.query(around)
        one, other = rows[asked], quiet[at]
        open_sides.append(one[(group[one] != group[other]) & (since[other] <= since[one] + CLOSER)])
    result[rows] = ~np.isin(group[rows], group[np.concatenate(open_sides)])
    return result
