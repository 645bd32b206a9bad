"""Quotients of noisy numbers, with intervals by Fieller's theorem.

E. C. Fieller: Some Problems in Interval Estimation. Journal of the Royal Statistical Society B 16,
1954. The quotient q of a and b is where a − q·b is zero. For each q that difference has a noise of
known variance, and what the noise does not contradict is the interval: the q with
(a − q·b)² ≤ z² · Var(a − q·b). It holds however small the denominator is; where the denominator
cannot be distinguished from zero, it is the whole range of what q can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.releases.answers import INTERVAL_SDS, RangeAnswers, Tabular
from dpviz.trees.lattice import Float


@dataclass(frozen=True)
class Quotients(Tabular):
    """Answers to q queries, as columns of length q.

    Attributes:
        value: estimated quotient; NaN where there are not enough records for one.
        low, high: 95 % interval for the errors whose variances were given.
        enough: whether the number of records can be distinguished from zero; where it cannot, the
            interval is the whole range.
    """

    value: Float
    low: Float
    high: Float
    enough: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.value)


def quotients(
    above: Float, below: Float, variances: tuple[Float, Float, Float], limits: tuple[float, float]
) -> Quotients:
    """Quotients above / below of noisy numbers.

    Args:
        above: estimates of the numerators, (q,).
        variances: variances of the errors of the numerators, of the denominators, and their
            covariance.
        limits: that no quotient of exact numbers passes: intervals are cut to them.
    """
    of_above, of_below, both = variances
    least, most = limits
    # (a − qb)² − z²(Var a − 2q Cov + q² Var b) = square·q² − 2·middle·q + constant ≤ 0
    z = INTERVAL_SDS**2
    square = below**2 - z * of_below
    middle = above * below - z * both
    constant = above**2 - z * of_above
    enough = (square > 0) & (below > 0)
    safe = np.where(enough, square, 1.0)
    half = np.sqrt(np.maximum(middle**2 - square * constant, 0.0)) / safe
    low = np.where(enough, middle / safe - half, least)
    high = np.where(enough, middle / safe + half, most)
    value = np.where(enough, above / np.where(enough, below, 1.0), np.nan)
    value, low, high = (np.clip(each, least, most) for each in (value, low, high))
    return Quotients(value, low, high, enough)


def share_of(one: RangeAnswers, others: Sequence[RangeAnswers]) -> Quotients:
    """Share of one kind in the total of several kinds.

    The errors of the kinds, by noise and by cut leaves, are taken as independent. Where kinds are
    spread alike in a leaf, their errors there cancel, and the interval is wider than necessary.
    """
    variances = [each.noise_sd**2 + each.uniformity_sd**2 for each in (one, *others)]
    total = np.sum([each.count for each in (one, *others)], axis=0)
    of_one, of_all = variances[0], np.sum(variances, axis=0)
    return quotients(one.count, total, (of_one, of_all, of_one), limits=(0.0, 1.0))
