"""Split decisions: one exact bit each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.private.budget import Share
from dpviz.private.mechanisms.bounds import Bounds, laplace_below, number
from dpviz.private.mechanisms.comparison import Float, decide_exactly
from dpviz.private.mechanisms.sources import Noise

NO_SPLIT_FLOOR = 2.0**-32
"""Least probability of not splitting: a certain split anywhere would be an infinite loss."""

NO_SPLIT_CEILING = 1.0 - 2.0**-53
"""Greatest probability of not splitting, for the same reason."""


@dataclass(frozen=True)
class Exact:
    """The real probabilities behind computed ones.

    Attributes:
        bounds: function from a row to the bounds of its probability.
        error: largest rounding error of each double, (n,).
    """

    bounds: Callable[[int], Bounds]
    error: Float


def biased_laplace(
    counts: ArrayLike, depth: int, threshold: float, bias: float, scale: float
) -> Exact:
    """P(b + Lap(scale) ≤ threshold) with b = max(threshold − bias, count − depth·bias), (n,).

    All five are taken as the rational numbers that they are.
    """
    counts = np.asarray(counts)
    limit, step, width = Fraction(threshold), Fraction(bias), Fraction(scale)

    def bounds(row: int) -> Bounds:
        return laplace_below(max(int(counts[row]) - depth * step - limit, -step) / width)

    # A dozen roundings of numbers of at most this size, and as much for the exponential.
    size = np.abs(counts).astype(np.float64) + depth * bias + abs(threshold)
    return Exact(bounds, 2.0**-48 * (1.0 + size / scale))


def bernoulli(
    noise: Noise, share: Share, no_probability: ArrayLike, exact: Exact | None = None
) -> NDArray[np.bool_]:
    """One exact bit per entry: true with probability 1 − q, q = ``no_probability``.

    A uniform number is compared with q as in :mod:`~dpviz.private.mechanisms.comparison`: 64 bits
    at once, and more where they do not decide. So nothing is rounded, neither q nor 1 − q. Without
    ``exact``, q is the double itself; with it, the real number that its bounds close in on. In both
    cases q is cut to 2^−32 … 1 − 2^−53.

    The theorem behind ``share`` bounds the loss of the bits: this function adds no noise of its
    own.

    Args:
        no_probability: q of each, any shape.
        exact: the exact values that the doubles approximate, entries flattened.
    """
    share.use()
    q = np.asarray(no_probability, dtype=np.float64)
    no = np.clip(q.ravel(), NO_SPLIT_FLOOR, NO_SPLIT_CEILING)
    drawn = noise.words(no.size)
    error = exact.error if exact else np.zeros(1)
    low = (np.maximum(no - error, 0.0) * 2.0**64).astype(np.uint64)
    high = (np.minimum(no + error, NO_SPLIT_CEILING) * 2.0**64).astype(np.uint64)
    yes = drawn > high
    for row in np.flatnonzero((drawn >= low) & ~yes).tolist():
        bounds = exact.bounds(row) if exact else number(Fraction(float(no[row])))
        yes[row] = not decide_exactly(noise.words, int(drawn[row]), 64, _cut(bounds))
    return yes.reshape(q.shape)


def _cut(bounds: Bounds) -> Bounds:
    """The bounds of q cut to the floor and the ceiling."""
    limits = [number(Fraction(each)) for each in (NO_SPLIT_FLOOR, NO_SPLIT_CEILING)]

    def cut(bits: int) -> tuple[int, int]:
        (floor, _), (ceiling, _) = (limit(bits) for limit in limits)
        low, high = bounds(bits)
        return min(max(low, floor), ceiling), min(max(high, floor), ceiling)

    return cut
