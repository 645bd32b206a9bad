"""Exact privacy loss of split decisions, by dynamic programming over chains of counts.

Where a method publishes one random bit per node with a known probability, one record moves the
counts of one path by one. The loss of the whole structure is then the greatest sum, over every
non-increasing chain of counts and every depth at which the path may end, of the bits' log ratios.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpviz.lattice import Float
from dpviz.methods.base import Structure

if TYPE_CHECKING:
    from dpviz.domain import Domain
    from dpviz.methods import Method


def structure_loss(method: Method, epsilon: float, domain: Domain) -> float | None:
    """Exact loss of a method's split decisions; None where it has no such decisions."""
    structure = method.structure(epsilon, domain.dims)
    return None if structure is None else max(chain_losses(structure))


def chain_losses(structure: Structure) -> tuple[float, float]:
    """Greatest log ratios over all outcomes: with the record to without it, and the reverse.

    Counts run from 0 to ``structure.most``: beyond, no bit is in doubt.
    """
    size = structure.most + 1
    counts = np.arange(size + 1)
    end = np.zeros(size)  # at the cap on the depth a node is a leaf without a bit
    adding, removing = end, end.copy()
    for depth in range(structure.depth - 1, -1, -1):
        stop = np.asarray(structure.no_split(counts, depth), dtype=np.float64)
        stop = np.maximum(stop, structure.floor)
        split_ratio = _difference(np.log1p(-stop))
        stop_ratio = _difference(np.log(stop))
        # A child holds at most what its parent does.
        adding = np.maximum(stop_ratio, split_ratio + np.maximum.accumulate(adding))
        removing = np.maximum(-stop_ratio, -split_ratio + np.maximum.accumulate(removing))
    return float(adding.max()), float(removing.max())


def _difference(logs: Float) -> Float:
    return logs[1:] - logs[:-1]
