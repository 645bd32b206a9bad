"""The epsilon for ±X, interpolated between the half-widths of releases at some epsilons.

On given cells every noise scale is a multiple of 1/ε, but a method that adapts cuts finer at a
larger ε, so that one release says nothing of another's: several are asked.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpviz.errors import ParameterError


def epsilon_for(epsilons: ArrayLike, halves: ArrayLike, wanted: float) -> float:
    """About the epsilon from which on a question has the 95 % half-width ``wanted`` or less.

    Args:
        epsilons: of releases, rising.
        halves: positive half-widths of their answers to one question, likewise.
        wanted: another.

    Returns:
        Interpolated, both logarithmic; 0 where the first release is more precise, infinity where
        the last is not precise enough.

    Raises:
        ParameterError: a half-width that is not positive.

    >>> round(epsilon_for([0.1, 1.0, 10.0], [200.0, 20.0, 2.0], wanted=10.0), 9)
    2.0
    """
    if not wanted > 0:
        raise ParameterError(f"±{wanted:g}: give a positive number of records")
    widest = np.maximum.accumulate(np.asarray(halves, dtype=np.float64)[::-1])[::-1]  # from it on
    if wanted > widest[0]:
        return 0.0
    if wanted < widest[-1]:
        return math.inf
    return float(np.exp(np.interp(-math.log(wanted), -np.log(widest), np.log(epsilons))))
