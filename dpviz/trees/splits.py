"""PrivTree's split decision: a public function of an exact score, for points and for sequences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpviz.trees.lattice import Float


def split_scale(fanout: int, sensitivity: float, epsilon: float) -> float:
    """λ: the scale of the noise of a decision, (2β − 1)/(β − 1) · sensitivity/ε."""
    return (2 * fanout - 1) / (fanout - 1) * sensitivity / epsilon


def no_split(
    scores: ArrayLike, depth: int, scale: float, bias: float, threshold: float = 0.0
) -> Float:
    """P(b + Lap(scale) ≤ θ) with b = max(θ − bias, score − depth·bias): no split.

    J. Zhang, X. Xiao, X. Xie: PrivTree. SIGMOD 2016, algorithm 2. The tail that is small is
    computed without cancellation.

    >>> no_split([0.0, 7.0], 0, 7.0, 7.0).round(4).tolist()
    [0.5, 0.1839]
    """
    scores = np.asarray(scores, dtype=np.float64)
    above = np.maximum(scores - depth * bias - threshold, -bias) / scale
    tail = 0.5 * np.exp(-np.abs(above))
    return np.asarray(np.where(above > 0, tail, 1.0 - tail))
