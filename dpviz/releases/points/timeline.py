"""Counts over time: one answer for each step of a release with time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.domain import Domain
from dpviz.errors import DomainError
from dpviz.trees.lattice import Int


def step_boxes(
    domain: Domain, rect: ArrayLike | None = None, every: str | None = None, period: Any = None
) -> tuple[tuple[Int, Int], NDArray[Any]]:
    """Lattice boxes of a rectangle for each step, and the borders of the k steps, (k + 1,).

    Raises DomainError: no axis is time, no such step or period, a rectangle outside, or several.

    Args:
        rect: rectangle of places; the whole domain by default.
        every: a step such as ``1h``; one that suits the period by default.
        period: start and end; the whole by default.
    """
    whole = domain.period
    start, end = whole if period is None else domain.calendar.period(period)
    start, end = max(start, whole[0]), min(end, whole[1])
    place = domain.without_time.bounds if rect is None else rect
    box = domain.query_boxes(place, (start, end) if start < end else period)
    if len(box) != 1:
        raise DomainError(f"{len(box)} rectangles: a timeline is of one, ask for each by itself")
    step = every or domain.calendar.default_step(start, end, domain.step or 0.0)
    cuts = domain.calendar.edges(start, end, step)
    boxes = np.repeat(box, len(cuts) - 1, axis=0)
    boxes[:, 2], boxes[:, 5] = cuts[:-1], cuts[1:]
    return domain.boxes(boxes), domain.calendar.stamps(cuts)
