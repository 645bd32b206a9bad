"""DAWA: near-uniform buckets along the Hilbert curve, measured for a workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpviz.errors import ParameterError
from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.greedyh import BucketTree, level_rates
from dpviz.private.mechanisms.noise import geometric
from dpviz.private.mechanisms.partitions import LONG_SHIFT, private_partition, published_partition
from dpviz.trees.consistency import least_squares
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Codes, grid_edges, hilbert, hilbert_run_boxes
from dpviz.workloads import workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpviz.domain import Domain
    from dpviz.private.budget import Budget
    from dpviz.private.index import PointIndex
    from dpviz.private.mechanisms.noise import Noise


@register
@dataclass(frozen=True, kw_only=True)
class Dawa(PointMethod):
    """Buckets of similar cells along the Hilbert curve; a tree over them, weighted for a workload.

    C. Li, M. Hay, G. Miklau, Y. Wang: A Data- and Workload-Aware Algorithm for Range Queries Under
    Differential Privacy. PVLDB 7(5), 2014.

    Privacy: a quarter of ε buys the partition, with independent noise on the cost of every
    candidate (the proof is :func:`~dpviz.private.mechanisms.partitions.private_partition`'s; the
    published first stage is not ε-DP and is kept as ``noise="published"``, NOT PRIVATE). The rest
    buys counts of the nodes above the buckets: rates depend on the partition and a public workload
    only, and along every path they add up to one share (GreedyH). Least squares is post-processing.

    The proven noise has a price: the cheapest of millions of noisy partitions is one of tiny
    buckets that were lucky, 10^5 of them on an *empty* line of 2^20 cells. A public ``penalty`` for
    every bucket mends that, and touches no proof: at 2 scales of the noise the empty line falls
    into about 130 buckets (2,800 at 1.75; 3 at 2.25), whatever ε. The error is then a tenth to a
    fiftieth on real points. The published stage hardly needs it, since its single cells have no
    noise to be lucky with.

    Candidates are the dyadic runs of the curve, so every node is a rectangle. GreedyH chooses one
    weight per level of the dyadic tree, bottom-up, for the least error of a public sample of range
    queries.

    Do not use it for more than a million cells or where a tree answers as well: it is slow.

    >>> from dpviz.methods import method
    >>> method("DAWA").partition_share, method("dawa", noise="published").private
    (0.25, False)
    """

    name: ClassVar[str] = "dawa"
    title: ClassVar[str] = "DAWA"
    paper: ClassVar[str] = (
        "C. Li, M. Hay, G. Miklau, Y. Wang: A Data- and Workload-Aware Algorithm for Range Queries "
        "Under Differential Privacy. PVLDB 7(5), 2014"
    )
    dims: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    splits_axes: ClassVar[bool] = False
    presets: ClassVar[dict[str, dict[str, object]]] = {"DAWA": {}}
    tiny: ClassVar[dict[str, object]] = {"log_cells": 2, "workload": 5}
    advice: ClassVar[str] = "A quick answer, or more than two dimensions."

    log_cells: int | None = parameter(
        None, "log2 of the cells per side; 2^20 cells in all by default", 1, 20, optional=True
    )
    partition_share: float = parameter(0.25, "Share of ε for the partition", 0.05, 0.95)
    workload: int = parameter(
        100, "Public range queries of each size that the counts are for", 1, 1000
    )
    penalty: float = parameter(
        2.0,
        "What a bucket costs beside its own noise, in noise scales of its price; 0 as published",
        0.0,
        100.0,
    )
    noise: str = parameter(
        "proven",
        "First stage: with its proof, or as published (NOT PRIVATE)",
        choices=("proven", "published"),
    )

    @property
    def private(self) -> bool:
        """Whether the first stage is the proven one."""
        return self.noise == "proven"

    def check(self, domain: Domain) -> None:
        """See the base: the number of cells."""
        self._power(domain)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """See the class."""
        domain = index.domain
        dims, power = domain.dims, self._power(domain)
        edges = [grid_edges(domain.side, 1 << power)] * dims
        cells = np.indices([1 << power] * dims).reshape(dims, -1).T
        line = np.empty(len(cells), dtype=np.int64)
        line[hilbert(cells, power)] = index.histogram(edges).ravel()

        first = budget.spend(
            self.partition_share * budget.epsilon,
            "partition",
            mechanism="least noisy cost" if self.private else "as published",
            theorem="independent noise on every candidate bucket" if self.private else "REFUTED",
        )
        chosen = private_partition if self.private else published_partition
        second = budget.spend(
            budget.left,
            "bucket counts",
            mechanism="geometric",
            theorem="rates along a path add up to the share",
        )
        price = 1.0 / second.epsilon
        if self.private:
            price += self.penalty * LONG_SHIFT / first.epsilon
        inside = chosen(noise, first, line, price)

        tree = bucket_tree(inside, power, dims)
        steps = edges[0]
        boxes = [domain.boxes(workload(domain, size, self.workload).rects) for size in SIZES]
        queries = tuple(
            np.searchsorted(steps, np.concatenate([pair[side] for pair in boxes]))
            for side in (0, 1)
        )
        rates = level_rates(tree, queries[0], queries[1])
        count, variance = [], []
        for level, (codes, leaf) in enumerate(zip(tree.codes, tree.leaf, strict=True)):
            exact = line.reshape(1 << level, -1).sum(axis=1)[codes.astype(np.int64)]
            noisy, spread = np.zeros(len(exact)), np.full(len(exact), np.inf)
            for rows, rate in ((leaf, rates.leaf[level]), (~leaf, rates.inner[level])):
                if rate > 0 and rows.any():
                    # At a rate r of the share a count of sensitivity 1 costs r·ε.
                    noisy[rows], spread[rows] = geometric(noise, second, exact[rows], 1.0 / rate)
            count.append(noisy)
            variance.append(spread)
        estimate, spread = least_squares(
            tree.parent, np.concatenate(count), np.concatenate(variance)
        )
        return Decomposition(steps[tree.lo], steps[tree.hi], tree.parent, estimate, spread)

    def _power(self, domain: Domain) -> int:
        power = 20 // domain.dims if self.log_cells is None else self.log_cells
        if power * domain.dims > 20 or power > domain.bits:
            raise ParameterError(
                f"dawa: log_cells={power}: 2^{power * domain.dims} cells in {domain.dims} "
                f"dimensions: choose up to {20 // domain.dims}"
            )
        return power


SIZES = ("small", "medium", "large")
"""Sizes of the queries of the public workload."""


def bucket_tree(inside: list[NDArray[np.bool_]], power: int, dims: int) -> BucketTree:
    """The nodes that are buckets or above buckets, from the flags of a partition."""
    codes: list[Codes] = [np.zeros(1, dtype=np.uint64)]
    leaf, parents, boxes = [], [np.full(1, -1, dtype=np.int64)], []
    start = 0
    for level, flags in enumerate(inside):
        here = codes[-1]
        leaf.append(flags[here.astype(np.int64)])
        boxes.append(hilbert_run_boxes(here, level, power, dims))
        rows = np.flatnonzero(~leaf[-1])
        if not len(rows):
            break
        codes.append((here[rows, None] << np.uint64(1) | np.arange(2, dtype=np.uint64)).ravel())
        parents.append(np.repeat(start + rows, 2))
        start += len(here)
    lo, hi = (np.concatenate(column) for column in zip(*boxes, strict=True))
    return BucketTree(codes, leaf, np.concatenate(parents), lo, hi)
