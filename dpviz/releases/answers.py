"""Answers of a release of any kind: counts with the noise in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpviz.lazy import pd
from dpviz.trees.lattice import Float, Int

INTERVAL_SDS = 2.12
"""Half-width of a 95 % interval in standard deviations of the noise: the two-sided 95 % point of a
single Laplace draw, ln(20)/√2 = 2.118. Sums of several draws are closer to normal (1.96), so it is
safe for every number of nodes. The estimates of disjoint nodes are never positively correlated
after least-squares consistency, so the sum of their variances is never too small. Where they may
be, the release's header says so, and the variance is that of :mod:`dpviz.trees.haar`."""

GAUSSIAN_SDS = 1.96
"""The same where all noise is Gaussian."""


MAX_SHOWN_ROWS = 60
"""Most answers in the table of a notebook."""


class Tabular:
    """Answers that a notebook shows as a table: a column per field, a row per query."""

    def _repr_html_(self) -> str:
        columns = {name: np.atleast_1d(each) for name, each in vars(self).items()}
        html: str = pd.DataFrame(columns).to_html(index=False, max_rows=MAX_SHOWN_ROWS)
        return html


@dataclass(frozen=True)
class Answers(Tabular):
    """Answers to q queries, as columns of length q.

    Attributes:
        count: estimated records.
        noise_sd: standard deviation of the noise in ``count``; NaN where a release cannot say.
        low, high: 95 % interval for the noise alone; NaN likewise.
        whole: True if intervals end at whole numbers, as of counts.
    """

    whole: ClassVar[bool] = True
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


@dataclass(frozen=True)
class RangeAnswers(Answers):
    """Answers to q rectangles, regions or paths, as columns of length q.

    Attributes:
        uniformity_sd: standard deviation of the error from uneven records inside leaves that the
            edge cuts: an ESTIMATE. Each leaf may hold all its records in one place, see
            :func:`~dpviz.releases.points.range_count.sums_of`; a part of the error is common to all
            leaves (:func:`~dpviz.trees.coherence.coherence`). It covers squares less often that
            were chosen because many records lie in them. 0 for paths.
        nodes: number of nodes that answer, in all parts of a release together.
    """

    uniformity_sd: Float
    nodes: Int

    @property
    def total_error(self) -> Float:
        """The ± to show for a count: half the width of the 95 % interval for both errors."""
        return np.hypot(self.half_width, INTERVAL_SDS * self.uniformity_sd)


@dataclass(frozen=True)
class SumAnswers(RangeAnswers):
    """Sums of clipped values in q rectangles; their intervals are not rounded.

    The interval is of the sum of the values AS CLIPPED. The clipped part is missing, a bias that no
    interval shows.
    """

    whole: ClassVar[bool] = False

    @property
    def sum(self) -> Float:
        """Estimated sums."""
        return self.count


@dataclass(frozen=True)
class Timeline(RangeAnswers):
    """Answers to the steps of a period, as columns of length k.

    Attributes:
        start, end: of each step (exclusive), datetime64 to the second, UTC; of a cycle timedelta64
            since its beginning. The first and the last are cut where the period begins or ends
            within them.
    """

    start: NDArray[Any]
    end: NDArray[Any]


A = TypeVar("A", bound=Answers)


def interval(
    count: Float, noise_sd: Float, sds: float = INTERVAL_SDS, *, whole: bool = True
) -> dict[str, Float]:
    """Columns of :class:`Answers` from estimates and the standard deviations of their noise."""
    half = sds * noise_sd
    low, high = count - half, count + half
    if whole:
        low, high = np.floor(low), np.ceil(high)
    return {"count": count, "noise_sd": noise_sd, "low": low, "high": high}


def answers_from(columns: Float, sds: float = INTERVAL_SDS) -> RangeAnswers:
    """Answers from sums (q, 4): count, noise variance, uniformity variance, nodes used.

    ``sds``: half-width of an interval in standard deviations.
    """
    return RangeAnswers(
        **interval(columns[:, 0], np.sqrt(columns[:, 1]), sds),
        uniformity_sd=np.sqrt(columns[:, 2]),
        nodes=columns[:, 3].astype(np.int64),
    )


def total(parts: Sequence[A], sds: float = INTERVAL_SDS) -> A:
    """Sum of the answers of disjoint parts of the records, to the same q queries.

    The noise of the parts is independent, so that variances add up. Uniformity errors in cut cells
    are not independent, as kinds share streets and towns: their standard deviations add up.

    ``parts``: answers of each part; a timeline takes its times from the first.
    """
    sums = {
        name: np.sum([getattr(each, name) for each in parts], axis=0)
        for name in ("uniformity_sd", "nodes")
        if hasattr(parts[0], name)
    }
    count = np.sum([each.count for each in parts], axis=0)
    noise_sd = np.sqrt(np.sum([each.noise_sd**2 for each in parts], axis=0))
    kind = type(parts[0])
    return kind(**{**vars(parts[0]), **interval(count, noise_sd, sds, whole=kind.whole), **sums})


def difference(one: Answers, other: Answers, covariance: Float | None) -> Answers:
    """One − other, query by query, with an interval for the noise of both.

    ``covariance``: covariance of their noise, (q,). Where it is not known (None) standard
    deviations add up, which is never too little (Cauchy–Schwarz): consistency moves parts of one
    release against each other.
    """
    one_sd, other_sd = one.noise_sd, other.noise_sd
    noise_sd = one_sd + other_sd
    if covariance is not None:
        noise_sd = np.sqrt(np.maximum(one_sd**2 + other_sd**2 - 2.0 * covariance, 0.0))
    return Answers(**interval(one.count - other.count, noise_sd))
