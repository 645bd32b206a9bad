"""Exact bounds of real probabilities, in integers: what decides where sixteen bits do not.

Every function gives a :data:`Bounds`: asked for b bits it answers two integers (low, high) with
low ≤ 2^b·q ≤ high that close in on q as b grows. No floating point is used.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

Bounds = Callable[[int], tuple[int, int]]
"""Function of a number of bits b: integers low ≤ 2^b·q ≤ high, with high − low small."""

GUARD = 16
"""Additional bits of precision, so that rounding errors stay below the last requested bit."""


@lru_cache(maxsize=4096)
def exponential_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers (low, high) with low ≤ 2^bits·e^(−x) ≤ high, for x ≥ 0.

    e^(−x) = (e^(−y))^m with m = max(1, ⌈x⌉) and y = x/m ≤ 1, and Σ (−y)^k / k! has terms of falling
    size and alternating sign, so that what is left out is smaller than the last term. Every step
    rounds outwards. Where x > bits, e^(−x) < 2^−bits says it all.

    >>> exponential_bounds(Fraction(1), 10)  # 1024/e = 376.7
    (376, 377)
    """
    if x > bits:
        return 0, 1
    many = max(1, -(-x.numerator // x.denominator))
    up, down = x.numerator, x.denominator * many
    width = bits + GUARD + many.bit_length()
    low = high = term_low = term_high = 1 << width
    k = 0
    while term_high > 1:
        k += 1
        term_low = term_low * up // (down * k)
        term_high = -(-term_high * up // (down * k))
        if k % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
    low, high = low - term_high, high + term_high
    low = power(max(low, 0), many, width, 0)
    high = power(high, many, width, (1 << width) - 1)
    return low >> (width - bits), -(-high >> (width - bits))


def power(value: int, exponent: int, width: int, carry: int) -> int:
    """value^exponent in fixed point: rounded down without, up with ``carry`` = 2^width − 1."""
    result = 1 << width
    while exponent:
        if exponent & 1:
            result = (result * value + carry) >> width
        value = (value * value + carry) >> width
        exponent >>= 1
    return result


def number(q: Fraction) -> Bounds:
    """A rational number."""

    def bounds(bits: int) -> tuple[int, int]:
        scaled = q * (1 << bits)
        return scaled.numerator // scaled.denominator, -(-scaled.numerator // scaled.denominator)

    return bounds


def exponential(x: Fraction) -> Bounds:
    """e^(−x), x ≥ 0."""
    return lambda bits: exponential_bounds(x, bits)


def laplace_below(z: Fraction) -> Bounds:
    """P(L ≤ −z) for a Laplace number L of scale 1: e^(−z)/2, and 1 − e^z/2 where z is negative."""

    def bounds(bits: int) -> tuple[int, int]:
        low, high = exponential_bounds(abs(z), bits)
        if z < 0:
            low, high = (2 << bits) - high, (2 << bits) - low
        return low >> 1, -(-high >> 1)

    return bounds


def digit(x: Fraction, times: int = 1) -> Bounds:
    """``times`` / (1 + e^x) for x ≥ 0: it grows with e^(−x)."""

    def bounds(bits: int) -> tuple[int, int]:
        width = bits + GUARD
        low, high = exponential_bounds(x, width)
        one = 1 << width
        scale = times << bits
        return scale * low // (one + low), -(-scale * high // (one + high))

    return bounds


def changed(rate: Fraction, finest: Fraction) -> Bounds:
    """Odds that a refinement changes anything: 2(p − q)(1 − pq) / ((1 + p)(1 − q)²).

    With p = e^(−rate), q = e^(−finest) and 0 < rate ≤ finest; see
    :func:`~dpviz.private.mechanisms.counts.nested_counts`. As 1 − q is at least about the rate,
    twice the bits of 1/rate more keep the quotient exact to the bits asked for.
    """
    small = 2 * max(0, (rate.denominator // rate.numerator).bit_length()) + 2

    def bounds(bits: int) -> tuple[int, int]:
        width = bits + GUARD + small
        one = 1 << width
        apart = exponential_bounds(finest - rate, width)  # p − q = p(1 − e^(rate − finest))
        both = exponential_bounds(rate + finest, width)
        p = exponential_bounds(rate, width)
        q = exponential_bounds(finest, width)
        low = p[0] * (one - apart[1]) * (one - both[1]) << bits + 1
        high = p[1] * (one - apart[0]) * (one - both[0]) << bits + 1
        low //= (one + p[1]) * (one - q[0]) ** 2
        high = -(-high // ((one + p[0]) * max(one - q[1], 1) ** 2))
        return low, high

    return bounds
