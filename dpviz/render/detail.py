"""Adaptive detail: the finest cells that stand out from their noise, else their sums.

Post-processing of a release's columns; it costs nothing. A box is opened if its count stands out
from the noise, one of its children's counts does so too, and the children are large enough on the
screen at a zoom that maps have. Children that stand out are drawn, or opened in their turn. The
others are pooled: while the pool does not stand out and cannot be distinguished from its sparsest
sibling that does, that sibling joins the pool. A pool that stands out is one area of one density;
one that does not, and is clearly emptier than its siblings, stays blank, or is enclosed if all
cells around it stand out. At every zoom the drawn rows tile the domain, and their totals add up to
the whole: nothing is clamped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int

Mask = NDArray[np.bool_]

SHOWN, POOLED, QUIET, NEVER = 0, 1, 2, 3
"""Kinds of a row: by itself; with its siblings; blank, within the noise; not drawn."""

NOISE_SDS = 2.0
"""Standard deviations of its noise above which a count is drawn; below it is blank, or quiet."""

GAP_SDS = 3.0
"""Standard deviations by which a pool must be sparser than the sparsest standing sibling to stay
blank: more than :data:`NOISE_SDS`, because that sibling was picked for standing out."""

MAX_HOLE_CELLS = 64
"""Most cells of a cluster of blank areas that counts as a hole: more are open country."""

HOLE_ZOOMS = 3.0
"""A hole is open if a blank cell beside it is drawn at most this many zooms later."""

SPARSE_SHARE = 0.25
"""Share of the domain's mean density below which ground is open country."""

MIN_PIXELS = 2.0
"""A box is opened once the shortest side of its children has this many pixels."""

MAX_ZOOM = 22.0
"""The closest zoom of a map."""


@dataclass(frozen=True)
class Detail:
    """One row a node.

    Attributes:
        kind: :data:`SHOWN` and so on, uint8 (n,).
        since, until: zooms (deck.gl's) at which the node is drawn: since ≤ zoom < until.
        group: the first node of the area that it is drawn with, int64 (n,).
        total, variance, km2: of that area; NaN km² where never drawn.
        cells: nodes in it.
        enclosed: quiet, though every cell around its small cluster stands, (n,). A map would look
            broken there: it is hatched.
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


def exceeds_noise(count: Float, variance: Float) -> Mask:
    """True where counts stand out from their noise, by :data:`NOISE_SDS` standard deviations."""
    return np.asarray((count > 0) & (count >= NOISE_SDS * np.sqrt(variance)))


def whole_sd(sd: Float) -> Float:
    """Standard deviation of the Laplace noise that has the tail of noise in whole records."""
    return np.asarray(1 / (np.sqrt(2) * np.arcsinh(1 / (np.sqrt(2) * np.maximum(sd, 1e-12)))))


def detail(
    nodes: Decomposition,
    measure: Callable[[Int], tuple[Float, Float]],
    *,
    correlated: bool = False,
) -> Detail:
    """Choose the nodes to draw at each zoom, and their densities.

    Args:
        measure: gives, for rows of nodes, their areas in km² and their shorter sides in pixels at
            zoom 0.
        correlated: the noise of siblings may go together: standard deviations add up, not
            variances.
    """
    n = len(nodes)
    kind = np.full(n, NEVER, dtype=np.uint8)
    since, until = np.full(n, np.inf), np.full(n, np.inf)
    group, cells = np.arange(n), np.ones(n, dtype=np.int64)
    total, variance, km2 = nodes.count.copy(), nodes.variance.copy(), np.full(n, np.nan)
    # Families of siblings to draw: the roots, then the children of all opened boxes.
    rows = np.arange(nodes.levels[0].stop)
    family, starts = np.zeros(len(rows), dtype=np.int64), np.array([-np.inf])
    km2[rows], side = measure(rows)
    while len(rows):
        pooled = _pooled(family, nodes.count[rows], nodes.variance[rows], km2[rows], correlated)
        size = np.bincount(family)
        least = np.minimum.reduceat(side, np.cumsum(size) - size)
        with np.errstate(divide="ignore"):  # beyond the edge of maps: no pixel at any zoom
            opens = np.maximum(starts, np.log2(MIN_PIXELS / least))
        split = np.bincount(family, ~pooled) > 0
        if rows[0] == 0:  # the roots are always drawn
            opens, split = starts, np.ones(1, dtype=bool)
        else:
            split &= opens <= MAX_ZOOM
            until[nodes.parent[rows[np.cumsum(size) - size][split]]] = opens[split]
        drawn = split[family]
        rows, family, pooled = rows[drawn], family[drawn], pooled[drawn]
        kind[rows], since[rows] = SHOWN, opens[family]
        pool = rows[pooled]
        if len(pool):
            owner = family[pooled]
            start = np.flatnonzero(np.diff(owner, prepend=-1))
            many = np.diff(start, append=len(pool))
            summed = np.add.reduceat(nodes.count[pool], start)
            noise = nodes.variance[pool]
            spread = np.add.reduceat(np.sqrt(noise) if correlated else noise, start)
            spread = spread**2 if correlated else spread
            alone = np.where(many == 1, SHOWN, POOLED)
            for column, values in (
                (kind, np.where(exceeds_noise(summed, spread), alone, QUIET)),
                (group, pool[start]),
                (total, summed),
                (variance, spread),
                (km2, np.add.reduceat(km2[pool], start)),
                (cells, many),
            ):
                column[pool] = np.repeat(values, many)
        inner = rows[~pooled & (nodes.n_children[rows] > 0)]
        rows, family = _children(nodes, inner)
        starts = since[inner]
        if len(rows):
            km2[rows], side = measure(rows)
    mean = nodes.count[nodes.levels[0]].sum() / km2[nodes.levels[0]].sum()
    km2[kind == NEVER] = np.nan
    enclosed, quiet = np.zeros(n, dtype=bool), kind == QUIET
    with np.errstate(invalid="ignore"):  # never drawn: no area
        sparse = (total < SPARSE_SHARE * mean * km2) & (until == np.inf)
    blank = np.flatnonzero(quiet | sparse)
    enclosed[blank] = _enclosed(nodes, blank, quiet[blank], since[blank], group[blank])
    return Detail(kind, since, until, group, total, variance, km2, cells, enclosed)


def _children(nodes: Decomposition, parents: Int) -> tuple[Int, Int]:
    """Rows of the children of nodes, and the position of each one's parent among those."""
    many = nodes.n_children[parents].astype(np.int64)
    family = np.repeat(np.arange(len(parents)), many)
    before = np.cumsum(many) - many
    return nodes.first_child[parents][family] + np.arange(len(family)) - before[family], family


