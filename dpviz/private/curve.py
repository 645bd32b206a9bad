"""Privacy profile of a release: a proven δ for each ε, and the μ of Gaussian DP.

From the header alone. It covers all that is computed of a release: post-processing lifts no point
of the curve. The worst ε-DP mechanism is randomized response (P. Kairouz, S. Oh, P. Viswanath, ICML
2015); μ and trade-off curves are those of J. Dong, A. Roth, W. Su: Gaussian Differential Privacy,
JRSS B 84(1), 2022.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np

from dpviz.private.mechanisms.accounting import (
    ROUNDING,
    delta_upper,
    gaussian_deltas,
    zcdp_delta,
)
from dpviz.releases.header import Header

SHARES, BEYOND = (0.0, 0.25, 0.5, 0.75, 1.0), (1.25, 1.5, 2.0)
"""Points of the curve, in parts of the release's ε; the second where δ does not end there."""

MAX_POINTS = 25_000
"""Points of a sum's probabilities that take half a second; beyond, zCDP bounds δ."""

MAX_SLOTS = 400
"""Slots for which exact sums take little time; beyond, the bound of all ε-DP mechanisms."""

MIN_VARIANCE = 1.0
"""Least s² of Gaussian noise for which μ was computed."""

PURE = "upper bound for every ε-DP mechanism, attained by geometric noise on one count"
APPROXIMATE = "upper bound for every (ε, δ)-DP mechanism"
LAPLACE = "discrete Laplace noise on {:,} counts of a unit: exact, rounded up"
GAUSSIAN = "discrete Gaussian noise on {:,} counts of a unit: δ rounded up, μ numerical"
WEIGHTED = "discrete Gaussian noise, a unit moves counts by √{:,} in all: upper bound by zCDP"
ZCDP = "discrete Gaussian noise on {:,} counts of a unit: δ is an upper bound by zCDP, μ numerical"


@dataclass(frozen=True)
class PrivacyCurve:
    """Privacy profile of a release, for one privacy unit.

    Attributes:
        points: pairs (ε, δ); the release is (ε, δ)-DP for each of them.
        mu: μ of Gaussian DP; None if no number is known.
    """

    points: tuple[tuple[float, float], ...]
    mu: float | None
    basis: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        points = [{"epsilon": epsilon, "delta": delta} for epsilon, delta in self.points]
        return {"mu": self.mu, "curve": points, "basis": self.basis}

    def __str__(self) -> str:
        points = ", ".join(f"{upper_limit(delta)} at ε = {each:g}" for each, delta in self.points)
        mu = "" if self.mu is None else f"μ = {upper_limit(self.mu, 4)} (Gaussian DP); "
        return f"{mu}δ = {points} ({self.basis})"


def upper_limit(value: float, digits: int = 2) -> str:
    """Text of a number that is not negative, rounded up.

    >>> upper_limit(0.4621), upper_limit(1.232035, 4), upper_limit(0.0), upper_limit(9.4002e-07)
    ('0.47', '1.233', '0', '9.5e-07')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{float(context.create_decimal_from_float(value)):g}"


def privacy_curve(header: Header) -> PrivacyCurve | None:
    """Privacy profile of a release; None if no guarantee holds.

    >>> from dpviz import Header
    >>> str(privacy_curve(Header("ugrid", {}, True, "1-DP", 1.0)))[:52]
    'μ = 1.233 (Gaussian DP); δ = 0.47 at ε = 0, 0.39 at '
    """
    if not header.private:
        return None
    epsilon, delta, extra = header.epsilon, header.delta, header.extra
    at = [share * epsilon for share in SHARES]
    variance, rho = (float(extra.get(name, 0.0)) for name in ("scale_squared", "rho"))
    k = round(2.0 * rho * variance)  # twice the slots, to replace one unit
    if k:
        at += [share * epsilon for share in BEYOND]
        weighted = bool(extra.get("weighted"))  # not each count by one
        quick = not weighted and 16.0 * math.sqrt(k * variance) <= MAX_POINTS
        deltas = (
            gaussian_deltas(at, k, variance)
            if quick
            else [zcdp_delta(each, rho) * ROUNDING for each in at]
        )
        points = list(zip(at, deltas, strict=True))
        if weighted:
            return PrivacyCurve(tuple(points), None, WEIGHTED.format(k))
        words = GAUSSIAN if quick else ZCDP
        return PrivacyCurve(tuple(points), gaussian_mu(k, variance), words.format(k))
    k, alone = header.steps, len(header.budget) == 1 and not delta
    if alone and extra.get("mechanism") == "geometric" and k <= MAX_SLOTS:
        points = [(each, delta_upper(each, k, epsilon / k)) for each in at]
        return PrivacyCurve(tuple(points), laplace_mu(k, epsilon / k), LAPLACE.format(k))
    points = [(each, response_delta(each, epsilon, delta)) for each in at]
    mu, words = (None, APPROXIMATE) if delta else (laplace_mu(1, epsilon), PURE)
    return PrivacyCurve(tuple(points), mu, words)


def response_delta(at: float, epsilon: float, delta: float = 0.0) -> float:
    """Delta at an ε of any (ε, δ)-DP mechanism, attained by randomized response.

    >>> response_delta(1.0, 1.0), f"{response_delta(0.0, 1.0):.4f}"
    (0.0, '0.4621')
    """
    lies = -math.expm1(min(at - epsilon, 0.0)) / (1.0 + math.exp(-epsilon))
    return min(delta + (1.0 - delta) * lies * ROUNDING, 1.0)


def laplace_mu(k: int, rate: float) -> float:
    """Least μ of discrete Laplace noise of this rate on k counts, each moved by one.

    Their trade-off curve is that of k randomized responses, a polygon with corners at binomial
    tails: μ-DP holds if and only if it holds there. With k = 1 it is the least μ of all ε-DP
    mechanisms, 2·Φ⁻¹(e^ε/(1 + e^ε)).

    >>> f"{laplace_mu(1, 1.0):.4f}, {laplace_mu(4, 0.25):.4f}"
    '1.2320, 0.5290'
    """
    from scipy.special import gammaln, ndtri_exp

    j = np.arange(k + 1)
    ways = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1)
    log = ways - rate * j - k * np.log1p(math.exp(-rate))  # of j wrong responses among k
    most, least = np.logaddexp.accumulate(log), np.logaddexp.accumulate(log[::-1])[::-1]
    # Φ⁻¹ of the probability of at least 1 to k of them, by the smaller tail.
    at = np.where(least[1:] < most[:-1], ndtri_exp(least[1:]), -ndtri_exp(most[:-1]))
    return float(np.max(-at - at[::-1]))


def gaussian_mu(k: int, variance: float) -> float | None:
    """μ of discrete Gaussian noise on k counts, each moved by one; None for very little noise.

    √k/s for continuous noise. The thresholds of discrete noise need up to 0.05/s² more, by
    computation at all that double precision holds (a test does so).
    """
    if variance < MIN_VARIANCE:
        return None
    return math.sqrt(k / variance) * (1.0 + 0.05 / variance)
