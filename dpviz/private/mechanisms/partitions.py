"""DAWA's first stage as published: a partition of a line of cells into dyadic buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpviz.private.budget import Share
from dpviz.private.mechanisms.noise import Noise, laplace
from dpviz.progress import checkpoint
from dpviz.trees.lattice import Float, Int

Flags = list[NDArray[np.bool_]]


def deviations(counts: Int) -> list[Float]:
    """Σ|x_i − mean| of every dyadic bucket, level by level, whole line first.

    ``counts``: int64 of 2^k cells. Returns k + 1 columns of 1, 2, … , 2^k values. All are multiples
    of 2^−k, and exact.
    """
    levels = []
    for level in range(len(counts).bit_length()):
        checkpoint()
        blocks = counts.reshape(1 << level, -1)
        length = blocks.shape[1]
        around = np.abs(blocks * length - blocks.sum(axis=1, keepdims=True)).sum(axis=1)
        levels.append(around / length)
    return levels


def published_partition(noise: Noise, share: Share, counts: Int, bucket_cost: float) -> Flags:
    """The first stage as published code does it: NOT PRIVATE, for comparison on public data.

    Single cells are free of noise, longer buckets have scale (2 − 1/|b| − 1/n)/ε, and noisy
    deviations are clamped at 0. On four cells exact enumeration finds a loss of 2.6 ε.
    """
    epsilon = share.use()
    costs = []
    n = len(counts)
    for deviation in deviations(counts):
        length = n // len(deviation)
        if length > 1:
            scale = (2.0 - 1.0 / length - 1.0 / n) / epsilon
            deviation = np.maximum(deviation + scale * laplace(noise, len(deviation)), 0.0)
        costs.append(deviation + bucket_cost)
    return cheapest_partition(costs)


def cheapest_partition(costs: list[Float]) -> Flags:
    """The exact dynamic programme over dyadic buckets; on a tie the longer bucket.

    ``costs``: costs of every dyadic bucket, level by level, whole line first. Returns for each
    level, whole line first: True where a node is the root of a bucket or lies in one.
    """
    best = costs[-1]
    merged = [np.ones(len(best), dtype=np.bool_)]
    for cost in costs[-2::-1]:
        halves = best[0::2] + best[1::2]
        merged.append(cost <= halves)
        best = np.minimum(cost, halves)
    merged.reverse()
    for level in range(1, len(merged)):
        merged[level] |= np.repeat(merged[level - 1], 2)
    return merged
