"""Empirical-Bayes posterior of counts, from noisy counts and a guess of each only."""

from __future__ import annotations

import math

import numpy as np

from dpviz.trees.lattice import Float, Int

STEPS = 128
"""Points of the quadrature over counts, in equal ratios."""

NEAR_SDS = 12.0
"""Counts up to this many noise scales are always weighed by quadrature."""

MAX_SLOPE = 0.9
"""Largest change of the prior's logarithm over one noise scale that is treated as linear."""

ROWS = 10_000
"""Counts weighed at once; the shape is fitted to at most this many, evenly spread."""

RATIO = 0.01
"""Step to which logarithms of guesses are rounded: of more counts than :data:`ROWS` with one scale,
equal ones whose guesses round alike are weighed once."""


def gamma_posterior(
    noisy: Float, scale: float | Float, mean: Float, *, least: float, shapes: tuple[float, ...]
) -> tuple[Float, Float]:
    """Mean and variance of each count, given its noisy value and a guess.

    The noise is taken as Laplace; the prior is a gamma distribution whose mean is the guess and
    whose shape makes the noisy counts likeliest.

    Returns float64 (n,) each.

    Args:
        noisy: counts, float64 (n,).
        scale: scale of the noise, above 0: one number, or float64 (n,).
        mean: guesses, above 0, float64 (n,).
        least: least count of the quadrature.
        shapes: shapes of the prior to choose from.
    """
    one_scale = np.ndim(scale) == 0
    scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), noisy.shape)
    sample = slice(None, None, max(-(-len(noisy) // ROWS), 1))

    def fit(shape: float) -> float:
        return _weighed(noisy[sample], scales[sample], mean[sample], shape, least)[2]

    best = max(shapes, key=fit)
    which: slice | Int = slice(None)
    if one_scale and len(noisy) > ROWS:
        noisy, mean, which = _distinct(noisy, mean)
        scales = np.broadcast_to(scales[:1], noisy.shape)
    first, spread = np.zeros(len(noisy)), np.zeros(len(noisy))
    for start in range(0, len(noisy), ROWS):
        rows = slice(start, start + ROWS)
        first[rows], spread[rows], _ = _weighed(noisy[rows], scales[rows], mean[rows], best, least)
    return first[which], spread[which]


def _distinct(noisy: Float, mean: Float) -> tuple[Float, Float, Int]:
    """Distinct counts and rounded guesses, and which of them stands for each row."""
    values, value = np.unique(noisy, return_inverse=True)
    step = np.rint(np.log(mean) / RATIO).astype(np.int64)
    low = int(step.min())
    span = int(step.max()) - low + 1
    keys, which = np.unique(value * span + (step - low), return_inverse=True)
    return values[keys // span], np.exp((keys % span + low) * RATIO), which


def _weighed(
    noisy: Float, scale: Float, mean: Float, shape: float, least: float
) -> tuple[Float, Float, float]:
    """Means, variances, and how likely all noisy counts are (a logarithm, but for a constant)."""
    rate = shape / mean
    # Far above the noise the prior's logarithm is a straight line, so the integrals are known.
    at = np.maximum(noisy, least)
    slope = scale * ((shape - 1) / at - rate)
    above_noise = (noisy > NEAR_SDS * scale) & (np.abs(slope) < MAX_SLOPE)
    steep = 1 - np.where(above_noise, slope, 0.0) ** 2
    first = noisy + 2 * scale * slope / steep
    spread = 2 * scale**2 * (1 + slope**2) / steep**2
    fit = (shape - 1) * np.log(at) - rate * at + np.log(2 * scale / steep)

    rows = np.flatnonzero(~above_noise)
    near = noisy[rows]
    widest = float(scale.max(initial=0.0))
    count = np.geomspace(
        least, max(1.3 * float(near.max(initial=0.0)), 13 * widest, 3 * least), STEPS
    )
    chance = -np.abs(near[:, None] - count) / scale[rows, None] - rate[rows, None] * count
    chance += (shape - 1) * np.log(count) + np.log(np.gradient(count))
    most = chance.max(axis=1, initial=-np.inf)
    chance = np.exp(chance - most[:, None])
    total = chance.sum(axis=1)
    first[rows] = chance @ count / total
    spread[rows] = np.maximum(chance @ count**2 / total - first[rows] ** 2, 0.0)
    fit[rows] = most + np.log(total)
    constant = shape * np.log(rate) - math.lgamma(shape)
    return first, spread, float((fit + constant).sum())
