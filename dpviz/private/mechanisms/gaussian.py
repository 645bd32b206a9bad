"""Exact sampler of the discrete Gaussian law, P(k) ∝ e^(−k²/2s²) for all integers k.

*By its distribution function, lazily exact.* |K| has weights w_0 = 1 and w_k = 2·e^(−k²/2s²), and
C_k = (w_0 + … + w_k)/Σw. A uniform U in [0, 1) gives the |K| = k with C_{k−1} ≤ U < C_k, which has
probability w_k/Σw; the sign is fair. Let u be the first b bits of U, so that u ≤ 2^b·U < u + 1, and
let integers satisfy low_k ≤ 2^b·C_k ≤ high_k. If k is the first with u < low_k, then U < C_k; if
u ≥ high_{k−1}, then U ≥ C_{k−1}, and k is what the whole of U gives. Otherwise more bits of the
same U are drawn, with closer bounds (:data:`Bounds` of :mod:`~dpviz.private.mechanisms.bounds`).
So the law is exact, with its infinite tail: where u is beyond the last low_k, a longer table
decides. With 64 bits one draw in 10^16 or so needs more.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpviz.errors import ParameterError
from dpviz.private.mechanisms.accounting import MIN_VARIANCE
from dpviz.private.mechanisms.bounds import GUARD, exponential_bounds
from dpviz.private.mechanisms.comparison import Source, Words, fair_bits
from dpviz.private.mechanisms.samplers import Int

MAX_SCALE = 1 << 17
"""Largest s: a longer table takes too long, and noise of this size hides any number of persons."""

FIRST_BITS = 64
"""Bits of the uniform number that are drawn first."""

DRAWS = 1 << 16
"""Draws at once, so that they stay in the processor's cache."""


def discrete_gaussian(words: Source, n: int, variance: float) -> Int:
    """Draw n integers with P(k) ∝ e^(−k²/2s²).

    ``variance``: s², that very double, which :func:`checked_variance` allows; the variance of a
    draw is at most s².
    """
    low, high = first_bits(checked_variance(variance))
    draws = np.empty(n, dtype=np.int64)
    for start in range(0, n, DRAWS):
        part = draws[start : start + DRAWS]
        drawn = words(len(part))
        sizes = np.searchsorted(low, drawn, side="right")
        doubtful = sizes == len(low)
        doubtful |= (sizes > 0) & (drawn <= high.take(sizes - 1, mode="clip"))
        for row in np.flatnonzero(doubtful).tolist():
            sizes[row] = decide(words, int(drawn[row]), FIRST_BITS, variance)
        part[:] = np.where(fair_bits(words, len(part)), sizes, -sizes)
    return draws


def checked_variance(variance: float) -> float:
    """The s² of a law that can be drawn."""
    if not MIN_VARIANCE <= variance <= MAX_SCALE**2:
        raise ParameterError(
            f"noise of scale {math.sqrt(variance):.3g} is above {MAX_SCALE:,}: choose a larger "
            "epsilon, or fewer slots per unit"
        )
    return variance


def decide(words: Source, drawn: int, width: int, variance: float) -> int:
    """The |K| of the uniform number whose first ``width`` bits are ``drawn``."""
    while True:
        low, high = distribution(variance, width)
        k = bisect_right(low, drawn)
        if k < len(low) and (k == 0 or drawn >= high[k - 1]):
            return k
        drawn = drawn << 64 | int(words(1)[0])
        width += 64


@lru_cache(maxsize=16)
def first_bits(variance: float) -> tuple[Words, Words]:
    """The distribution at :data:`FIRST_BITS` bits: arrays low and high − 1 (high may be 2^64)."""
    low, high = distribution(variance, FIRST_BITS)
    return np.array(low, dtype=np.uint64), np.array([each - 1 for each in high], dtype=np.uint64)


@lru_cache(maxsize=8)
def distribution(variance: float, bits: int) -> tuple[list[int], list[int]]:
    """Integer bounds of 2^bits·P(abs(K) ≤ k), k from 0 to where the tail is below 2^−bits.

    e^(−(k+1)²/2s²) = e^(−k²/2s²)·g_k with g_k = e^(−(2k+1)/2s²), and g_{k+1} = g_k·e^(−1/s²): two
    products a step, each rounded outwards, with bits to spare for the k² roundings of the last one.
    Weights beyond the last, k = T, add up to at most w_T·2s²/(2T + 1), as w_{T+i} ≤ w_T·q^i with
    q = e^(−(2T+1)/2s²), and q/(1 − q) ≤ 2s²/(2T + 1).
    """
    square = Fraction(variance)
    last = (
        math.isqrt(math.ceil(2 * square * (bits + GUARD))) + 1
    )  # so that its weight is below 2^−(bits + GUARD)
    width = bits + 2 * last.bit_length() + GUARD
    up = (1 << width) - 1
    low, high = 1 << width, 1 << width
    ratio, change = (exponential_bounds(x, width) for x in (1 / (2 * square), 1 / square))
    lows, highs = [low], [high]
    for _ in range(last):
        low, high = low * ratio[0] >> width, (high * ratio[1] + up) >> width
        ratio = ratio[0] * change[0] >> width, (ratio[1] * change[1] + up) >> width
        lows.append(lows[-1] + 2 * low)
        highs.append(highs[-1] + 2 * high)
    tail = math.ceil(2 * high * 2 * square / (2 * last + 1))
    least, most = lows[-1], highs[-1] + tail
    upper = [min(-((-each << bits) // least), 1 << bits) for each in highs]
    return [(each << bits) // most for each in lows], upper
