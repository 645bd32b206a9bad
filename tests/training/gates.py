"""Training of the gates of hot grids, on made-up scenes.

    uv run python -m tests.training.gates [-o dpviz/trees/gates.npz]

The loss is that of small squares around records: the mean relative error of their answers, as a
share of the ungated one. An answer is linear in the counts of leaves, whose shares of each square
(slopes included, as of the ungated counts) are computed once. Each step sees one release, turned or
mirrored as chance has it: the square has eight symmetries, of which the network knows nothing.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

import dpviz
from dpviz.evaluation.metrics import sanity_bound
from dpviz.evaluation.truth import exact_counts, hot
from dpviz.methods import method
from dpviz.methods.points.hot_grid import DOUBT
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.density import refine
from dpviz.trees.gates import (
    AWAY,
    CENTRE,
    COUNTS,
    FEATURES,
    SMOOTHERS,
    STEPS,
    STRAIGHT,
    Raster,
    Surroundings,
    blocks_of,
    inside,
    loads,
    moves,
    softmax,
)
from dpviz.trees.lattice import Float, Int
from dpviz.trees.network import Network
from tests.trees.leaves import located

from .fields import scene
from .network import Trainer, beginning

SIZES = FEATURES, 32, 32, len(SMOOTHERS) + 1
SIDES = {"hot": 0.0045, "hot-0": 0.002375}
"""What is declared for squares of either size."""

QUERIES = 1500
HELD_BACK = 5
"""Every fifth scene is not trained on."""

RECORDS, EPSILON = (4.3, 5.8), (-1.4, 0.0)
"""Decimal logarithms of their numbers, from and to."""

BATCH, LEAVES = 4, 8000
"""Lessons of a step, and about so many leaves in each."""

CLIP = 0.05
"""A lesson's slope is no longer than this: a few have very long ones."""

OWN_FIRST = 2.0
"""What the network says of the leaf's own count at first; of all others 0."""

SYMMETRIES = tuple(itertools.product((False, True), (1, -1), (1, -1)))
"""Whether axes are exchanged, then the direction of each."""


def turned(around: Surroundings, symmetry: tuple[bool, int, int]) -> Surroundings:
    """The same leaves after one of the eight symmetries of the square."""
    exchanged, *signs = symmetry
    places = []
    for step in STEPS:
        image = step[::-1] if exchanged else step
        places.append(STEPS.index((image[0] * signs[0], image[1] * signs[1])))
    far = [len(STEPS) + STRAIGHT.index(places[which]) for which in STRAIGHT]
    counts = around.counts[[*places, *far, *range(CENTRE, COUNTS)]]
    return around._replace(counts=counts, finer=around.finer[places])


class Round(NamedTuple):
    """Epochs with a rate of learning that grows in the first one, then falls to a share of itself.

    ``calm`` draws what the network says to 0, so that it does not settle on the leaves' own counts
    before it knows better.
    """

    epochs: int
    rate: float
    last: float
    calm: float


ROUNDS = Round(34, 0.015, 0.01, 2e-3), Round(12, 0.006, 0.02, 1e-4)


class Lesson(NamedTuple):
    """Some blocks of a release of a scene.

    Attributes:
        around: of the m leaves of these blocks.
        block: which block each lies in, (m,).
        share: of each leaf's count in each square, by what a record of error weighs, (q, m).
        truth: exact answers by the same, (q,). So the sum of all differences is 1 for the counts
            as they are.
    """

    around: Surroundings
    block: Int
    share: csr_matrix
    truth: Float

    @classmethod
    def of(
        cls, nodes: Decomposition, side: float, boxes: tuple[Int, Int], exact: Int, bound: float
    ) -> Lesson:
        """Of a release without slopes or gates.

        Args:
            nodes: its tree.
            side: the typical side that it was declared.
            boxes: squares on its lattice, (q, 2) each.
            exact: records in these, (q,).
            bound: an error is one relative to this many records at least.
        """
        square, leaf, share = shares(nodes, *boxes)
        leaves = np.flatnonzero(nodes.leaf)
        level = method("hot_grid").blocks(int(nodes.level[leaves].min()))
        block = blocks_of(nodes.parent, level)
        # Squares in turn, with all blocks that they meet, until there are leaves enough.
        sizes = np.bincount(block[leaves], minlength=1 << 2 * level)
        order = np.argsort(square, kind="stable")
        met = block[leaf[order]]
        first = np.sort(np.unique(met, return_index=True)[1])
        end = np.searchsorted(np.cumsum(sizes[met[first]]), LEAVES, "right") + 1
        chosen = np.zeros(1 << 2 * level, np.bool_)
        chosen[met[first[:end]]] = True
        outside = np.bincount(square, ~chosen[block[leaf]], minlength=len(exact)) > 0
        keep = ~outside[square]
        square, leaf, share = square[keep], leaf[keep], share[keep]
        touched = leaves[chosen[block[leaves]]]
        column = np.searchsorted(touched, leaf)
        weight = np.where(outside, 0.0, 1.0 / np.maximum(exact, bound))
        matrix = csr_matrix((share * weight[square], (square, column)), (len(exact), len(touched)))
        matrix, truth = matrix[~outside], (exact * weight)[~outside]
        error = np.abs(matrix @ nodes.count[touched] - truth).sum()
        around = Raster.of(nodes.parent, nodes.count, nodes.variance, side).surroundings(touched)
        _, block = np.unique(block[touched], return_inverse=True)
        return cls(around, block, matrix / error, truth / error)

    def loss(self, count: Float) -> tuple[float, Float]:
        """The error of all squares as a share of the first one, and its slope by each count."""
        wrong = self.share @ count - self.truth
        return float(np.abs(wrong).sum()), self.share.T @ np.sign(wrong)


