"""Exact samplers of the one- and the two-sided geometric law, for any array of rates at once.

*One-sided*, P(G = k) = (1 − a)·aᵏ for k ≥ 0, a = e^(−rate). Since Σ aᵏ = Π_j (1 + a^(2^j)), the
binary digits of G are independent, and digit j is 1 with probability a^(2^j)/(1 + a^(2^j)) =
1/(1 + e^(rate·2^j)). Cut at J digits: G = 2^J·H + L with H and L independent, L of J such digits,
and H geometric of ratio a^(2^J) = e^(−rate·2^J). J is the least with rate·2^J ≥ 2, so H is counted
up by coins that fall with probability below 0.14. Doubling a double is exact, so each of these
probabilities is that of the very number ``rate``.

*Two-sided*, P(K = k) = (1 − a)/(1 + a)·a^|k|: K ≠ 0 with probability 2a/(1 + a) = 2/(1 + e^rate),
and then its sign is fair and |K| − 1 is one-sided, as P(|K| = k) is in proportion to aᵏ.

Every coin is decided by :func:`~dpviz.private.mechanisms.comparison.less`, so the laws are exact.
Draws are int64, those above 2^62 cut to it. At the rates of counts (2^−40 and above) H would
have to pass 2^20 for that, with odds below 10^−900000.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.errors import ParameterError
from dpviz.private.mechanisms.bounds import Bounds, digit, exponential
from dpviz.private.mechanisms.comparison import Float, Source, fair, less

Int = NDArray[np.int64]

LEAST_RATE = 2.0**-57
"""Rates below it would need more than 62 bits."""

MOST = 1 << 62
"""Draws are cut to ±2^62."""


def two_sided(words: Source, n: int, rates: ArrayLike) -> Int:
    """Draw n integers with P(k) ∝ e^(−rate·|k|).

    Args:
        words: the source of randomness.
        n: how many.
        rates: one for all, or one each, (n,); as :func:`checked_rates` gives them.
    """
    rates = np.asarray(rates, dtype=np.float64)
    ratio = np.exp(-_single(rates))

    def nonzero(row: int) -> Bounds:
        return digit(_exact(rates, row), times=2)

    rows = np.flatnonzero(less(words, n, 2.0 * ratio / (1.0 + ratio), nonzero))
    sizes = one_sided(words, len(rows), rates[rows] if rates.ndim else rates)
    sizes = np.minimum(sizes + 1, MOST)
    draws: Int = np.zeros(n, dtype=np.int64)
    draws[rows] = np.where(fair(words, len(rows)), sizes, -sizes)
    return draws


def one_sided(words: Source, n: int, rates: ArrayLike) -> Int:
    """Draw n integers k ≥ 0 with P(k) ∝ e^(−rate·k); see :func:`two_sided`."""
    rates = np.asarray(rates, dtype=np.float64)
    digits = np.maximum(2 - np.frexp(rates)[1], 0).astype(np.int8)
    if not rates.ndim or digits.min(initial=64) == digits.max(initial=64):
        return _same_digits(words, n, rates, digits)
    # Rows by falling number of digits, so that those with a digit of some place come first.
    order = np.argsort(-digits, kind="stable")
    draws = np.empty(n, dtype=np.int64)
    draws[order] = _same_digits(words, n, rates[order], digits[order])
    return draws


def _same_digits(words: Source, n: int, rates: Float, digits: NDArray[np.int8]) -> Int:
    """One-sided draws of one rate, or of rates (n,) with falling numbers of digits."""
    most = int(digits.max(initial=0))
    low: Any = np.zeros(n, dtype=np.int32 if most < 31 else np.int64)
    single = _single(rates)
    for place in range(most):
        many = int(np.searchsorted(-digits, -place)) if digits.ndim else n
        active, x = (rates[:many], single[:many]) if rates.ndim else (rates, single)

        def one(row: int, active: Float = active, place: int = place) -> Bounds:
            return digit(_exact(active, row) * (1 << place))

        bits = less(words, many, 1.0 / (1.0 + np.exp(x * np.float32(2.0**place))), one)
        low[:many] += np.left_shift(bits, place, dtype=low.dtype)
    draws: Int = low.astype(np.int64)
    _count_up(words, draws, np.ldexp(rates, digits), np.left_shift(1, digits, dtype=np.int64))
    return draws


def _count_up(words: Source, draws: Int, rates: Float, steps: Int) -> None:
    """Add ``step`` times a one-sided draw of a rate of at least 2 to each, by unary coins."""
    ratio = np.exp(-_single(rates))
    rows: Int = np.arange(len(draws))
    while len(rows):

        def more(row: int, rows: Int = rows) -> Bounds:
            return exponential(_exact(rates, int(rows[row])))

        coins = less(words, len(rows), ratio[rows] if ratio.ndim else ratio, more)
        rows = rows[coins]
        draws[rows] = np.minimum(draws[rows] + (steps[rows] if steps.ndim else steps), MOST)


def _single(rates: Float) -> NDArray[np.float32]:
    """In single precision, which is exact enough for the first bits; above 100 it says no more."""
    return np.minimum(rates, 100.0).astype(np.float32)


def _exact(rates: Float, row: int) -> Fraction:
    return Fraction(float(rates[row] if rates.ndim else rates))


def checked_rates(rates: ArrayLike, least_rate: float = LEAST_RATE) -> Float:
    """Rates as float64, none below the least one.

    Raises:
        ParameterError: the noise would have too large a scale.
    """
    rates = np.asarray(rates, dtype=np.float64)
    least = float(rates.min(initial=np.inf))
    if not least >= least_rate:
        raise ParameterError(
            f"noise of scale {1 / least if least > 0 else np.inf:.3g} is above "
            f"2^{-math.log2(least_rate):.0f}: choose a larger epsilon"
        )
    return rates
