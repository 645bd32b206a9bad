"""Check limits of domains and query rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from dpviz.errors import DomainError
from dpviz.trees.lattice import Float

OVERLAP = "give one that overlaps it"


def numbers_of(values: ArrayLike, what: str, remedy: str) -> Float:
    """Limits as float64, of any shape.

    Raises DomainError: not numbers; ``what`` and ``remedy`` are part of the message.
    """
    try:
        if isinstance(values, (str, bytes)):
            raise TypeError  # NumPy reads one number in words
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DomainError(f"{what} are not numbers: {remedy}") from None


def rows_of(rects: ArrayLike, width: int, remedy: str) -> Float:
    """Rectangles as rows, float64 (q, width); a single rectangle is one row.

    Raises DomainError: not numbers, or another number of them; ``remedy`` is part of the message.
    """
    rows = np.atleast_2d(numbers_of(rects, "rectangles", remedy))
    rows = rows.reshape(0, width) if rows.shape == (1, 0) else rows
    if rows.ndim != 2 or rows.shape[1] != width:
        raise DomainError(f"rectangles have shape {rows.shape}: {remedy}")
    return rows


def checked_limits(
    columns: Sequence[str], lower: Sequence[float], upper: Sequence[float], side: int
) -> None:
    """Refuse limits of a domain that are not finite, in order, and ``side`` lattice steps apart."""
    for name, low, high in zip(columns, lower, upper, strict=True):
        if not (isfinite(low) and isfinite(high)):
            raise DomainError(f"bounds of {name!r} are {low:g} and {high:g}: give finite limits")
        if not low < high:
            raise DomainError(
                f"bounds of {name!r} run from {low:.15g} to {high:.15g}: "
                "the upper limit must be above the lower"
            )
        most = max(abs(low), abs(high))
        if not isfinite(most * most) or low + (high - low) / side == low:  # for surfaces
            raise DomainError(
                f"bounds of {name!r} run from {low:.15g} to {high:.15g}: "
                "too wide or too narrow for double precision: give other limits"
            )


def checked_rectangles(
    rects: ArrayLike, lower: Sequence[float], upper: Sequence[float]
) -> tuple[Float, Float]:
    """Lower and upper limits, float64 (q, dims) each, of rectangles that overlap a domain.

    ``rects``: shape (q, 2·dims) or (2·dims,): all lower limits, then all upper limits. Raises
    DomainError: a rectangle that is not finite, inside out, or wholly outside the domain.
    """
    dims = len(lower)
    remedy = f"give {2 * dims} numbers each, all lower limits, then all upper limits"
    rects = rows_of(rects, 2 * dims, remedy)
    low, high = rects[:, :dims], rects[:, dims:]
    _refuse(rects, ~np.isfinite(rects).all(axis=1), "is not finite: give numbers")
    _refuse(
        rects, (low >= high).any(axis=1), "is inside out or empty: give lower limits below upper"
    )
    outside = (low >= upper).any(axis=1) | (high <= lower).any(axis=1)
    domain = limits_text([*lower, *upper])
    _refuse(rects, outside, f"lies outside the domain {domain}: {OVERLAP}")
    return low, high


def limits_text(values: ArrayLike) -> str:
    """Coordinates as options take them: to ten digits, by which no two boxes look alike.

    >>> limits_text([560123.25, 5930456.5])
    '560123.25,5930456.5'
    """
    return ",".join(f"{value:.10g}" for value in np.ravel(np.asarray(values, dtype=np.float64)))


def _refuse(rects: Float, wrong: ArrayLike, why: str) -> None:
    if np.any(wrong):
        row = int(np.argmax(wrong))
        where = f" (row {row})" if len(rects) > 1 else ""
        raise DomainError(f"rectangle {limits_text(rects[row])}{where} {why}")
