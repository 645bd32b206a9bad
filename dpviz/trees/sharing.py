"""How a family shares its parent's count: what a small trained network says of its estimates.

Estimates that may not be negative lie above zero where nobody is, and over a large empty region
that adds up. Each child's estimate from its own subtree, which may be negative, says where; so do
the sizes of its noise, its sisters, and the cells beside its parent. The network moves each share
by what it makes of them, from the root down, so that children still sum to their parent. It was
trained on made-up scenes (tests/training/sharing.py) and sees noisy and public numbers only, so
this is post-processing.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpviz.cores import side_by_side, strips
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int
from dpviz.trees.network import ROWS, Float32, Network, trained

SIDES = (0, 0), (1, 0), (1, 1), (0, 1)
"""Sides of a cell, as the network was trained: the axis, and whether it is the upper one."""

FEATURES = 30

BLOCK = 256
"""Rows of one matrix product: of so few no library starts threads, which spin for some 15 ms after
their part, on a core that others have work for."""

MOST = 3.0
"""Logarithm of how far the network can move a child's weight against its sisters'."""

SURE = 4.0
"""From so many standard deviations of its noise on, a child's weight moves the less."""

FLOOR = 6.0
"""Minus the logarithm of the share that a network that says nothing gives to an empty child."""

TINY = 1e-9


class Families(NamedTuple):
    """The children of each of f inner nodes, four each, in the order of the Morton curve.

    Attributes:
        parent: rows of the inner nodes, ascending, (f,).
        child: rows of the children, (f, 4).
        share: of the parent's estimate in each, (f, 4).
        load: the parent's estimate, in scales of the noise of a typical leaf: about ε·count, (f,).
        sure: the most of what the network gives a child's weight that is believed, 0 to 1, (f, 4).
        features: what the network sees, (f, :data:`FEATURES`).
    """

    parent: Int
    child: Int
    share: Float
    load: Float32
    sure: Float32
    features: Float32

    def weights(self, output: Float32) -> tuple[Float, Float32]:
        """Of each child, what becomes of its share, and what an empty one would have, (f, 4) each.

        Args:
            output: of the network, (f, 8).
        """
        moved: Float = self.share * np.exp(self.sure * np.clip(output[:, :4], -MOST, MOST))
        floor = np.exp(np.clip(output[:, 4:], -MOST, MOST) - FLOOR)
        return moved, floor / (1.0 + self.load[:, None] / 4.0)


