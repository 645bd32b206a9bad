"""Gates: each leaf's count as a mean of smoothed ones, as a small trained network chooses.

Where records lie evenly, the mean over neighbouring cells has less noise than a cell's own count;
at a street only those along it do; and a town's centre is best left as it is. Which of a few fixed
smoothers a leaf follows, and how far, is what the network says of its surroundings. It was trained
on made-up scenes (tests/training/gates.py) and sees noisy and public numbers only, so this is
post-processing.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpviz.progress import checkpoint
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import is_leaf, level_slices
from dpviz.trees.lattice import Float, Int
from dpviz.trees.network import Float32, Network, trained

Int32 = NDArray[np.int32]

STEPS = tuple(step for step in itertools.product((-1, 0, 1), repeat=2) if step != (0, 0))
"""From a cell to the eight around it, in cells: axis 0 first."""

STRAIGHT = (1, 3, 4, 6)
"""Which of these share an edge with it."""

LINES = ((1, 6), (3, 4), (0, 7), (2, 5))
"""Which two are on a line through it."""

SQUARES = ((0, 1, 3), (2, 1, 4), (5, 6, 3), (7, 6, 4))
"""Which three make a square with it."""

CENTRE, WIDE, COUNTS = 12, range(13, 17), 17
"""Where a leaf's own count is among those of its surroundings, and means over more than nine."""

LEAST = 1.0
"""Blocks that hold less than so many deviations of their noise are left as they are: that costs a
fifth of the gain where few records lie far apart, hardly any elsewhere, and saves half of the time:
see assets/results/ours.md."""

ROWS = 1 << 12
"""Leaves at a time: what is known of their surroundings stays in the processor's cache."""

STEEPEST = 30.0
"""Logits are at most so far from 0: far enough for any choice."""

MOST = 5.0
"""Logarithm of how far the network can change a leaf's load."""

TINY = 1e-6
"""A variance is at least this."""


def neighbours(parent: Int32 | Int) -> Int32:
    """The cells of each node's own size around it, int32 (8, n), as :data:`STEPS` has them.

    Where the tree is coarser there, the leaf that holds the cell; the node itself at the domain's
    edge.

    Args:
        parent: breadth-first parents, −1 for the root, of Morton cells of two dimensions: each has
            four children or none.
    """
    around = np.empty((len(STEPS), len(parent)), dtype=np.int32)
    first = np.full(len(parent), -1, dtype=np.int32)
    first[parent[1::4]] = np.arange(1, len(parent), 4, dtype=np.int32)
    full = True
    for level, part in enumerate(level_slices(parent)):
        checkpoint()
        full = full and part.stop - part.start == 1 << 2 * level
        if full:
            around[:, part] = part.start + _beside(level)
            continue
        above = parent[part][::4]
        beside = {step: around[which].take(above) for which, step in enumerate(STEPS)}
        beside[0, 0] = above.astype(np.int32)
        below = {step: first.take(rows) for step, rows in beside.items()}
        itself = np.arange(part.start, part.stop, dtype=np.int32).reshape(-1, 4)
        for which, (across, along) in enumerate(STEPS):
            row = around[which, part].reshape(-1, 4)
            for child in range(4):
                x, y = (child >> 1) + across, (child & 1) + along
                step = x >> 1, y >> 1
                inner = below[step] + np.int32(2 * (x & 1) + (y & 1))
                row[:, child] = np.where(below[step] >= 0, inner, beside[step])
                if step != (0, 0):  # a parent at the edge is its own neighbour
                    np.copyto(row[:, child], itself[:, child], where=beside[step] == above)
    return around


def _beside(level: int) -> Int32:
    """The codes of the eight cells around each of a level's 4^level, int32 (8, 4^level)."""
    code = np.arange(1 << 2 * level, dtype=np.int32)
    odd = 0x55555555 & (len(code) - 1)
    bits = [np.int32(len(code) - 1 - odd), np.int32(odd)]  # those of each axis in a code
    moved = []
    for mask in bits:
        at = code & mask
        # To add one to every second bit, the others are all set, so that they hand it on.
        moved.append({-1: (at - 1) & mask, 0: at, 1: ((at | ~mask) + 1) & mask})
    around = np.empty((len(STEPS), len(code)), dtype=np.int32)
    for row, step in zip(around, STEPS, strict=True):
        np.bitwise_or(moved[0][step[0]], moved[1][step[1]], out=row)
        for mask, way in zip(bits, step, strict=True):
            if way:
                np.copyto(row, code, where=code & mask == (mask if way > 0 else 0))
    return around


