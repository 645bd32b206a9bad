"""Shares of contexts of few records, drawn to those of shorter ones: it sees noisy counts only."""

from __future__ import annotations

import numpy as np

from dpviz.sequences.model import Mask, leaves_below
from dpviz.trees.lattice import Float, Int

LEAST = 1e-300
"""Instead of a divisor of 0."""


def drawn_to_shorter(counts: Float, first_child: Int, allowed: Mask | None, weight: float) -> Float:
    """Counts whose shares are mixed with those of the context without its oldest symbol.

    Totals stay. From the shortest contexts to the longest, so that each is mixed with a mixture.

    Args:
        counts: non-negative, (n, |I| + 1).
        first_child: of each context, −1 for a leaf, int64 (n,).
        allowed: what may follow each context, or None.
        weight: of the shorter context, in records, for a leaf; √k times that above k leaves.
    """
    mixed, width = counts.copy(), counts.shape[1]
    leaves = leaves_below(first_child, width)
    for node in np.flatnonzero(first_child >= 0).tolist():  # parents stand before children
        below = slice(first_child[node], first_child[node] + width)
        shorter = np.broadcast_to(mixed[node], (width, width))
        shorter = shorter if allowed is None else np.where(allowed[below], shorter, 0.0)
        whole, total = shorter.sum(axis=1), mixed[below].sum(axis=1)
        trust = np.where((whole > 0) & (total > 0), weight * np.sqrt(leaves[below]), 0.0)
        prior = shorter / np.maximum(whole, LEAST)[:, None]
        share = total / np.maximum(total + trust, LEAST)
        mixed[below] = (mixed[below] + trust[:, None] * prior) * share[:, None]
    return mixed
