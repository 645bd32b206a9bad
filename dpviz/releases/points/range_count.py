"""Range counts from a release, with the noise that is in them.

A rectangle is snapped to lattice lines; a node inside it gives its estimate, a leaf cut by it the
share of its area (the uniformity assumption), so areas are exact integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpviz.releases.answers import INTERVAL_SDS, Answers, interval
from dpviz.trees.coherence import coherence
from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.density import uniformity_variance
from dpviz.trees.haar import HaarNoise
from dpviz.trees.lattice import Float, Int, overlaps
from dpviz.trees.shrinkage import settled

BULK = 64
"""From this many rectangles on, the compiled walk pays for its import."""


@dataclass(frozen=True)
class RangeAnswers(Answers):
    """Answers to q rectangles or regions, as columns of length q.

    Attributes:
        uniformity_sd: how far the true spread inside the leaves that the edge cuts may move the
            count: an ESTIMATE, from a Beta model of concentration 2 around the share of the area,
            of which a part is common to all leaves (:func:`~dpviz.trees.coherence.coherence`); of
            wavelets see :func:`sums_of`. A square that was chosen because many records lie in it is
            held less often.
        nodes: nodes used.
    """

    uniformity_sd: Float
    nodes: Int

    @property
    def larger_error(self) -> Float:
        """The ± of a count that stands alone: half of the interval, or what cut leaves may cost."""
        return np.maximum(self.half_width, INTERVAL_SDS * self.uniformity_sd)


@dataclass(frozen=True)
class Cover:
    """The nodes that answer one rectangle, and the share of each that lies inside it."""

    nodes: Int
    fraction: Float


def box_count(nodes: Decomposition, noise: HaarNoise | None, lo: Int, hi: Int) -> RangeAnswers:
    """Estimated records in lattice boxes.

    Args:
        nodes: of a release.
        noise: the exact noise of their sums, where the release states one.
        lo: int64 of shape (q, dims).
        hi: ends of the boxes, exclusive.
    """
    if len(lo) < BULK:
        covers = [cover(nodes, lo[row], hi[row]) for row in range(len(lo))]
        query = np.repeat(np.arange(len(lo)), [len(each.nodes) for each in covers])
        columns = np.zeros((0, 4))
        if covers:
            covering = np.concatenate([each.nodes for each in covers])
            share = np.concatenate([each.fraction for each in covers])
            columns = sums_of(nodes, noise, query, covering, share, len(lo))
    else:
        from dpviz.trees.kernels import walk_tree

        held = nodes.count if noise is None else settled(nodes)
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
            coherence(nodes, held),
            np.zeros(0) if nodes.assumed is None else nodes.assumed,
            np.zeros(0) if noise is None else held,
        )
    if noise is not None:
        columns[:, 1] = noise.of_boxes(lo, hi)
    return answers_from(columns)


def shared_variance(nodes: Decomposition, variance: Float, lo: Int, hi: Int) -> Float:
    """Variances of the counts of disjoint boxes that never add up to less than that of their sum.

    Cells within one leaf share its noise. So each box has its covariance with the sum of all
    leaves: Σ over leaves of (share of the leaf in it) · variance.

    Args:
        nodes: of a release.
        variance: of what each node gives to that sum, (n,); that of leaves is looked at.
        lo: int64 of shape (q, dims).
        hi: ends of the boxes, exclusive.
    """
    summed = sum_up(nodes.parent, np.where(nodes.leaf, variance, 0.0))
    return np.maximum(box_count(nodes.replace(count=summed), None, lo, hi).count, 0.0)


def sums_of(
    nodes: Decomposition,
    noise: HaarNoise | None,
    query: Int,
    covering: Int,
    share: Float,
    queries: int,
) -> Float:
    """Sums over the nodes that answer queries, float64 (queries, 4): see :func:`answers_from`.

    The uniformity model takes the counts c of cut leaves as they are: methods shrink them. Those of
    wavelets are raw, so it takes :func:`~dpviz.trees.shrinkage.settled` ones.
    These miss what the noise hides, so the model's variance grows by how surely that is known: an
    unbiased estimate of Σ w·n², n the true counts and w = s(1 − s)/3 for a share s, is
    Σ w·(c² − v), v the variance of c; where all n are 0 its standard deviation is √(2 Σ w²v²) for
    leaves of independent normal noise. Of N leaves it grows with √N, where the noise in Σ w·c² grew
    with N; and it is no part of what leaves have in common.

    In what they have in common, a negative count takes away what a positive one adds: of thousands
    of empty leaves with raw counts the noise cancels, where the positive ones alone would add up.

    Args:
        nodes: of a release.
        noise: the exact noise of their sums, where the release states one.
        query: whose answer each node is part of, int64 (k,).
        covering: which node, int64 (k,).
        share: of the node's volume inside the query, float64 (k,).
        queries: how many.
    """
    count, variance = nodes.count[covering], nodes.variance[covering]
    held = nodes.count if noise is None else settled(nodes)
    uniformity = uniformity_variance(held[covering], share)
    if nodes.assumed is not None:  # a share s of a share t is one of s·t: the model's own law
        uniformity += share * nodes.assumed[covering]
    summands = (count * share, variance * share**2, uniformity, np.ones(len(share)))
    sums = [np.bincount(query, weights=each, minlength=queries) for each in summands]
    signed = np.sqrt(uniformity) - np.sqrt(uniformity_variance(-held[covering], share))
    together = np.bincount(query, weights=signed, minlength=queries)
    sums[2] = sums[2] + np.square(coherence(nodes, held) * np.maximum(together, 0.0))
    if noise is not None:
        square = uniformity_variance(np.sqrt(variance), share) ** 2
        sums[2] += np.sqrt(2.0 * np.bincount(query, weights=square, minlength=queries))
    return np.stack(sums, axis=1, dtype=np.float64)


def answers_from(columns: Float) -> RangeAnswers:
    """Answers from sums over the nodes used.

    Args:
        columns: shape (q, 4): count, variance of the noise, variance of what uniformity assumes,
            nodes used.
    """
    return RangeAnswers(
        **interval(columns[:, 0], np.sqrt(columns[:, 1])),
        uniformity_sd=np.sqrt(columns[:, 2]),
        nodes=columns[:, 3].astype(np.int64),
    )


def cover(nodes: Decomposition, lo: ArrayLike, hi: ArrayLike) -> Cover:
    """The nodes that answer the lattice box [lo, hi): the reference walk, level by level."""
    lo, hi = np.asarray(lo, np.int64), np.asarray(hi, np.int64)
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
    return Cover(np.concatenate(covering), np.concatenate(shares))