def _pooled(family: Int, count: Float, variance: Float, km2: Float, correlated: bool) -> Mask:
    """The siblings that do not stand, and those that their pool takes in, (n,).

    A pool takes in siblings from the sparsest on, so what it holds when it meets the next is a
    running sum, and all families are decided at once.
    """
    pooled = ~exceeds_noise(count, variance)
    spread = np.sqrt(variance) if correlated else variance
    families = int(family[-1]) + 1
    columns = (count, spread, km2)
    first = [np.bincount(family[pooled], each[pooled], families) for each in columns]
    rest = np.flatnonzero(~pooled & (first[2][family] > 0))
    if not len(rest):
        return pooled
    density = count / km2
    rest = rest[np.lexsort((density[rest], family[rest]))]
    owner = family[rest]
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    sibling = np.repeat(np.arange(len(start)), np.diff(start, append=len(rest)))
    held = []
    for begins, each in zip(first, columns, strict=True):
        before = np.cumsum(each[rest]) - each[rest]
        held.append(begins[owner] + before - before[start][sibling])
    have, noise, area = held
    noise = noise**2 if correlated else noise
    gap = np.sqrt(variance[rest] / km2[rest] ** 2 + noise / area**2)
    stop = exceeds_noise(have, noise) | (density[rest] - have / area >= GAP_SDS * gap)
    stopped = np.cumsum(stop)
    before = stopped[start] - stop[start]
    pooled[rest[stopped == before[sibling]]] = True
    return pooled


def _enclosed(nodes: Decomposition, rows: Int, quiet: Mask, since: Float, group: Int) -> Mask:
    """Nodes, of ``rows`` that are blank, in small clusters around which all is dense, (rows,).

    Args:
        nodes: of which these are disjoint.
        rows: of quiet nodes, and of those that are sparse.
        quiet: which of them are quiet, (rows,).
        since: zooms at which they are drawn first, (rows,).
        group: first nodes of their areas, (rows,).
    """
    if not quiet.any() or nodes.dims != 2:
        return np.zeros(len(rows), dtype=bool)
    lo, hi = nodes.lo[rows].astype(np.int64), nodes.hi[rows].astype(np.int64)
    pairs = [
        _beside(lo, hi, axis, one[:, axis], other[:, axis])
        for axis in (0, 1)
        for one, other in ((lo, hi), (hi, lo))
    ]
    asked, at = (np.concatenate(each) for each in zip(*pairs, strict=True))
    later = np.maximum(since[at], 0.0) - np.maximum(since[asked], 0.0)
    alike, far_larger = np.abs(later) <= HOLE_ZOOMS, later < -HOLE_ZOOMS
    area = np.unique(group, return_inverse=True)[1]
    cluster = _joined(area[asked[alike]], area[at[alike]], len(area))[area]
    is_open = np.bincount(cluster, minlength=len(area)) > MAX_HOLE_CELLS
    outer = (lo <= nodes.lo.min(axis=0)) | (hi >= nodes.hi.max(axis=0))
    is_open[cluster[outer.any(axis=1)]] = is_open[cluster[asked[far_larger]]] = True
    return np.asarray(quiet & ~is_open[cluster])


def _joined(one: Int, other: Int, many: int) -> Int:
    """Lowest number that each of ``many`` is joined to by pairs of numbers, (many,)."""
    label, before = np.arange(many), np.empty(0, dtype=np.int64)
    while not np.array_equal(label, before):
        before = label.copy()
        np.minimum.at(label, one, before[other])
        np.minimum.at(label, other, before[one])
        label = label[label]
    return label


def _beside(lo: Int, hi: Int, axis: int, line: Int, lines: Int) -> tuple[Int, Int]:
    """Pairs of disjoint boxes that have a part of a side in common.

    The sides of the first lie on ``line``, of the second on ``lines``, across an axis. On one line
    the sides of disjoint boxes follow each other, so that those that a side touches are one range
    in their order.
    """
    low, high = lo[:, 1 - axis], hi[:, 1 - axis]
    span = int(high.max()) + 1
    start = lines * span + low
    order = np.argsort(start)
    start = start[order]
    end = start + (high - low)[order]
    first = np.searchsorted(end, line * span + low, side="right")
    many = np.maximum(np.searchsorted(start, line * span + high, side="left") - first, 0)
    asked = np.repeat(np.arange(len(lo)), many)
    before = np.cumsum(many) - many
    return asked, order[first[asked] + np.arange(len(asked)) - before[asked]]
