"""Training of the shares inside families, :mod:`dpviz.trees.sharing`, on made-up scenes.

    uv run python -m tests.training.sharing [WEIGHTS.npz]

What is made small is the relative error of small, medium and large queries of a ladder tree with
slopes, as a share of its error without the network, through all counts that a query adds up: what
is best for each leaf is not best for queries, whose errors are sums over many. It takes about five
minutes of one core; the same machine and NumPy give the same weights. At the end it prints what the
error is on scenes that the network never saw, as a share of that without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpviz
from dpviz.methods import method
from dpviz.methods.points import ladder_tree
from dpviz.queries.workloads import workload
from dpviz.trees import sharing
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.density import refine
from dpviz.trees.lattice import Float, Int, morton
from dpviz.trees.network import Float32, Network
from dpviz.trees.sharing import FEATURES, MOST, Evidence, Families, of_levels

from .fields import UNIT, field
from .network import Trainer, beginning

WEIGHTS = Path(sharing.__file__).with_name("sharing.npz")

QUERIES = {"small": 1000, "medium": 700, "large": 300}
SCENES, HELD_BACK = range(160), range(1000, 1030)
DRAWS = 3
"""Releases of each scene, of different ε and noise."""

HIDDEN = (32, 16)
EPOCHS, BATCH, RATE, DECAY = 8, 4, 3e-3, 1e-2
SMOOTH = 0.1
"""The absolute error is rounded off below this share of its mean."""


class Example(NamedTuple):
    """One release of one scene, without the network's changes.

    Attributes:
        families: of the measured nodes; features in half precision.
        nodes: the tree with slopes, four more children under each leaf.
        parent, child, share: all its families, (g,), (g, 4), (g, 4).
        measured: which of these ``families`` are, (f,).
        query, node, part: a query's answer is the sum of so much of these nodes' counts, (k,).
        band: of each query, (q,).
        exact: answer, (q,).
        bound: what its error is divided by, (q,).
        before: mean relative error of each band, (3,).
    """

    families: Families
    nodes: Decomposition
    parent: Int
    child: Int
    share: Float
    measured: Int
    query: Int
    node: Int
    part: Float32
    band: Int
    exact: Float
    bound: Float
    before: Float

    def errors(self, count: Float) -> Float:
        """Of each query, as a share of its bound, with its sign, (q,)."""
        terms = self.part * count[self.node]
        answer = np.bincount(self.query, terms, minlength=len(self.exact))
        return np.asarray((answer - self.exact) / self.bound)

    def in_bands(self, error: Float) -> Float:
        """Mean absolute errors of the bands, (3,)."""
        return np.asarray(np.bincount(self.band, np.abs(error)) / np.bincount(self.band))

    def count(self, output: Float32) -> tuple[Float, Float]:
        """All counts if the network says so, and the shares of the measured families."""
        weight = np.sum(self.families.weights(output), axis=0)
        share = self.share.copy()
        share[self.measured] = weight / weight.sum(axis=1, keepdims=True)
        count = sharing.passed_down(self.nodes, self.parent, share)
        return count, share

    def after(self, output: Float32) -> Float:
        """Errors of the bands as shares of what they were, (3,)."""
        return self.in_bands(self.errors(self.count(output)[0])) / self.before

    def slope(self, output: Float32) -> Float:
        """Of half the sum over bands of (error ÷ error before)², by the output, (f, 8)."""
        count, share = self.count(output)
        error = self.errors(count)
        ratio = self.in_bands(error) / self.before
        before = self.before[self.band]
        steep = error / np.hypot(error, SMOOTH * before) / self.bound / before
        steep *= ratio[self.band] / np.bincount(self.band)[self.band]
        by_count = np.bincount(self.node, self.part * steep[self.query], minlength=len(count))
        by_share = np.empty_like(share)
        for part in reversed(of_levels(self.nodes, self.parent)):
            below = by_count[self.child[part]]
            by_share[part] = below * count[self.parent[part], None]
            by_count[self.parent[part]] += (below * share[part]).sum(axis=1)
        by_share, share = by_share[self.measured], share[self.measured]
        moved, floor = self.families.weights(output)
        total = (moved + floor).sum(axis=1, keepdims=True)
        by_weight = (by_share - (by_share * share).sum(axis=1, keepdims=True)) / total
        both = np.concatenate([by_weight * moved * self.families.sure, by_weight * floor], axis=1)
        return np.asarray(np.where(np.abs(output) < MOST, both, 0.0))


def examples(seeds: range) -> Iterator[Example]:
    """Of scenes of these seeds, some with a thin even background."""
    for seed in seeds:
        random = np.random.default_rng([20_263, seed])
        n = round(np.exp(random.uniform(np.log(2e4), np.log(3.5e5))))
        points = field(seed).points(n, random)
        if random.random() < 0.5:
            background = round(n * 10 ** random.uniform(-3.5, -0.7))
            points[:background] = random.random((background, 2))
        handle = dpviz.from_points(points, UNIT, name=f"scene {seed}", public=True)
        for _ in range(DRAWS):
            epsilon = np.exp(random.uniform(np.log(0.04), np.log(1.0)))
            yield example(handle, float(epsilon), int(random.integers(1 << 31)))


def example(handle: dpviz.DataHandle, epsilon: float, seed: int) -> Example:
    """One release, and how it answers queries of its own."""
    tree, families = settled_tree(handle, epsilon, seed)
    nodes = refine(tree)
    parent = np.flatnonzero(~nodes.leaf)
    child = nodes.first_child[parent].astype(np.int64)[:, None] + np.arange(4)
    total = nodes.count[parent, None]
    share = np.divide(nodes.count[child], total, out=np.full(child.shape, 0.25), where=total > 0)
    # Rows move where leaves get children; what is on which level of the curve does not.
    places = [(morton(each.lo) << np.uint64(6)) | each.level for each in (tree, nodes)]
    of_parent = places[1][parent]
    order = np.argsort(of_parent)
    measured = order[np.searchsorted(of_parent[order], places[0][families.parent])]
    loads = [workload(UNIT, band, many, seed) for band, many in QUERIES.items()]
    low, high = UNIT.boxes(np.concatenate([each.rects for each in loads]))
    exact = handle._index.box_counts(low, high).astype(np.float64)
    bound = np.maximum(exact, 0.001 * handle._index.total)
    band = np.repeat(np.arange(len(loads)), list(QUERIES.values()))
    terms = answers(nodes, low, high)
    families = families._replace(features=families.features.astype(np.float16))
    made = Example(
        families, nodes, parent, child, share, measured, *terms, band, exact, bound, np.ones(3)
    )
    return made._replace(before=made.in_bands(made.errors(nodes.count)))


def settled_tree(
    handle: dpviz.DataHandle, epsilon: float, seed: int
) -> tuple[Decomposition, Families]:
    """A ladder tree without slopes and the network, and the families that this would see."""
    seen: list[Families] = []

    def noted(nodes: Decomposition, raw: tuple[Float, Float]) -> Float:
        seen.append(Evidence.of(nodes, raw).families())
        return nodes.count

    usual, ladder_tree.shared = ladder_tree.shared, noted  # type: ignore[assignment]
    try:
        release = dpviz.build(handle, method("ladder_tree", slopes=False), epsilon, seed=seed)
    finally:
        ladder_tree.shared = usual
    return release.nodes, seen[0]


def answers(nodes: Decomposition, low: Int, high: Int) -> tuple[Int, Int, Float32]:
    """Which parts of which nodes boxes are made of: see :class:`Example`."""
    query, node = np.arange(len(low)), np.zeros(len(low), dtype=np.int64)
    terms = []
    leaf, volume = nodes.leaf, nodes.volume.astype(np.float64)
    while len(query):
        sides = np.minimum(nodes.hi[node], high[query]) - np.maximum(nodes.lo[node], low[query])
        part = np.prod(np.maximum(sides, 0), axis=1, dtype=np.float64) / volume[node]
        ends = (part == 1.0) | leaf[node]
        taken, opened = ends & (part > 0), ~ends & (part > 0)
        terms.append((query[taken], node[taken], part[taken].astype(np.float32)))
        first = nodes.first_child[node[opened]].astype(np.int64)
        query, node = np.repeat(query[opened], 4), (first[:, None] + np.arange(4)).ravel()
    queries, rows, shares = (np.concatenate(each) for each in zip(*terms, strict=True))
    return queries, rows, shares


def symmetries() -> list[tuple[Int, Int]]:
    """Of the square: which feature, and which child, stands in the place of each; eight pairs."""
    pairs = []
    for turns in range(8):

        def turned(grid: NDArray[np.int64], turns: int = turns) -> Int:
            return np.rot90(grid.T if turns > 3 else grid, turns % 4).ravel()

        child = turned(np.arange(4).reshape(2, 2))
        side = turned(np.array([[-1, 0, -1], [1, -1, 2], [-1, 3, -1]]))
        grids = [child, 4 + side[side >= 0], *(start + child for start in range(8, 28, 4))]
        pairs.append((np.concatenate([*grids, np.arange(28, FEATURES)]), child))
    return pairs


def held_back(network: Network, those: list[Example]) -> Float:
    """Logarithms of errors after ÷ before, (examples, 3)."""
    return np.log([each.after(network(each.families.features)) for each in those])


def trained(those: list[Example], seed: int = 0, epochs: int = EPOCHS) -> Network:
    """A network that has seen all of these so often, each time from another side."""
    network = beginning((FEATURES, *HIDDEN, 8), seed)
    trainer, random, sides = Trainer(network, DECAY), np.random.default_rng(seed), symmetries()
    steps = epochs * (len(those) // BATCH)
    for step in range(steps):
        if step % (len(those) // BATCH) == 0:
            order = random.permutation(len(those))
        batch = [those[each] for each in order[step % (len(those) // BATCH) * BATCH :][:BATCH]]
        chosen = [sides[each] for each in random.integers(8, size=BATCH)]
        seen = [
            each.families.features[:, feature]
            for each, (feature, _) in zip(batch, chosen, strict=True)
        ]
        ends = np.cumsum([len(each) for each in seen])[:-1]
        output = np.split(trainer.forward(np.concatenate(seen)), ends)
        slopes = []
        for each, (_, child), answer in zip(batch, chosen, output, strict=True):
            both = np.concatenate([child, 4 + child])
            slopes.append(each.slope(answer[:, np.argsort(both)])[:, both] / BATCH)
        rate = RATE * min(1.0, (step + 1) / 20) * (0.02 + 0.49 * (1 + np.cos(np.pi * step / steps)))
        trainer.step(np.concatenate(slopes), float(rate))
    return network


def main() -> None:
    """Train, say what held-back scenes say, and write the weights."""
    network = trained(list(examples(SCENES)))
    network.save(Path(sys.argv[1]) if len(sys.argv) > 1 else WEIGHTS)
    logs = held_back(network, list(examples(HELD_BACK)))
    print("error after ÷ before:", dict(zip(QUERIES, np.exp(logs.mean(axis=0)), strict=True)))
    print("all:", np.exp(logs.mean()), "worst release:", np.exp(logs.mean(axis=1).max()))


if __name__ == "__main__":
    main()
