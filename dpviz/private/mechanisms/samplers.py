"""Exact samplers of the one- and two-sided geometric distribution, for arrays of rates.

*One-sided*, P(G = k) = (1 − a)·aᵏ for k ≥ 0, a = e^(−rate). With G = 2^m·H + L, 0 ≤ L < 2^m,
P(H = h, L = l) is in proportion to (a^(2^m))^h · a^l: H and L are independent, H is one-sided of
rate·2^m, and P(L = l) is in proportion to e^(−rate·l). L is drawn by rejection: l uniform of m
bits, accepted with probability e^(−rate·l), else both drawn again. H is counted up by coins that
fall with probability e^(−rate·2^m). Doubling a double is exact, so each of these probabilities is
that of the very number ``rate``. m is such that rate·2^m is from ½ to below 1 (0 for larger rates):
then at least 0.63 of the l are accepted, and H needs 2.5 coins on average at most.

*Two-sided*, P(K = k) = (1 − a)/(1 + a)·a^|k|: K ≠ 0 with probability 2a/(1 + a) = 2/(1 + e^rate),
and then its sign is fair and |K| − 1 is one-sided, as P(|K| = k) is in proportion to aᵏ.

Every coin is decided by :func:`~dpviz.private.mechanisms.comparison.is_below`, so the distributions
are exact. Draws are int64, those above 2^62 cut to it. At the rates of counts (2^−40 and above) the
odds of that are e^(−2^22), below 10^−900000.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.errors import ParameterError
from dpviz.private.mechanisms.bounds import Bounds, digit, exponential
from dpviz.private.mechanisms.comparison import Float, Source, fair_bits, is_below, uniform

Int = NDArray[np.int64]

MIN_RATE = 2.0**-57
"""Rates below it would need more than 62 bits."""

MAX_DRAW = 1 << 62
"""Draws are clipped to ±2^62."""


def two_sided(words: Source, n: int, rates: ArrayLike) -> Int:
    """Draw n integers with P(k) ∝ e^(−rate·|k|).

    ``rates``: one for all, or one each, (n,); as :func:`checked_rates` gives them.
    """
    rates = np.asarray(rates, dtype=np.float64)
    ratio = np.exp(-_single(rates))

    def nonzero(row: int) -> Bounds:
        return digit(_exact(rates, row), times=2)

    rows = np.flatnonzero(is_below(words, n, 2.0 * ratio / (1.0 + ratio), nonzero))
    sizes = one_sided(words, len(rows), rates[rows] if rates.ndim else rates)
    sizes = np.minimum(sizes + 1, MAX_DRAW)
    draws: Int = np.zeros(n, dtype=np.int64)
    draws[rows] = np.where(fair_bits(words, len(rows)), sizes, -sizes)
    return draws


def one_sided(words: Source, n: int, rates: ArrayLike) -> Int:
    """Draw n integers k ≥ 0 with P(k) ∝ e^(−rate·k); see :func:`two_sided`."""
    rates = np.asarray(rates, dtype=np.float64)
    places = np.maximum(-np.frexp(rates)[1], 0)
    draws: Int = np.zeros(n, dtype=np.int64)
    _remainders(words, draws, rates, places)
    # Clip before multiplying by 2^places, so that nothing overflows.
    heights = np.minimum(
        _heights(words, n, np.ldexp(rates, places)), MAX_DRAW >> places.astype(np.int64)
    )
    np.minimum(draws + (heights << places), MAX_DRAW, out=draws)
    return draws


def _remainders(words: Source, draws: Int, rates: Float, places: NDArray[np.int32]) -> None:
    """Set each draw to an l below 2^places with P(l) ∝ e^(−rate·l), by rejection."""
    single = -_single(rates)
    rows: Int | slice = slice(None)
    many = len(draws) if places.any() else 0
    while many:
        place, slope = (places[rows], single[rows]) if rates.ndim else (places, single)
        tried = uniform(words, many, place)

        def stays(row: int, rows: Int | slice = rows, tried: Any = tried) -> Bounds:
            at = row if isinstance(rows, slice) else int(rows[row])
            return exponential(_exact(rates, at) * int(tried[row]))

        draws[rows] = tried
        again = np.flatnonzero(
            ~is_below(words, many, np.exp(slope * tried.astype(np.float32)), stays)
        )
        rows = again if isinstance(rows, slice) else rows[again]
        many = len(rows)


def _heights(words: Source, n: int, rates: Float) -> Int:
    """One-sided draws of rates of at least ½, by unary coins."""
    ratio = np.exp(-_single(rates))
    rows: Int = np.arange(n)
    heights: Int = np.zeros(n, dtype=np.int64)
    while len(rows):

        def more(row: int, rows: Int = rows) -> Bounds:
            return exponential(_exact(rates, int(rows[row])))

        coins = is_below(words, len(rows), ratio, more)
        rows = rows[coins]
        ratio = ratio[coins] if ratio.ndim else ratio
        heights[rows] += 1
    return heights


def _single(rates: Float) -> NDArray[np.float32]:
    """Rates as float32, cut at 100: exact enough to compare the first bits."""
    return np.minimum(rates, 100.0).astype(np.float32)


def _exact(rates: Float, row: int) -> Fraction:
    return Fraction(float(rates[row] if rates.ndim else rates))


def checked_rates(rates: ArrayLike, least_rate: float = MIN_RATE) -> Float:
    """Rates as float64, none below the least one."""
    rates = np.asarray(rates, dtype=np.float64)
    least = float(rates.min(initial=np.inf))
    if not least >= least_rate:
        raise ParameterError(
            f"noise of scale {1 / least if least > 0 else np.inf:.3g} is above "
            f"2^{-math.log2(least_rate):.0f}: choose a larger epsilon"
        )
    return rates
