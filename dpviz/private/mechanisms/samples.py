"""Exact uniform integers, Poisson samples and random orders."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dpviz.private.mechanisms.bounds import Bounds, number
from dpviz.private.mechanisms.comparison import is_below
from dpviz.private.mechanisms.samplers import Int
from dpviz.private.mechanisms.sources import Noise

SAMPLE_BLOCK = 1 << 20
"""Records that are sampled at once."""


def uniform_below(noise: Noise, bounds: ArrayLike) -> Int:
    """One exactly uniform integer from 0 to below each positive bound.

    Words that would favour small numbers are drawn again.
    """
    bounds = np.asarray(bounds, dtype=np.int64).astype(np.uint64)
    drawn = noise.words(len(bounds))
    # 2^64 mod bound: words below it would make small numbers more likely.
    surplus = (np.uint64(0) - bounds) % bounds
    again = np.flatnonzero(drawn < surplus)
    while len(again):
        drawn = drawn.copy()
        drawn[again] = noise.words(len(again))
        again = again[drawn[again] < surplus[again]]
    return np.asarray(drawn % bounds, dtype=np.int64)


def poisson_sample(noise: Noise, weights: ArrayLike, rate: float) -> Int:
    """Poisson sample: records that stay in each cell, each with probability ``rate``, int64.

    Every record has an exact coin of its own. The mechanism that looks at the sample is paid for by
    :func:`~dpviz.private.budget.on_sample`. The sample and its size must stay unpublished.
    """
    weights = np.asarray(weights, dtype=np.int64)
    ends = np.cumsum(weights)
    n = int(ends[-1]) if len(ends) else 0
    exact: Bounds = number(Fraction(rate))
    stays = []
    for start in range(0, n, SAMPLE_BLOCK):
        coins = is_below(noise.words, min(SAMPLE_BLOCK, n - start), rate, lambda _: exact)
        stays.append(start + np.flatnonzero(coins))
    rows = np.concatenate(stays) if stays else np.empty(0, dtype=np.int64)
    owner = np.searchsorted(ends, rows, side="right")
    return np.bincount(owner, minlength=len(weights))


def random_ranks(noise: Noise, groups: ArrayLike) -> Int:
    """A uniformly random order inside each group, as ranks from 0: int64, as long as ``groups``.

    It looks at no record: ``groups`` are public, or belong to a method without a guarantee.
    """
    groups = np.asarray(groups)
    order = np.lexsort((noise.words(len(groups)), groups))
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    ranks = np.empty(len(groups), dtype=np.int64)
    sizes = np.diff(np.append(starts, len(groups)))
    ranks[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return ranks