class Evidence(NamedTuple):
    """A settled tree as its families are read off it.

    Attributes:
        nodes: Morton cells in the plane, with non-negative estimates that children share.
        raw: each node's unbiased estimate from its own subtree, and its variance.
        unit: scale of the noise of a typical leaf.
        parent: rows of the inner nodes, ascending, (f,).
        loads: the nodes' estimates, in that scale, (n,).
        volume, density: of the nodes, and their loads in each cell of the lattice, (n,).
        leaves: below each node, (n,).
    """

    nodes: Decomposition
    raw: tuple[Float, Float]
    unit: float
    parent: Int
    loads: Float32
    volume: Float32
    density: Float32
    leaves: Float32

    @classmethod
    def of(cls, nodes: Decomposition, raw: tuple[Float, Float]) -> Evidence:
        """Of a tree, see the attributes."""
        leaf = nodes.leaf
        unit = max(float(np.sqrt(np.median(raw[1][leaf]) / 2.0)), TINY)
        loads = (nodes.count / unit).astype(np.float32)
        volume = nodes.volume.astype(np.float32)  # powers of two: nothing is rounded
        leaves = sum_up(nodes.parent, np.ones(len(nodes))).astype(np.float32)
        _ = nodes.beside  # worked out once, before strips ask for it
        return cls(nodes, raw, unit, np.flatnonzero(~leaf), loads, volume, loads / volume, leaves)

    def families(self, which: slice = slice(None)) -> Families:
        """Some of them, all by default."""
        nodes, unit = self.nodes, self.unit
        parent = self.parent[which]
        start = nodes.levels[0].stop + 4 * (which.start or 0)  # breadth-first: one after another
        below = slice(start, start + 4 * len(parent))
        child = np.arange(below.start, below.stop).reshape(-1, 4)
        load, each = self.loads[parent], self.loads[below].reshape(-1, 4)
        total = nodes.count[parent, None]
        share = np.full(each.shape, 0.25)
        np.divide(nodes.count[below].reshape(-1, 4), total, out=share, where=total > 0)
        mean = (self.raw[0][below] / unit).astype(np.float32).reshape(-1, 4)
        deviation = (np.sqrt(self.raw[1][below]) / unit).astype(np.float32).reshape(-1, 4)
        ratio: NDArray[Any] = mean / np.maximum(deviation, TINY)
        off = (_added(mean) - load) / np.sqrt(_added(deviation**2) + TINY)
        columns = [
            np.clip(np.log1p(each) - np.log1p(load / 4.0)[:, None], -5.0, 5.0) / 2.0,
            self.beside(parent).T,
            np.log(deviation + 0.1),
            (nodes.n_children[below] == 0).reshape(-1, 4),
            np.log2(self.leaves[below] + 1.0).reshape(-1, 4) / 4.0,
            np.clip(ratio, -4.0, 12.0) / 4.0,
            2.0 * (each + 0.5) / (load[:, None] + 2.0),
            np.clip(off, -4.0, 4.0) / 2.0,
            np.clip(np.log1p(load) - 4.0, -4.0, 6.0) / 2.0,
        ]
        seen = np.concatenate([np.atleast_2d(each.T) for each in columns], dtype=np.float32)
        return Families(parent, child, share, load, SURE / np.maximum(ratio, SURE), seen.T)

    def beside(self, parent: Int) -> Float32:
        """Logarithms of the densities beside inner nodes, as shares of theirs, (4, f): at sides.

        Of the cell of the same size, or of the leaf around it; 0 at the domain's edge.
        """
        there = np.stack([self.nodes.beside[axis, upper].take(parent) for axis, upper in SIDES])
        load = self.density.take(there) * self.volume.take(parent)
        ratio = np.log1p(load) - np.log1p(self.loads.take(parent))
        return np.where(there < 0, np.float32(0), np.clip(ratio, -5.0, 5.0) / 2.0)


def shared(nodes: Decomposition, raw: tuple[Float, Float], network: Network | None = None) -> Float:
    """Estimates of the nodes, moved inside their parents' from the root down, (n,).

    Args:
        nodes: with non-negative estimates, children summing to their parents.
        raw: each node's unbiased estimate from its own subtree, and its variance.
        network: that with the weights beside this module, if None.
    """
    evidence, network = Evidence.of(nodes, raw), network or trained("sharing")
    share = np.empty((len(evidence.parent), 4))

    def weigh(part: slice) -> None:
        families = evidence.families(part)
        moved, floor = families.weights(_output(network, families.features))
        weight = moved + floor
        np.divide(weight, _added(weight)[:, None], out=share[part])

    side_by_side(weigh, strips(len(share), ROWS))
    return passed_down(nodes, evidence.parent, share)


def _output(network: Network, features: Float32) -> Float32:
    """What the network says of each row, (f, 8), :data:`BLOCK` rows at a time."""
    whole = len(features) - len(features) % BLOCK
    blocks = features[:whole].reshape(-1, BLOCK, FEATURES)
    return np.concatenate([network(blocks).reshape(whole, 8), network(features[whole:])])


def passed_down(nodes: Decomposition, parent: Int, share: Float) -> Float:
    """Counts where each family shares its parent's so, the roots' as they are, (n,)."""
    count = np.array(nodes.count)
    below = count[nodes.levels[0].stop :].reshape(-1, 4)
    for part in of_levels(nodes, parent):
        np.multiply(share[part], count[parent[part], None], out=below[part])
    return count


def of_levels(nodes: Decomposition, rows: Int) -> list[slice]:
    """Which of some nodes, ascending, are on each level."""
    ends = np.searchsorted(rows, [0, *(level.stop for level in nodes.levels)])
    return [slice(*pair) for pair in itertools.pairwise(ends.tolist())]


def _added(rows: NDArray[Any]) -> NDArray[Any]:
    """The sum of each of (f, 4) rows: column by column, as NumPy takes its time over short rows."""
    return np.asarray(sum(rows.T[1:], start=rows.T[0]))
