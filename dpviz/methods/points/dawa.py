"""DAWA: buckets from a private partition, with counts weighted for a workload."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.cell_tree import CellTree, counts_at, measured_again, rate_variances
from dpviz.methods.points.greedyh import BucketTree, level_rates
from dpviz.methods.points.grid_size import checked_power
from dpviz.methods.points.ladder_tree import SINGLE_AXIS_DIMS, LadderTree
from dpviz.private.budget import Budget, Share
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise
from dpviz.private.mechanisms.partitions import published_partition
from dpviz.queries.workloads import workload
from dpviz.trees.consistency import combine, least_squares
from dpviz.trees.decomposition import Decomposition, is_leaf
from dpviz.trees.lattice import Codes, Float, Int, grid_edges, hilbert, hilbert_run_boxes


@register
@dataclass(frozen=True, kw_only=True)
class Dawa(PointMethod):
    """A private partition into buckets, then a tree of counts weighted for a workload.

    C. Li, M. Hay, G. Miklau, Y. Wang: A Data- and Workload-Aware Algorithm for Range Queries Under
    Differential Privacy. PVLDB 7(5), 2014.

    The published first stage adds noise to the cost of every run of cells on the Hilbert curve and
    takes the cheapest partition. It leaves single cells without noise and is not ε-DP; it is kept
    as ``noise="published"``, NOT PRIVATE. With the noise that a proof needs on every candidate it
    has 1.2 to 6 times the error. So the first stage here buys noisy counts in place of noisy costs:
    it is a ladder tree (:mod:`~dpviz.methods.points.ladder_tree`), whose leaves are the buckets. In
    the plane they are squares, which are the runs of 4^k cells of the Hilbert curve. Noisy costs
    yield only the partition; noisy counts are estimates as well, and those of both stages are
    combined by inverse variances. Therefore most of ε is best spent here.

    Privacy: let a be the share of ε for the partition. Along the path of nodes that hold one
    record, what the ladder tree publishes moves by at most e^(aε) when the record comes or goes;
    nodes elsewhere do not change (its proof). Given the partition, GreedyH's rates are functions of
    it and of a public workload, and those of the nodes on a path add up to at most (1 − a)ε: with
    noise of rate r a count of sensitivity 1 moves by e^r. Together e^ε, for every transcript
    (adaptive composition). All later steps are post-processing.

    GreedyH chooses one weight per level of the tree above the buckets, bottom-up, for the least
    error of a public sample of range queries.

    Do not use it where unbiased counts are needed: shrinkage trades bias for variance.

    >>> from dpviz.methods import method
    >>> method("DAWA").workload, method("dawa", noise="published").private
    (100, False)
    """

    name: ClassVar[str] = "dawa"
    title: ClassVar[str] = "DAWA"
    paper: ClassVar[str] = (
        "C. Li, M. Hay, G. Miklau, Y. Wang: A Data- and Workload-Aware Algorithm for Range Queries "
        "Under Differential Privacy. PVLDB 7(5), 2014"
    )
    presets: ClassVar[dict[str, dict[str, object]]] = {"DAWA": {}}
    measured: ClassVar[dict[str, Any]] = {"slopes": False}
    tiny: ClassVar[dict[str, object]] = {"log_cells": 2, "workload": 5, "slopes": False}
    advice: ClassVar[str] = "Counts that must be right on average: these are smoothed."

    log_cells: int | None = parameter(
        None, "log2 of the cells per side; 2^20 cells in all by default", 1, 20, optional=True
    )
    partition_share: float | None = parameter(
        None,
        "Share of ε for the partition; 0.75 by default, 0.25 as published",
        0.05,
        0.95,
        optional=True,
    )
    workload: int = parameter(
        100, "Public range queries of each size that the counts are for", 1, 1000
    )
    noise: str = parameter(
        "proven",
        "First stage: with its proof, or as published (NOT PRIVATE)",
        choices=("proven", "published"),
    )
    slopes: bool = parameter(True, "Let the density rise or fall inside a bucket of cells (2-D)")

    @property
    def private(self) -> bool:
        """True if the first stage is the proven one."""
        return self.noise == "proven"

    def check(self, domain: Domain) -> None:
        """Refuse a number of cells above the public cap."""
        self._power(domain.dims)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        default_share = 0.75 if self.private else 0.25
        first = budget.spend(
            (self.partition_share or default_share) * budget.epsilon,
            "partition",
            mechanism="nested geometric" if self.private else "as published",
            theorem="theorem of the ladder tree: the rates of a path add up to the share"
            if self.private
            else "REFUTED",
        )
        second = budget.spend(
            budget.left,
            "bucket counts",
            mechanism="geometric",
            theorem="rates along a path add up to the share",
        )
        domain, power = index.domain, self._power(index.domain.dims)
        queries = [domain.boxes(workload(domain, size, self.workload).rects) for size in SIZES]
        low, high = (np.concatenate(each) for each in zip(*queries, strict=True))
        if not self.private:
            tree, exact = published_buckets(noise, first, index, power, 1.0 / second.epsilon)
            rate, _ = node_rates(tree, low, high, second.epsilon)
            count, variance = least_squares(tree.parent, *counts_at(noise, second, exact, rate))
            return Decomposition(tree.lo, tree.hi, tree.parent, count, variance)
        levels = power * (domain.dims if domain.dims >= SINGLE_AXIS_DIMS else 1)
        ladder = LadderTree(max_depth=levels, slopes=self.slopes, sharing=False)
        cells, count, paid, doubts = ladder.grow(index, first, noise)
        rate, of_leaf = node_rates(ladder_buckets(cells), low, high, second.epsilon)
        again, spread = counts_at(noise, second, cells.counts(), rate)
        variance = rate_variances(paid)
        measured_again(count, variance, again, spread)
        # If a node had stopped, it would have a leaf's second count as well as its final count.
        final = combine(count, doubts.final, count, rate_variances(of_leaf))[1]
        return ladder.finish(cells, count, variance, doubts._replace(final=final))

    def _power(self, dims: int) -> int:
        """log2 of the cells per side."""
        most = 20 // dims
        return checked_power(self.name, "log_cells", self.log_cells or most, dims, most)


SIZES = ("small", "medium", "large")
"""Query sizes of the public workload."""

MARGIN = 1e-12
"""Relative part of a share that rates along a path leave unspent, against rounding."""


def node_rates(tree: BucketTree, low: Int, high: Int, epsilon: float) -> tuple[Float, Float]:
    """ε that GreedyH spends on each node's count, and on a leaf of the same level.

    The sum over any path is at most ``epsilon``.

    Returns ε per node, 0 if it is not measured, (n,), and ε of a leaf at the node's level, (n,).
    """
    rates = level_rates(tree, low, high)
    level = np.repeat(np.arange(len(tree.leaf)), [len(each) for each in tree.leaf])
    inner, last = (np.asarray(each)[level] for each in (rates.inner, rates.leaf))
    scale = epsilon * (1.0 - MARGIN)
    return np.where(np.concatenate(tree.leaf), last, inner) * scale, last * scale


def ladder_buckets(cells: CellTree) -> BucketTree:
    """The tree above the leaves of a ladder tree."""
    parent = cells.parent
    leaf = is_leaf(parent)
    ends = np.cumsum([len(codes) for codes in cells.codes])
    return BucketTree(np.split(leaf, ends[:-1]), parent, *cells.boxes(), cells.fanout)


def published_buckets(
    noise: Noise, share: Share, index: PointIndex, power: int, bucket_cost: float
) -> tuple[BucketTree, Int]:
    """The published first stage on a Hilbert curve of 2^power cells per side: NOT PRIVATE.

    Returns the tree above its buckets, in steps of the lattice, and the exact counts of its nodes.
    """
    dims, side = index.domain.dims, index.domain.side
    cells = np.indices([1 << power] * dims).reshape(dims, -1).T
    line = np.empty(len(cells), dtype=np.int64)
    line[hilbert(cells, power)] = index.histogram([grid_edges(side, 1 << power)] * dims).ravel()
    tree, codes = bucket_tree(published_partition(noise, share, line, bucket_cost), power, dims)
    exact = [
        line.reshape(1 << level, -1).sum(axis=1)[each.astype(np.int64)]
        for level, each in enumerate(codes)
    ]
    step = side >> power
    return replace(tree, lo=tree.lo * step, hi=tree.hi * step), np.concatenate(exact)


def bucket_tree(
    inside: list[NDArray[np.bool_]], power: int, dims: int
) -> tuple[BucketTree, list[Codes]]:
    """Nodes that are buckets or their ancestors, from the flags of a partition of the curve.

    Returns the tree, in cells of the grid, and the positions of its nodes, level by level.
    """
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
    return BucketTree(leaf, np.concatenate(parents), lo, hi), codes
