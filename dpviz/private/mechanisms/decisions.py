"""Split decisions: one exact bit each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.private.budget import Share
from dpviz.private.mechanisms.bounds import Bounds, number
from dpviz.private.mechanisms.comparison import settled
from dpviz.private.mechanisms.sources import Noise

NO_SPLIT_FLOOR = 2.0**-32
"""Least probability of not splitting: a certain split anywhere would be an infinite loss."""

NO_SPLIT_CEILING = 1.0 - 2.0**-53
"""Greatest probability of not splitting, for the same reason."""

ERROR = 2.0**-40
"""How far the double of a probability may be from what its exact bounds close in on."""


def bernoulli(
    noise: Noise,
    share: Share,
    no_probability: ArrayLike,
    exact: Callable[[int], Bounds] | None = None,
) -> NDArray[np.bool_]:
    """One exact bit per entry: true with probability 1 − q, q = ``no_probability``.

    A uniform number is compared with q as in :mod:`~dpviz.private.mechanisms.comparison`: 64 bits
    at once, and more where they do not decide. So nothing is rounded, neither q nor 1 − q. Without
    ``exact``, q is the double itself; with it, the real number that its bounds close in on, and
    the double may be wrong by 2^−40. In both cases q is cut to 2^−32 … 1 − 2^−53.

    The theorem behind ``share`` bounds the loss of the bits: this function adds no noise of its
    own.

    Args:
        noise: the source of randomness.
        share: pays for all bits.
        no_probability: q of each, any shape.
        exact: from a row of the flattened entries to the bounds of its q.
    """
    share.use()
    q = np.asarray(no_probability, dtype=np.float64)
    no = np.clip(q.ravel(), NO_SPLIT_FLOOR, NO_SPLIT_CEILING)
    drawn = noise.words(no.size)
    error = ERROR if exact else 0.0
    low = (np.maximum(no - error, 0.0) * 2.0**64).astype(np.uint64)
    high = (np.minimum(no + error, NO_SPLIT_CEILING) * 2.0**64).astype(np.uint64)
    yes = drawn > high
    for row in np.flatnonzero((drawn >= low) & ~yes).tolist():
        bounds = exact(row) if exact else number(Fraction(float(no[row])))
        yes[row] = not settled(noise.words, int(drawn[row]), 64, _cut(bounds))
    return yes.reshape(q.shape)


def _cut(bounds: Bounds) -> Bounds:
    """The bounds of q cut to the floor and the ceiling."""
    limits = [number(Fraction(each)) for each in (NO_SPLIT_FLOOR, NO_SPLIT_CEILING)]

    def cut(bits: int) -> tuple[int, int]:
        (floor, _), (ceiling, _) = (limit(bits) for limit in limits)
        low, high = bounds(bits)
        return min(max(low, floor), ceiling), min(max(high, floor), ceiling)

    return cut