def smoothers() -> Float32:
    """What gates choose from, as weights of a leaf's :attr:`Surroundings.counts`, float32 (k, 17).

    The leaf's own count; means of it and one, two or three cells beside it, of three and five in a
    row, of a cross, of 3 × 3; the wide means; and none.
    """
    centre = [CENTRE]
    groups = [
        centre,
        *([CENTRE, which] for which in STRAIGHT),
        *([CENTRE, *square] for square in SQUARES),
    ]
    groups += [[CENTRE, *line] for line in LINES]
    groups += [[CENTRE, *LINES[0], 8, 11], [CENTRE, *LINES[1], 9, 10]]
    groups += [[CENTRE, *STRAIGHT], [*range(8), CENTRE], *([which] for which in WIDE), []]
    weights = np.zeros((len(groups), COUNTS), dtype=np.float32)
    for row, group in zip(weights, groups, strict=True):
        row[group] = 1 / max(len(group), 1)
    return weights


def contrasts() -> Float32:
    """Counts that the network sees, as such weights: all, 3 × 3, lines and 3 × 3 less the own."""
    mean = np.zeros(COUNTS, dtype=np.float32)
    mean[[*range(8), CENTRE]] = 1 / 9
    alone = np.eye(COUNTS, dtype=np.float32)
    lines = [(alone[a] + alone[b]) / 2 - alone[CENTRE] for a, b in LINES]
    return np.stack([*alone, mean, *lines, alone[CENTRE] - mean])


SMOOTHERS, CONTRASTS = smoothers(), contrasts()

AWAY = SMOOTHERS - SMOOTHERS[0]
"""The smoothers less the leaf's own count: so that one of millions keeps its last digits."""

FEATURES = len(CONTRASTS) + 1 + 8 + 4


class Surroundings(NamedTuple):
    """Of m leaves: counts of cells of each leaf's own size, and what is known of them.

    Attributes:
        counts: of the cells around each leaf, as :data:`STEPS` has them; of those two steps away,
            as :data:`STRAIGHT` has them; its own; a weighted mean of 5 × 5; means over its parent,
            the 3 × 3 cells around that, and around the grandparent, (17, m).
        finer: 1 where the tree divides the cell around it, 0 where it is a leaf, −k where it is a
            part of a leaf that is k levels larger, (8, m).
        deviation: of the leaf's noise, in records, (m,).
        parent_deviation: of its parent's quarter, (m,).
        deeper: levels below the coarsest leaf, (m,).
        across: logarithm of the leaves along the side of a square that is asked for, (m,).
    """

    counts: Float32
    finer: Float32
    deviation: Float32
    parent_deviation: Float32
    deeper: Float32
    across: Float32

    @property
    def centre(self) -> Float32:
        """The leaves' counts, (m,)."""
        return np.asarray(self.counts[CENTRE])

    def features(self) -> Float32:
        """What the network sees, (m, :data:`FEATURES`): counts in deviations of the noise."""
        seen = np.empty((FEATURES, len(self.centre)), dtype=np.float32)
        unit, many = 1 / self.deviation, len(CONTRASTS)
        counts = seen[: many + 1]
        np.matmul(CONTRASTS, self.counts, out=counts[:-1])
        near = self.counts[:8] - counts[COUNTS]
        np.sqrt(np.einsum("km,km->m", near, near) / 8, out=counts[-1])
        counts *= unit
        # The logarithm of 1 + the size, with the sign: even for noise and for large counts.
        size = np.abs(counts)
        size += 1
        np.copysign(np.log(size, out=size), counts, out=counts)
        seen[many + 1 : many + 9] = self.finer
        seen[-4:] = self.parent_deviation * unit, self.deeper, self.across, np.log(self.deviation)
        return seen.T


