"""Counts over time: a release with time answered step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.domain import Domain
from dpviz.errors import DomainError
from dpviz.releases.answers import difference
from dpviz.releases.points.range_count import RangeAnswers, box_count
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.haar import HaarNoise


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


def timeline(
    domain: Domain,
    nodes: Decomposition,
    noise: HaarNoise | None,
    rect: ArrayLike | None = None,
    every: str | None = None,
    period: Any = None,
) -> Timeline:
    """Estimated records of a rectangle step by step: see :meth:`PointRelease.timeline`.

    Raises:
        DomainError: no axis is time, no such step or period, a rectangle outside, or several.
    """
    whole = domain.period
    start, end = whole if period is None else domain.calendar.period(period)
    start, end = max(start, whole[0]), min(end, whole[1])
    place = domain.place.bounds if rect is None else rect
    box = domain.over(place, (start, end) if start < end else period)
    if len(box) != 1:
        raise DomainError(f"{len(box)} rectangles: a timeline is of one, ask for each by itself")
    step = every or domain.calendar.usual_step(start, end, domain.step or 0.0)
    cuts = domain.calendar.edges(start, end, step)
    boxes = np.repeat(box, len(cuts) - 1, axis=0)
    boxes[:, 2], boxes[:, 5] = cuts[:-1], cuts[1:]
    answers = box_count(nodes, noise, *domain.boxes(boxes))
    at = domain.calendar.stamps(cuts)
    return Timeline(**vars(answers), start=at[:-1], end=at[1:])


def less(first: RangeAnswers, second: RangeAnswers) -> RangeAnswers:
    """Differences of answers of one release, first − second, with 95 % intervals for the noise.

    The two may share noise, and estimates of disjoint nodes are correlated, negatively after
    consistency: :func:`~dpviz.releases.answers.difference`.
    """
    answers = difference(first, second, independent=False)
    spread = first.uniformity_sd + second.uniformity_sd
    return RangeAnswers(**vars(answers), uniformity_sd=spread, nodes=first.nodes + second.nodes)
