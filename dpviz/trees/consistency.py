"""Post-processing of noisy counts on trees: sums, least squares, pruning. Noisy numbers only.

Everything here is free of charge: it never sees a record.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpviz.progress import checkpoint
from dpviz.trees.decomposition import Decomposition, level_slices
from dpviz.trees.lattice import Float, Int


def sum_up(parent: ArrayLike, values: ArrayLike) -> Float:
    """Inner nodes as the sum of their leaves; leaves are kept. Columns are breadth-first."""
    parent = np.asarray(parent)
    totals = np.array(values, dtype=np.float64)
    totals[_distinct(parent[parent >= 0])] = 0.0
    for part in level_slices(parent)[:0:-1]:
        checkpoint()
        above = parent[part]
        sums = np.bincount(above - above[0], weights=totals[part])
        totals[above[0] : above[0] + len(sums)] += sums
    return totals


def least_squares(parent: ArrayLike, noisy: ArrayLike, variance: ArrayLike) -> tuple[Float, Float]:
    """Best linear unbiased estimates under "a node is the sum of its children", in linear time.

    The three phases of Cormode, Procopiuc, Srivastava, Shen and Yu (ICDE 2012, §5; M. Hay et al.,
    VLDB 2010, for equal variances), for any fanout and any variances: estimates from the subtree by
    inverse-variance weights on the way up, then each family is moved to its parent's final estimate
    in proportion to its variances on the way down.

    Args:
        parent: breadth-first parents, −1 for roots.
        noisy: independent unbiased measurements.
        variance: their variances; infinite for a node that was not measured (never for a leaf).

    Returns:
        Estimates and the variance of each.
    """
    parent = np.asarray(parent)
    estimate, spread = upward(parent, noisy, variance)
    return downward(parent, estimate, spread)


def downward(parent: ArrayLike, estimate: Float, spread: Float) -> tuple[Float, Float]:
    """The second phase of :func:`least_squares`, from the results of the first."""
    parent = np.asarray(parent)
    final, final_spread = estimate.copy(), spread.copy()
    for part in level_slices(parent)[1:]:
        checkpoint()
        above = parent[part]
        family = above - above[0]
        total = np.bincount(family, weights=spread[part])[family]
        sums = np.bincount(family, weights=estimate[part])[family]
        share = np.divide(spread[part], total, out=np.zeros(len(above)), where=total > 0)
        final[part] = estimate[part] + share * (final[above] - sums)
        final_spread[part] = spread[part] * (1.0 - share) + share**2 * final_spread[above]
    return final, final_spread


def upward(
    parent: ArrayLike, noisy: ArrayLike, variance: ArrayLike, limit: ArrayLike = 1.0
) -> tuple[Float, Float]:
    """The first phase of :func:`least_squares`: each node's best estimate from its own subtree.

    A node's own measurement weighs at most its ``limit`` against the sum of its children.
    """
    parent = np.asarray(parent)
    limits = np.broadcast_to(np.asarray(limit, dtype=np.float64), parent.shape)
    estimate = np.array(noisy, dtype=np.float64)
    spread = np.array(variance, dtype=np.float64)
    for part in level_slices(parent)[:0:-1]:
        checkpoint()
        above = parent[part]
        inner, family = _distinct(above), above - above[0]
        of_each = inner - above[0]
        estimate[inner], spread[inner] = combine(
            estimate[inner],
            spread[inner],
            np.bincount(family, weights=estimate[part])[of_each],
            np.bincount(family, weights=spread[part])[of_each],
            limits[inner],
        )
    return estimate, spread


def _distinct(ascending: Int) -> Int:
    """The distinct values of an ascending column."""
    first = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]


def combine(
    first: ArrayLike,
    first_variance: ArrayLike,
    second: ArrayLike,
    second_variance: ArrayLike,
    limit: ArrayLike = 1.0,
) -> tuple[Float, Float]:
    """Two independent unbiased estimates of the same numbers as one, by inverse variances.

    The first weighs at most ``limit``. An infinite first variance means that there is none. Where
    both variances are zero (epsilon so large that the noise underflows) the two agree and the first
    is kept.

    >>> combine([10.0], [1.0], [16.0], [2.0])
    (array([12.]), array([0.66666667]))
    """
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    variance, other = (
        np.asarray(first_variance, np.float64),
        np.asarray(second_variance, np.float64),
    )
    missing = np.isinf(variance)
    variance = np.where(missing, 0.0, variance)
    total = np.where(missing, 1.0, variance + other)
    weight = np.divide(other, total, out=np.ones_like(total), where=total > 0)
    weight = np.minimum(np.where(missing, 0.0, weight), limit)
    finite = np.where(missing, 0.0, first)
    spread = weight**2 * variance + (1.0 - weight) ** 2 * other
    return weight * finite + (1.0 - weight) * second, spread


def prune(nodes: Decomposition, threshold: float) -> Decomposition:
    """Drop everything below nodes whose estimate is under ``threshold`` (ICDE 2012, §7).

    A threshold of 0 drops nothing, whatever the estimates.
    """
    if threshold == 0:
        return nodes
    staying = np.ones(len(nodes), dtype=np.bool_)
    for part in nodes.levels[1:]:
        above = nodes.parent[part]
        staying[part] = staying[above] & (nodes.count[above] >= threshold)
    return nodes.select(staying)
