"""Continuous draws in double precision, for methods without a guarantee, built as published."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpviz.private.budget import Share
from dpviz.private.mechanisms.comparison import Float
from dpviz.private.mechanisms.sources import Noise


def exponential_draws(noise: Noise, n: int) -> Float:
    """Draw n standard exponential numbers."""
    uniform = (noise.words(n).astype(np.float64) + 0.5) * 2.0**-64
    return np.asarray(-np.log1p(-np.minimum(uniform, 1.0 - 2.0**-53)), dtype=np.float64)


def laplace(noise: Noise, n: int) -> Float:
    """Draw n continuous Laplace numbers of scale 1: NOT fit for release."""
    sign = np.where(noise.words(n) >> np.uint64(63) == 0, 1.0, -1.0)
    return sign * exponential_draws(noise, n)


def published_laplace(noise: Noise, share: Share, values: ArrayLike, scale: ArrayLike) -> Float:
    """Values plus continuous Laplace noise of the scale that a refuted paper states.

    It makes nothing private: for methods whose guarantee is "none", built as published.
    """
    share.use()
    values = np.asarray(values, dtype=np.float64)
    return np.asarray(values + np.asarray(scale) * laplace(noise, values.size), dtype=np.float64)
