"""Rectangles in coordinates that people ask for: refused where they are none of a domain's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.errors import DomainError

OVERLAP = "give one that overlaps it"

Float = NDArray[np.float64]


def checked_rectangles(
    rects: ArrayLike, lower: Sequence[float], upper: Sequence[float]
) -> tuple[Float, Float]:
    """Lower and upper limits, float64 (q, dims) each, of rectangles that overlap a domain.

    Args:
        rects: shape (q, 2·dims) or (2·dims,): all lower limits, then all upper limits.
        lower: of the domain, as many as it has dimensions.
        upper: likewise.

    Raises:
        DomainError: a rectangle that is not finite, inside out, or wholly outside the domain.
    """
    rects = np.atleast_2d(np.asarray(rects, dtype=np.float64))
    dims = len(lower)
    if rects.ndim != 2 or rects.shape[1] != 2 * dims:
        raise DomainError(
            f"rectangles have shape {rects.shape}: give {2 * dims} numbers each, "
            "all lower limits, then all upper limits"
        )
    low, high = rects[:, :dims], rects[:, dims:]
    _refuse(rects, ~np.isfinite(rects).all(axis=1), "is not finite: give numbers")
    _refuse(
        rects,
        (low >= high).any(axis=1),
        "is inside out or empty: give lower limits below upper",
    )
    outside = (low >= upper).any(axis=1) | (high <= lower).any(axis=1)
    domain = _listed([*lower, *upper])
    _refuse(rects, outside, f"lies outside the domain {domain}: {OVERLAP}")
    return low, high


def _listed(values: ArrayLike) -> str:
    return ",".join(f"{value:.10g}" for value in np.ravel(np.asarray(values, dtype=np.float64)))


def _refuse(rects: Float, wrong: ArrayLike, why: str) -> None:
    if np.any(wrong):
        row = int(np.argmax(wrong))
        where = f" (row {row})" if len(rects) > 1 else ""
        raise DomainError(f"rectangle {_listed(rects[row])}{where} {why}")
