"""Which epsilon gives ±X: from the variance of the noise alone, so it costs nothing to ask.

On the cells of a given release every noise scale is a fixed multiple of 1/ε, so the 95 % half-width
of an answer is, too. Discrete noise of rate r is smaller than this law by (r/2)/sinh(r/2), 4 % at
r = 1, so the law is on the safe side where it looks towards a larger ε. It keeps the cells: a
method that adapts cuts finer at a larger ε.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpviz.errors import ParameterError
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.trees.lattice import Float


def half_width(noise_sd: float, epsilon: float, at: ArrayLike) -> Float:
    """The 95 % half-width at other prices.

    Args:
        noise_sd: standard deviation of the noise of an answer.
        epsilon: price of the release that gave it.
        at: prices, any shape.

    >>> half_width(10.0, 0.5, [0.5, 1.0]).round(6).tolist()
    [21.2, 10.6]
    """
    return np.asarray(INTERVAL_SDS * noise_sd * epsilon / np.asarray(at, dtype=np.float64))


def epsilon_for(noise_sd: float, epsilon: float, wanted: float) -> float:
    """The price at which the same question has the 95 % half-width ``wanted``.

    Raises:
        ParameterError: a half-width that is not positive.

    >>> round(epsilon_for(10.0, 0.5, wanted=21.2), 9)
    0.5
    """
    if not wanted > 0:
        raise ParameterError(f"±{wanted:g}: give a positive number of records")
    return float(INTERVAL_SDS * noise_sd * epsilon / wanted)
