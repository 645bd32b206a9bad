"""Post-processing of noisy counts on trees: sums, least squares, pruning.

Everything here sees noisy numbers only, never a record, so it costs no ε.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.progress import checkpoint
from dpviz.trees.decomposition import Decomposition, level_slices
from dpviz.trees.lattice import Float, Int

T = TypeVar("T", bound=np.generic)

SMALL_FAMILY = 16
"""Largest size of families that are added up member by member, which is faster if all sizes are
equal."""

TINY = 5e-324
"""The least positive number: replaces a sum of 0 as a divisor, so that all shares are 0."""


class Families(NamedTuple):
    """The families of one level of a tree: nodes of the same parent, one after another.

    Attributes:
        part: the rows of all their members.
        inner: the rows of their parents, ascending.
        size: members of each, if all have the same few; else 0.
        which: the family of each member, where they have not.
    """

    part: slice
    inner: Int
    size: int
    which: Int | None

    @classmethod
    def of(cls, parent: Int, part: slice) -> Families:
        """Families of one level below the roots."""
        above = parent[part]
        size = int(above.searchsorted(above[0], "right"))
        inner = above[::size]
        even = (
            size <= SMALL_FAMILY
            and len(above) % size == 0
            and (inner == above[size - 1 :: size]).all()
        )
        if even and (inner[1:] > inner[:-1]).all():
            return cls(part, inner, size, None)
        first = np.ones(len(above), dtype=np.bool_)
        np.not_equal(above[1:], above[:-1], out=first[1:])
        return cls(part, above[first], 0, np.cumsum(first) - 1)

    def select(self, chosen: NDArray[np.bool_]) -> Families:
        """Some of the families, their members one after another."""
        which = self.which
        if which is not None:
            which = (np.cumsum(chosen) - 1)[which[chosen[which]]]
        return self._replace(inner=self.inner[chosen], which=which)

    def sums(self, values: Float | NDArray[np.bool_]) -> Float:
        """Sum of the members' values per family, (f,); of booleans, nonzero if any is true."""
        if self.which is not None:
            return np.asarray(np.bincount(self.which, weights=values), dtype=np.float64)
        columns = values.reshape(-1, self.size).T
        return np.asarray(sum(columns[1:], start=columns[0]))

    def each(self, values: NDArray[T]) -> NDArray[T]:
        """Repeat one value per family for each of its members."""
        return values.repeat(self.size) if self.which is None else values.take(self.which)


def families(parent: Int) -> list[Families]:
    """Families of each level of a breadth-first parent column (−1 for roots), top down."""
    checkpoint()
    return [Families.of(parent, part) for part in level_slices(parent)[1:]]


def sum_up(parent: ArrayLike, values: ArrayLike) -> Float:
    """Inner nodes as the sum of their leaves; leaves are kept. Columns are breadth-first."""
    totals = np.array(values, dtype=np.float64)
    for level in families(np.asarray(parent))[::-1]:
        checkpoint()
        totals[level.inner] = level.sums(totals[level.part])
    return totals


def least_squares(parent: ArrayLike, noisy: ArrayLike, variance: ArrayLike) -> tuple[Float, Float]:
    """Best linear unbiased estimates under "a node is the sum of its children", in linear time.

    The three phases of Cormode, Procopiuc, Srivastava, Shen and Yu (ICDE 2012, §5; M. Hay et al.,
    VLDB 2010, for equal variances), for any fanout and any variances: estimates from the subtree by
    inverse-variance weights on the way up, then each family is moved to its parent's final estimate
    in proportion to its variances on the way down.

    Returns estimates and the variance of each.

    Args:
        parent: breadth-first parents, −1 for roots.
        noisy: independent unbiased measurements.
        variance: their variances; infinite for a node that was not measured (never for a leaf).
    """
    parent = np.asarray(parent)
    estimate, spread = upward(parent, noisy, variance)
    return downward(parent, estimate, spread)


def downward(parent: ArrayLike, estimate: Float, spread: Float) -> tuple[Float, Float]:
    """The second phase of :func:`least_squares`, from the results of the first."""
    shares = _shares(np.asarray(parent), spread)
    final = estimate.copy()
    for level, share in shares:
        missing = final[level.inner] - level.sums(estimate[level.part])
        final[level.part] += share * level.each(missing)
    return final, _conditioned(spread, shares)


def variances(parent: ArrayLike, spread: Float) -> Float:
    """Final variances of :func:`downward`, without the estimates."""
    return _conditioned(spread, _shares(np.asarray(parent), spread))


def _shares(parent: Int, spread: Float) -> list[tuple[Families, Float]]:
    """Share of its family's correction that each member takes, by level."""
    shares = []
    for level in families(parent):
        checkpoint()
        loads = spread[level.part]
        total = level.each(np.maximum(level.sums(loads), TINY))
        shares.append((level, loads / total))
    return shares


def _conditioned(spread: Float, shares: list[tuple[Families, Float]]) -> Float:
    """Variances after each family was moved to its parent's final estimate."""
    final = spread.copy()
    for level, share in shares:
        above = level.each(final[level.inner])
        final[level.part] = spread[level.part] * (1.0 - share) + share**2 * above
    return final


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
    for level in families(parent)[::-1]:
        checkpoint()
        inner = level.inner
        estimate[inner], spread[inner] = combine(
            estimate[inner],
            spread[inner],
            level.sums(estimate[level.part]),
            level.sums(spread[level.part]),
            limits[inner],
        )
    return estimate, spread


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


def geometric_variance(scale: ArrayLike) -> Float:
    """Variance of discrete Laplace noise: 2a / (1 − a)² with a = e^(−1/scale)."""
    rate = 1.0 / np.asarray(scale, dtype=np.float64)
    return np.asarray(2.0 * np.exp(-rate) / np.expm1(-rate) ** 2, dtype=np.float64)


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
