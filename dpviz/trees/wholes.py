"""Post-processing of estimates: exact sums, and whole numbers that add up."""

from __future__ import annotations

import math

import numpy as np

from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import is_leaf, level_slices
from dpviz.trees.lattice import Float, Int

FINEST_BIT = -10
"""Estimates are multiples of 2^−10: sums of them are exact, in any order, up to 2^43 records."""


def exact_sums(parent: Int, estimate: Float) -> Float:
    """Round the finest estimates and sum the others from them, so that doubles add up exactly.

    The finest are rounded to multiples of 2^−10 (coarser where counts are larger than 2^43); their
    sums are then the same in whichever order they are added.

    ``estimate``: consistent up to rounding.
    """
    leaf = is_leaf(parent)
    size = math.frexp(float(np.abs(estimate[leaf]).sum()))[1] + 1
    step = 2.0 ** max(FINEST_BIT, size - 52)
    return sum_up(parent, np.where(leaf, np.rint(estimate / step) * step, 0.0))


def whole_numbers(parent: Int, estimate: Float) -> Float:
    """Whole numbers from 0 that add up, near the estimates: from the top down.

    Roots are rounded, and negative ones set to 0. Then each family divides its parent's number: the
    nearest values of at least 0 (least squares) that add up to it are rounded down, and what is
    missing goes, one each, to the children that lost most, the earlier first.

    >>> whole_numbers(np.array([-1, 0, 0, 0]), np.array([9.6, 5.2, 5.3, -0.9])).tolist()
    [10.0, 5.0, 5.0, 0.0]
    """
    whole = np.maximum(np.rint(estimate), 0.0)
    for part in level_slices(parent)[1:]:
        starts = np.flatnonzero(np.diff(parent[part], prepend=-2)) + part.start
        sizes = np.diff(starts, append=part.stop)
        for size in np.unique(sizes).tolist():
            rows = starts[sizes == size][:, None] + np.arange(size)
            whole[rows] = _shared(whole[parent[rows[:, :1]]], estimate[rows])
    return whole


def _shared(total: Float, estimate: Float) -> Float:
    """Whole numbers from 0 whose rows add up to ``total`` (f, 1), near ``estimate`` (f, size)."""
    size = estimate.shape[1]
    falling = -np.sort(-estimate, axis=1)
    excess = (np.cumsum(falling, axis=1) - total) / np.arange(1, size + 1)
    above = falling > excess
    last = size - 1 - np.argmax(above[:, ::-1], axis=1, keepdims=True)
    staying = np.where(above.any(axis=1, keepdims=True), last, 0)
    nearest = np.maximum(estimate - np.take_along_axis(excess, staying, axis=1), 0.0)
    share = np.floor(nearest)
    missing = total - share.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(share - nearest, axis=1, kind="stable"), axis=1)
    more, each = np.maximum(missing, 0.0) % size, np.maximum(missing, 0.0) // size
    share += each + (rank < more)
    largest = np.argmax(share, axis=1)[:, None] == np.arange(size)  # absorbs rounding
    return np.asarray(share + np.where(largest, np.minimum(missing, 0.0), 0.0))
