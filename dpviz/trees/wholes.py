"""Sums that hold to the last digit: estimates on a fine binary grid, or whole numbers.

Post-processing of noisy numbers: it never sees a record.
"""

from __future__ import annotations

import math

import numpy as np

from dpviz.trees.consistency import sum_up
from dpviz.trees.decomposition import is_leaf, level_slices
from dpviz.trees.lattice import Float, Int

FINEST_BIT = -10
"""Estimates are multiples of 2^−10: sums of them are exact, in any order, up to 2^43 records."""


def exact_sums(parent: Int, estimate: Float) -> Float:
    """Estimates moved to a grid of 2^−10 (a coarser one where counts are larger than 2^43), and all
    others as sums of the finest: doubles that add up exactly, whichever order they are added in.

    Args:
        parent: breadth-first parents, −1 for roots.
        estimate: consistent up to rounding.
    """
    leaf = is_leaf(parent)
    size = math.frexp(float(np.abs(estimate[leaf]).sum()))[1] + 1
    step = 2.0 ** max(FINEST_BIT, size - 52)
    return sum_up(parent, np.where(leaf, np.rint(estimate / step) * step, 0.0))


def whole_numbers(parent: Int, estimate: Float) -> Float:
    """Whole numbers from 0 that add up, near the estimates: from the top down.

    Roots are rounded and cut at 0. Then each family shares out its parent's number: the nearest
    values from 0 (least squares) that add up to it, cut to whole numbers; what is missing goes one
    each to those that lost most, the earlier first. Where one child has it all, it gets it all.

    >>> whole_numbers(np.array([-1, 0, 0, 0]), np.array([9.6, 5.2, 5.3, -0.9])).tolist()
    [10.0, 5.0, 5.0, 0.0]
    """
    whole = np.maximum(np.rint(estimate), 0.0)
    for part in level_slices(parent)[1:]:
        starts = np.flatnonzero(np.diff(parent[part], prepend=-2)) + part.start
        for start, stop in zip(starts, [*starts[1:], part.stop], strict=True):
            whole[start:stop] = _shared(whole[parent[start]], estimate[start:stop])
    return whole


def _shared(total: float, estimate: Float) -> Float:
    """Whole numbers from 0 that add up to ``total``, near ``estimate``."""
    falling = np.sort(estimate)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    staying = int(np.flatnonzero(falling > excess)[-1]) if (falling > excess).any() else 0
    nearest = np.maximum(estimate - excess[staying], 0.0)
    share = np.floor(nearest)
    missing = int(total - share.sum())
    if missing > 0:
        order = np.argsort(share - nearest, kind="stable")
        share[order[: missing % len(share)]] += 1
        share += missing // len(share)
    elif missing < 0:  # rounding of large numbers
        share[int(np.argmax(share))] += missing
    return np.asarray(share, dtype=np.float64)
