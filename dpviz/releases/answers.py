"""Answers of a release of any kind: counts, with the noise that is in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.trees.lattice import Float, Int

INTERVAL_SDS = 2.12
"""Half-width of a 95 % interval in standard deviations of the noise: the two-sided 95 % point of a
single Laplace draw, ln(20)/√2 = 2.118. Sums of several draws are closer to normal (1.96), so it is
safe for every number of nodes. The estimates of disjoint nodes are never positively correlated
after least-squares consistency, so the sum of their variances is never too small. Where they may
be, the release's header says so, and the variance is that of :mod:`dpviz.trees.haar`."""


@dataclass(frozen=True)
class Answers:
    """Answers to q queries, as columns of length q.

    Attributes:
        count: estimated records.
        noise_sd: standard deviation of the noise in ``count``; NaN where a release cannot say.
        low, high: 95 % interval for the noise alone; NaN likewise.
    """

    count: Float
    noise_sd: Float
    low: Float
    high: Float

    def __len__(self) -> int:
        return len(self.count)

    @property
    def half_width(self) -> Float:
        """Half the width of the 95 % interval for the noise."""
        return (self.high - self.low) / 2

    def rows(self, at: Int | slice) -> Answers:
        """The answers to some of the queries."""
        return Answers(self.count[at], self.noise_sd[at], self.low[at], self.high[at])


def interval(count: Float, noise_sd: Float) -> dict[str, Float]:
    """The columns of :class:`Answers` from estimates and the standard deviation of their noise."""
    half = INTERVAL_SDS * noise_sd
    low, high = np.floor(count - half), np.ceil(count + half)
    return {"count": count, "noise_sd": noise_sd, "low": low, "high": high}


def difference(one: Answers, other: Answers, *, independent: bool) -> Answers:
    """One − other, query by query, with an interval for the noise of both.

    Args:
        one: answers to q queries.
        other: to as many.
        independent: the noise of one is not that of the other: two releases, or two kinds. Of
            parts of one release it may be opposed, since parts that are adjusted to one total move
            against each other: then standard deviations add up, which is never too little (Cauchy
            and Schwarz).
    """
    one_sd, other_sd = one.noise_sd, other.noise_sd
    noise_sd = np.hypot(one_sd, other_sd) if independent else one_sd + other_sd
    return Answers(**interval(one.count - other.count, noise_sd))