def shares(nodes: Decomposition, lo: Int, hi: Int) -> tuple[Int, Int, Float]:
    """Which squares meet which leaves, and the shares of the leaves' counts that they hold.

    With the slopes that the counts have now.
    """
    fine = refine(nodes, DOUBT)
    square, node = np.arange(len(lo)), np.zeros(len(lo), np.int64)
    meetings = []
    while len(node):
        low = np.maximum(lo[square], fine.lo[node])
        sides = np.minimum(hi[square], fine.hi[node]) - low
        meet = (sides > 0).all(axis=1)
        square, node, sides = square[meet], node[meet], sides[meet]
        end = fine.leaf[node]
        part = sides[end].prod(axis=1) / fine.volume[node[end]]
        meetings.append((square[end], node[end], part))
        above, node = fine.children(node[~end])
        square = square[~end][above]
    square, cell, part = (np.concatenate(each) for each in zip(*meetings, strict=True))
    leaf = located(nodes, fine.lo[cell])
    whole = nodes.count[leaf]
    part *= np.divide(fine.count[cell], whole, out=np.ones(len(leaf)), where=whole != 0)
    return square, leaf, part


def lessons(seed: int) -> list[Lesson]:
    """Of a scene: one for each size of squares."""
    random = np.random.default_rng([20_263, seed])
    handle = scene(seed, int(10 ** random.uniform(*RECORDS)))
    bound = sanity_bound(handle._index.total)
    taught = []
    for column, side in SIDES.items():
        epsilon = float(10 ** random.uniform(*EPSILON))
        chosen = method("hot_grid", slopes=False, gates=False, side=side)
        nodes = dpviz.build(handle, chosen, epsilon, seed=int(random.integers(1 << 30))).nodes
        rects = hot(handle, column, QUERIES, seed=17).rects
        exact, boxes = exact_counts(handle, rects), handle.domain.boxes(rects)
        taught.append(Lesson.of(nodes, side, boxes, exact, bound))
    return taught


def trained(taught: Sequence[Lesson], seed: int, rounds: Sequence[Round]) -> Network:
    """A network that has seen each lesson as often as the rounds say."""
    network, random = beginning(SIZES, seed), np.random.default_rng(seed)
    network.biases[-1][0] = OWN_FIRST
    steps = -(-len(taught) // BATCH)
    for each in rounds:
        trainer = Trainer(network)
        for epoch in range(each.epochs):
            order, loss = random.permutation(len(taught)), 0.0
            for step, batch in enumerate(np.split(order, range(BATCH, len(taught), BATCH))):
                progress = epoch + step / steps
                rate = each.rate * min(1.0, progress) * each.last ** (progress / each.epochs)
                turns = [SYMMETRIES[turn] for turn in random.integers(8, size=len(batch))]
                chosen = [taught[which] for which in batch]
                loss += stepped(trainer, chosen, turns, rate, each.calm)
            print(f"{epoch + 1}: {loss / len(taught):.4f}", flush=True)
    return network


def stepped(
    trainer: Trainer,
    batch: list[Lesson],
    turns: list[tuple[bool, int, int]],
    rate: float,
    calm: float,
) -> float:
    """A step of some lessons; their loss as it was before."""
    seen = [turned(each.around, turn) for each, turn in zip(batch, turns, strict=True)]
    output = trainer.forward(np.concatenate([each.features() for each in seen]))
    slope, total, start = np.empty_like(output), 0.0, 0
    for lesson, around in zip(batch, seen, strict=True):
        part = slice(start, start + len(around.centre))
        start = part.stop
        gates, away = softmax(output[part, :-1]), (AWAY @ around.counts).T
        moved = (gates * away).sum(axis=1)
        load = loads(around, output[part, -1])
        whole = np.bincount(lesson.block, load)[lesson.block]
        within = np.bincount(lesson.block, moved)[lesson.block]
        loss, by_count = lesson.loss(around.centre + moved - load * within / whole)
        by_count = by_count - np.bincount(lesson.block, by_count * load / whole)[lesson.block]
        total += loss
        by_gate = gates * by_count[:, None] * away
        slope[part, :-1] = by_gate - gates * by_gate.sum(axis=1, keepdims=True)
        slope[part, -1] = -by_count * within / whole * load
        slope[part] *= min(1.0, CLIP / float(np.linalg.norm(slope[part])))
        slope[part] += calm / len(moved) * output[part]
    trainer.step(slope / len(batch), rate)
    return total


def error(network: Network, taught: Sequence[Lesson]) -> list[float]:
    """Of each lesson, as a share of the error without gates."""
    losses = []
    for lesson in taught:
        around = lesson.around
        moved, load = moves(around, network)
        losses.append(lesson.loss(around.centre + inside(moved, load, lesson.block))[0])
    return losses


def main() -> None:
    """Train, print the error on scenes that were held back, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=360)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    start = time.process_time()
    all_of = [lessons(seed) for seed in range(options.scenes)]
    taught = [each for seed, some in enumerate(all_of) if seed % HELD_BACK for each in some]
    held = [each for some in all_of[::HELD_BACK] for each in some]
    print(f"{len(taught)} lessons: {time.process_time() - start:.0f} s", flush=True)
    network = trained(taught, options.seed, ROUNDS)
    shares = error(network, held)
    print(f"held back: {geometric_mean(shares):.4f}, {time.process_time() - start:.0f} s")
    if options.output is not None:
        network.save(options.output)


if __name__ == "__main__":
    main()
