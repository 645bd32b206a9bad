"""Split decisions of a method as numbers, for the exact calculation of their privacy loss.

A method that publishes one random bit per node states its probability here, and the price that its
theorem claims; :mod:`dpviz.evaluation.exact` compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpviz.private.mechanisms.noise import NO_SPLIT_FLOOR
from dpviz.trees.lattice import Float, Int


@dataclass(frozen=True)
class Structure:
    """Independent bits, one per node, whose probabilities follow from exact counts.

    Attributes:
        no_split: P(no split) for exact counts (n,) at a depth.
        least_no_split: the least probability of not splitting.
        depth: levels that draw a bit; below, nodes are leaves.
        largest_uncertain: largest count with a bit in doubt at any depth.
        price: upper bound, by the theorem, on the loss of all bits if a privacy unit is added or
            removed.
        other_epsilon: exact cost of everything else that is released.
        breakpoints: counts at which the curve of a depth changes its formula: always examined.
        records: by how much one unit moves the counts of a path at most.
    """

    no_split: Callable[[Int, int], Float]
    least_no_split: float
    depth: int
    largest_uncertain: int
    price: float
    other_epsilon: float
    breakpoints: Callable[[int], tuple[float, ...]] = lambda _depth: ()
    records: int = 1


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


def biased_splits(
    scale: float,
    bias: float,
    threshold: float,
    depth: int,
    *,
    price: float,
    other_epsilon: float,
    records: int = 1,
) -> Structure:
    """PrivTree's decisions, see :func:`no_split`, with their price.

    Args:
        scale: λ of the noise of a decision.
        bias: δ, per level.
        threshold: θ.
        price: upper bound, by the theorem, on the loss of the bits.
        records: by how much one unit moves the counts of a path at most.
    """
    return Structure(
        lambda counts, level: no_split(counts, level, scale, bias, threshold),
        least_no_split=NO_SPLIT_FLOOR,
        depth=depth,
        largest_uncertain=math.ceil(max(threshold, 0.0) + depth * bias + 40 * scale),
        price=price,
        other_epsilon=other_epsilon,
        breakpoints=lambda level: ((level - 1) * bias + threshold, level * bias + threshold),
        records=records,
    )


@dataclass(frozen=True)
class SharedThreshold:
    """Split decisions that compare noisy counts with one noisy threshold.

    Attributes:
        threshold: before its noise, in records.
        scale: scale of the Laplace noise of the threshold and of every count.
        depth: levels that draw a bit; below, nodes are leaves.
    """

    threshold: float
    scale: float
    depth: int
    fanout: int
