"""Least-squares estimates of a forest's nodes."""

from __future__ import annotations

import numpy as np

from dpviz.roads.forest import TINY, Forest
from dpviz.roads.graph import Float, Int
from dpviz.trees.consistency import least_squares
from dpviz.trees.decomposition import Decomposition


def consistent(forest: Forest, noisy: Int | Float, variance: Float) -> Decomposition:
    """Least-squares estimates of a forest's nodes (exact for any fanouts and variances)."""
    count, after = least_squares(forest.parent, noisy, np.maximum(variance, TINY))
    return Decomposition(forest.lo[:, None], forest.hi[:, None], forest.parent, count, after)
