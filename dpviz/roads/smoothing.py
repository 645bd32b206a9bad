"""Smoothing of noisy counts along streets by the counts of neighbouring edges.

A noisy count is weighed against a prior whose mean is that of its neighbours, since traffic on a
street comes from the streets before it. Published counts lie between the noisy counts and the
posterior means; how far is chosen on the public workload, by an estimate of the error that sees
noisy numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.roads.graph import Float, Int, RoadGraph
from dpviz.roads.paths import Paths
from dpviz.trees.posterior import gamma_posterior

CROSSING_WEIGHT = 0.1
"""Weight of a neighbour round a corner; a neighbour straight ahead, or the only one, has 1."""

MEAN_WEIGHT = 0.1
"""Weight of the mean of all edges beside that of the neighbours."""

SHAPES = (0.15, 0.25, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0)
"""Shapes of the gamma prior; the one most likely for the noisy counts is used."""

MAX_FACTOR = 5.0
"""Greatest factor by which a class of edges raises or lowers the means of its prior."""

MIN_COUNT = 0.3
"""Least count of the quadrature, in trips."""


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Pairs of edges that meet at a node, both ways, with weights.

    Attributes:
        edge, other: edge rows, int64 (pairs,).
        weight: float64 (pairs,), at most 1.
    """

    edge: Int
    other: Int
    weight: Float

    def mean(self, value: Float) -> Float:
        """The mean of each edge's neighbours, never of the edge itself; float64 (edges,)."""
        size = len(value)
        total = np.bincount(self.edge, self.weight * value[self.other], minlength=size)
        weight = np.bincount(self.edge, self.weight, minlength=size)
        everywhere = max(float(value.mean()), MIN_COUNT)
        return np.asarray((total + MEAN_WEIGHT * everywhere) / (weight + MEAN_WEIGHT))

    def between(self, group: Int) -> Adjacency:
        """Adjacency of groups of edges, given the group of each; a group does not meet itself."""
        edge, other = group[self.edge], group[self.other]
        distinct = edge != other
        return Adjacency(edge[distinct], other[distinct], self.weight[distinct])


def neighbours(graph: RoadGraph) -> Adjacency:
    """Pairs of edges that meet, weighted by how straight the way between them is. Public."""
    first, second, weight = [], [], []
    node = graph.ends.ravel()
    at = np.repeat(np.arange(len(graph)), 2)
    direction = graph.xy[graph.ends[:, ::-1].ravel()] - graph.xy[node]
    direction = direction / np.maximum(np.hypot(*direction.T), 1e-12)[:, None]
    order = np.argsort(node, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(node[order])) + 1):
        a, b = np.triu_indices(len(part), 1)
        straight = np.maximum(-(direction[part[a]] * direction[part[b]]).sum(axis=1), 0.0) ** 4
        first.append(at[part[a]])
        second.append(at[part[b]])
        only_pair = len(part) == 2  # no other edge to continue on
        weight.append(
            np.ones(len(a)) if only_pair else CROSSING_WEIGHT + (1 - CROSSING_WEIGHT) * straight
        )
    one, other, both = (np.concatenate(each) for each in (first, second, weight))
    distinct = one != other  # a loop meets itself
    one, other, both = one[distinct], other[distinct], both[distinct]
    return Adjacency(
        np.concatenate([one, other]), np.concatenate([other, one]), np.concatenate([both, both])
    )


def posterior(
    noisy: Float, scale: float | Float, near: Adjacency, classes: Int | None = None
) -> tuple[Float, Float]:
    """Mean and variance of each count, given its noisy value and its neighbours'.

    The noise is taken as Laplace; the prior is a gamma distribution with the mean of the
    neighbours' noisy counts, cut at 0, and the shape that makes all noisy counts likeliest. Counts
    cut at 0 are too large on average, and those beside busy edges too small: with classes, the
    prior's means add up to the noisy counts in each of them.

    Returns float64 (m,) each.

    Args:
        noisy: counts per edge, float64 (m,).
        scale: scale of the noise, above 0: one number, or float64 (m,).
        classes: classes of the edges, public, int64 (m,).
    """
    least = 0.05 * max(float(noisy.mean()), MIN_COUNT)
    mean = np.maximum(near.mean(np.maximum(noisy, 0.0)), least)
    if classes is not None:
        total, guess = np.bincount(classes, noisy), np.bincount(classes, mean)
        ratio = total / np.maximum(guess, least)  # ignore a class without edges
        mean = np.maximum(mean * np.clip(ratio, 1 / MAX_FACTOR, MAX_FACTOR)[classes], least)
    return gamma_posterior(noisy, scale, mean, least=MIN_COUNT, shapes=SHAPES)


def smoothed(
    noisy: Float,
    variance: float | Float,
    near: Adjacency,
    workload: Paths,
    retained: float | Float = 1.0,
    classes: Int | None = None,
) -> tuple[Float, float]:
    """Counts moved by a share a of the way from noisy ones to posterior means, and the share a.

    The share a minimises the estimated squared error of the workload, summed over its answers. Let
    d be the change that the posterior makes to an answer, D = Σd², V the variance of the noise, and
    C the covariance of noise and posterior (for each edge the posterior's variance, by Tweedie's
    formula). Without truncation the error is V − 2a(V − C) + a²D. Where truncation lost T of an
    answer, −2aΣTd is added. So a = (V − C + ΣTd) / D, limited to 0 (counts stay as they are) and 1.

    Args:
        noisy: counts per edge, float64 (m,), with independent noise.
        variance: variance of the noise: one number, or float64 (m,).
        near: pairs of edges that meet.
        workload: public queries.
        retained: share of the visits that truncation retained, estimated from noisy numbers: one
            for all edges, or of each edge, float64 (m,).
        classes: classes of the edges, public, int64 (m,); see :func:`posterior`.
    """
    variance = np.broadcast_to(np.asarray(variance, dtype=np.float64), noisy.shape)
    if not len(workload) or variance.max() < 1e-6:
        return noisy, 0.0
    mean, spread = posterior(noisy, np.sqrt(np.maximum(variance, 1e-6) / 2), near, classes)
    key, times = np.unique(workload.owner * len(noisy) + workload.edge, return_counts=True)
    square = times.astype(np.float64) ** 2
    edge = key % len(noisy)
    noise = square @ variance[edge]
    common = square @ np.minimum(spread, variance)[edge]
    change = workload.sum(mean - noisy)
    retained = np.broadcast_to(np.asarray(retained, dtype=np.float64), noisy.shape)
    lost = np.maximum(workload.sum(noisy * (1 / np.maximum(retained, 0.1) - 1)), 0.0)
    square_change = float(change @ change)
    gain = float(noise - common + lost @ change)
    share = min(max(gain / square_change, 0.0), 1.0) if square_change > 0 else 0.0
    return noisy + share * (mean - noisy), float(share)