class Raster(NamedTuple):
    """A tree of Morton cells, as its leaves' surroundings are read off it.

    Attributes:
        parent: of each node, (n,).
        level: levels below the root, int32 (n,).
        leaf: whether a node has no children, (n,).
        around: see :func:`neighbours`.
        density: counts per volume of the domain, (n,).
        smooth: means of that over 3 × 3 cells of each node's own size, (n,).
        deviation: of the noise of each count, at least a little, (n,).
        coarsest: the least level of a leaf.
        side: typical side of the squares that are asked for, as a share of the domain's.
    """

    parent: Int32 | Int
    level: Int32
    leaf: NDArray[np.bool_]
    around: Int32
    density: Float32
    smooth: Float32
    deviation: Float32
    coarsest: int
    side: float

    @classmethod
    def of(cls, parent: Int32 | Int, count: Float, variance: Float, side: float) -> Raster:
        """Of a tree, as :func:`gated` wants it."""
        sizes = [part.stop - part.start for part in level_slices(parent)]
        level = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        around, leaf = neighbours(parent), is_leaf(parent)
        density = np.ldexp(count.astype(np.float32), 2 * level)
        smooth = density.copy()
        for rows in around:
            smooth += density.take(rows)
        smooth /= np.float32(9)
        deviation = np.sqrt(np.maximum(variance, TINY)).astype(np.float32)
        coarsest = int(level[leaf].min())
        return cls(parent, level, leaf, around, density, smooth, deviation, coarsest, side)

    def surroundings(self, leaves: Int) -> Surroundings:
        """Of some leaves, rows (m,)."""
        level, density, smooth = self.level, self.density, self.smooth
        depth = level.take(leaves)
        around = self.around.take(leaves, axis=1)
        parent = self.parent.take(leaves)
        above = self.parent.take(parent)
        counts = np.empty((COUNTS, len(leaves)), dtype=np.float32)
        counts[:8] = density.take(around)
        for row, which in enumerate(STRAIGHT, start=8):
            counts[row] = density.take(self.around[which].take(around[which]))
        counts[CENTRE] = density.take(leaves)
        counts[WIDE[0]] = (smooth.take(leaves) + smooth.take(around).sum(axis=0)) / 9
        counts[WIDE[1] :] = density.take(parent), smooth.take(parent), smooth.take(above)
        counts *= np.ldexp(np.float32(1), -2 * depth)
        finer = np.where(self.leaf.take(around), level.take(around) - depth, 1)
        return Surroundings(
            counts=counts,
            finer=finer.astype(np.float32),
            deviation=self.deviation.take(leaves),
            parent_deviation=self.deviation.take(parent) / np.float32(4),
            deeper=(depth - self.coarsest).astype(np.float32),
            across=(depth + math.log2(self.side)).astype(np.float32),
        )


def softmax(logits: Float32) -> Float32:
    """Shares that add up to one in each row, (m, k); logits are held within :data:`STEEPEST`."""
    share = np.exp(np.clip(logits, -STEEPEST, STEEPEST))
    return np.asarray(share / (share @ np.ones((logits.shape[1], 1), np.float32)))


def loads(around: Surroundings, logarithm: Float32) -> Float32:
    """How much of its block's correction each leaf takes: its variance times an output, (m,)."""
    return np.asarray(around.deviation**2 * np.exp(np.clip(logarithm, -MOST, MOST)))


def moves(around: Surroundings, network: Network) -> tuple[Float32, Float32]:
    """What each leaf is to gain, and its load in its block's correction, (m,) each."""
    output = network(around.features())
    gates = softmax(output[:, :-1])
    return np.einsum("mj,jm->m", gates @ AWAY, around.counts), loads(around, output[:, -1])


def inside(moved: Float, load: Float, block: Int) -> Float:
    """The same moves, corrected by the leaves' loads so that those of a block add up to 0, (m,)."""
    surplus = np.bincount(block, moved) / np.maximum(np.bincount(block, load), TINY)
    return np.asarray(moved - load * surplus[block])


def blocks_of(parent: Int32 | Int, level: int) -> Int:
    """Which node of a level holds each node, counted from the level's first one; −1 above, (n,)."""
    block = np.full(len(parent), -1, dtype=np.int64)
    first, *deeper = level_slices(parent)[level:]
    block[first] = np.arange(first.stop - first.start)
    for part in deeper:
        block[part] = block.take(parent[part])
    return block


def gated(
    parent: Int32 | Int,
    count: Float,
    variance: Float,
    *,
    side: float,
    block: int,
    network: Network | None = None,
) -> Float:
    """Counts of the same tree whose leaves follow gates, inside the totals of blocks, (n,).

    A leaf that is much below what it holds by its noise is drawn up farther than one that is above
    is drawn down, as both are asked for where there are records. So each block's leaves are moved
    until they hold what they held before, or that would add up in large sums.

    Args:
        parent: breadth-first parents, −1 for the root, of Morton cells of two dimensions: each has
            four children or none, and no leaf lies above the second level.
        count: estimates; children sum to their parent.
        variance: of each.
        side: typical side of the squares that are asked for, as a share of the domain's.
        block: the level of the blocks, no deeper than any leaf.
        network: instead of the trained one.
    """
    network = network or trained("gates")
    raster = Raster.of(parent, count, variance, side)
    leaves = np.flatnonzero(raster.leaf)
    within = blocks_of(parent, block)[leaves]
    held, noise = np.bincount(within, count[leaves]), np.bincount(within, variance[leaves])
    inhabited = (held > LEAST * np.sqrt(noise))[within]
    leaves, within = leaves[inhabited], within[inhabited]
    moved, load = np.empty((2, len(leaves)))
    for start in range(0, len(leaves), ROWS):
        checkpoint()
        part = slice(start, start + ROWS)
        moved[part], load[part] = moves(raster.surroundings(leaves[part]), network)
    count = count.copy()
    count[leaves] += inside(moved, load, within)
    return sum_up(parent, count)
