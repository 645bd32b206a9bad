"""Range counts from a release, with the noise that is in them.

A rectangle is snapped to lattice lines; a node inside it gives its estimate, a leaf cut by it the
share of its area (the uniformity assumption), so areas are exact integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.releases.answers import RangeAnswers, answers_from
from dpviz.trees.coherence import coherence
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.density import uniformity_variance
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int, overlaps
from dpviz.trees.shrinkage import nonnegative_counts

MIN_COMPILED = 64
"""Smallest number of rectangles for which the compiled walk is worth its import."""


@dataclass(frozen=True)
class Cover:
    """Nodes that answer queries, as columns: query, node, share of the node.

    Attributes:
        query: the query that each node answers in part, int64 (k,).
        node: row of the node, int64 (k,).
        share: share of the node inside the query, float64 (k,).
    """

    query: Int
    node: Int
    share: Float
    queries: int


def box_count(nodes: Decomposition, noise: HaarNoise | None, lo: Int, hi: Int) -> RangeAnswers:
    """Estimated records in lattice boxes; arguments as for :func:`box_sums`."""
    return answers_from(box_sums(nodes, noise, lo, hi))


def box_sums(
    nodes: Decomposition, noise: HaarNoise | None, lo: Int, hi: Int, day: float = math.inf
) -> Float:
    """Sums over the nodes that answer lattice boxes, float64 (q, 4).

    Args:
        noise: the exact noise of their sums, where the release states one.
        lo: int64 of shape (q, dims).
        hi: ends of the boxes, exclusive.
        day: see :func:`~dpviz.trees.coherence.coherence`.
    """
    held = nodes.count if noise is None else nonnegative_counts(nodes)
    common = coherence(nodes, held, day)
    if len(lo) < MIN_COMPILED:
        columns = sums_of(nodes, noise, box_cover(nodes, lo, hi), common)
    else:
        from dpviz.trees.kernels import walk_tree

        columns = walk_tree(
            nodes.lo,
            nodes.hi,
            nodes.first_child,
            nodes.n_children,
            nodes.count,
            nodes.variance,
            nodes.levels[0].stop,
            np.ascontiguousarray(lo),
            np.ascontiguousarray(hi),
            common,
            np.zeros(0) if nodes.assumed is None else nodes.assumed,
            np.zeros(0) if noise is None else held,
        )
    if noise is not None:
        columns[:, 1] = noise.of_boxes(lo, hi)
    return np.asarray(columns)


def shared_variance(nodes: Decomposition, variance: Float, lo: Int, hi: Int) -> Float:
    """Variances of counts of disjoint boxes, adding up to at least the variance of their sum.

    Cells within one leaf share its noise. So each box has its covariance with the sum of all
    leaves: Σ over leaves of (share of the leaf in it) · ``variance``. Boxes are int64 (q, dims).
    """
    summed = sum_up(nodes.parent, np.where(nodes.leaf, variance, 0.0))
    return np.maximum(box_count(nodes.replace(count=summed), None, lo, hi).count, 0.0)


def sums_of(
    nodes: Decomposition, noise: HaarNoise | None, cover: Cover, common: float | None = None
) -> Float:
    """Sums over the nodes that answer queries, float64 (q, 4).

    Columns are those of :func:`~dpviz.releases.answers.answers_from`.

    A share s of a leaf with n records holds at most n²·s(1 − s) of variance, see
    :func:`~dpviz.trees.density.uniformity_variance`. Of a leaf of count c whose noise has the
    variance v, n² is c² + v on the average; with the noise s²·v of the share itself, the error has
    the variance s·v + s(1 − s)·c².

    Counts of wavelets are raw, so c is of :func:`~dpviz.trees.shrinkage.nonnegative_counts`.
    These miss what the noise hides, so the variance grows by how surely that is known: an
    unbiased estimate of Σ w·n², n the true counts and w = s(1 − s) for a share s, is
    Σ w·(c² − v), v the variance of c; where all n are 0 its standard deviation is √(2 Σ w²v²) for
    leaves of independent normal noise. Of N leaves it grows with √N, where the noise in Σ w·c² grew
    with N; and it is no part of what leaves have in common.

    In what they have in common, a negative count takes away what a positive one adds: of thousands
    of empty leaves with raw counts the noise cancels, where the positive ones alone would add up.

    ``common``: part of the leaves' uniformity errors that is common; that of the tree by default.
    """
    query, covering, share, queries = cover.query, cover.node, cover.share, cover.queries
    count, variance = nodes.count[covering], nodes.variance[covering]
    held = nodes.count if noise is None else nonnegative_counts(nodes)
    common = coherence(nodes, held) if common is None else common
    uniformity = uniformity_variance(held[covering], share)
    if nodes.assumed is not None:  # the model composes: a share s of a share t is s·t
        uniformity += share * nodes.assumed[covering]
    signed = np.sqrt(uniformity) - np.sqrt(uniformity_variance(-held[covering], share))
    if noise is None:
        uniformity += uniformity_variance(np.sqrt(variance), share)
    summands = (count * share, variance * share**2, uniformity, np.ones(len(share)))
    sums = [np.bincount(query, weights=each, minlength=queries) for each in summands]
    together = np.bincount(query, weights=signed, minlength=queries)
    sums[2] = sums[2] + np.square(common * np.maximum(together, 0.0))
    if noise is not None:
        square = uniformity_variance(np.sqrt(variance), share) ** 2
        sums[2] += np.sqrt(2.0 * np.bincount(query, weights=square, minlength=queries))
    return np.stack(sums, axis=1, dtype=np.float64)


def box_cover(nodes: Decomposition, lo: Int, hi: Int) -> Cover:
    """Nodes that answer lattice boxes [lo, hi), (q, dims) each: the reference walk."""
    walks = [_cover_of_box(nodes, *box) for box in zip(lo, hi, strict=True)]
    query = np.repeat(np.arange(len(lo)), [len(rows) for rows, _ in walks])
    none = np.empty(0, np.int64), np.empty(0)
    rows, share = (np.concatenate(column) for column in zip(none, *walks, strict=True))
    return Cover(query, rows, share, len(lo))


def _cover_of_box(nodes: Decomposition, lo: Int, hi: Int) -> tuple[Int, Float]:
    """Nodes of one box and their shares, level by level."""
    frontier = np.arange(nodes.levels[0].stop)
    covering, shares = [], []
    while len(frontier):
        volume = nodes.volume[frontier]
        common = overlaps(nodes.lo[frontier], nodes.hi[frontier], lo, hi)
        answered = (common > 0) & ((common == volume) | (nodes.n_children[frontier] == 0))
        covering.append(frontier[answered])
        shares.append(common[answered] / volume[answered])
        opened = frontier[(common > 0) & ~answered]
        frontier = nodes.children(opened)[1]
    return np.concatenate(covering), np.concatenate(shares)
