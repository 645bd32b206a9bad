"""Answers of a release of any kind: counts, with the noise that is in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.trees.lattice import Float

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


def interval(count: Float, noise_sd: Float) -> dict[str, Float]:
    """The columns of :class:`Answers` from estimates and the standard deviation of their noise."""
    half = INTERVAL_SDS * noise_sd
    low, high = np.floor(count - half), np.ceil(count + half)
    return {"count": count, "noise_sd": noise_sd, "low": low, "high": high}
