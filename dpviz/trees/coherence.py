"""Correlation of uniformity errors among the leaves that one moment in time cuts.

Hours and days are alike everywhere: a moment cuts all leaves of a busy day at its busy end. Whether
they are shows one level up, where the tree itself states how the records of a node lie in time.
"""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import numpy as np

from dpviz.trees.decomposition import ADAPTED, IN_TIME, Decomposition
from dpviz.trees.density import uniformity_variance
from dpviz.trees.lattice import Float

FINER_FACTOR = 2.0
"""Common errors of leaves as a multiple of their parents', since a release cannot measure them. For
weekly and yearly data, bursts and office hours, twice the parents' error covers 95 %."""

MOMENTS = 255
"""Number of moments, evenly spaced in time, at which parents are examined."""

_MEASURED: WeakKeyDictionary[Decomposition, float] = WeakKeyDictionary()


def coherence(nodes: Decomposition, records: Float, day: float = math.inf) -> float:
    """ρ of :attr:`Decomposition.coherence`; with a third axis, time, no less than measured.

    Leaves of a day hide that all records are of office hours, and need a ρ of 0.32 where parents
    show one of 0.06. A pattern that repeats each day moves at most a day's records past a moment:
    longer halves need what was measured and a day's mean share of a leaf. Computed once per tree.

    ``records``: in each node, without the noise of raw leaves, float64 (n,). ``day``: lattice steps
    of a day along the third axis; infinite if that is not time.
    """
    if nodes.dims != 3:
        return nodes.coherence
    if nodes not in _MEASURED:
        least, leaf = nodes.coherence, nodes.leaf
        measured = FINER_FACTOR * _parent_deviations(nodes, records)
        if least == IN_TIME:
            weight = np.maximum(records[leaf], 1e-9)
            daily = np.average(day / (nodes.hi - nodes.lo)[leaf, -1], weights=weight)
            least = min(least, math.hypot(measured, daily))
        _MEASURED[nodes] = min(max(least, measured), ADAPTED)
    return _MEASURED[nodes]


def _parent_deviations(nodes: Decomposition, records: Float) -> float:
    """Deviation of children from an even spread in time, relative to the model's deviations.

    The ratio of two root mean squares over moments: of the deviations added up over parents, and
    of the model's standard deviations added up. Only parents whose children are all leaves, cut at
    one moment, take part. Both sums are linear between a parent's ends and its cut; noise, which is
    in the first, makes it no smaller.
    """
    leaf, above = nodes.leaf, nodes.parent
    child = np.flatnonzero(leaf & (above >= 0))
    first, last = nodes.lo[:, -1], nodes.hi[:, -1]
    inner = child[last[child] < last[above[child]]]
    cut = np.zeros(len(nodes), dtype=np.int64)
    np.maximum.at(cut, above[inner], last[inner])
    lower = np.bincount(above[inner], records[inner], len(nodes))
    leaves = np.bincount(above[child], minlength=len(nodes))
    halves = (last[child] <= cut[above[child]]) | (first[child] == cut[above[child]])
    halved = np.bincount(above[child], halves, len(nodes)) == nodes.n_children
    at = np.flatnonzero((cut > 0) & (leaves == nodes.n_children) & halved)
    start, middle, end = (each[at].astype(np.float64) for each in (first, cut, last))
    share, total = (middle - start) / (end - start), np.maximum(records[at], 0.0)
    moved = lower[at] - share * records[at]
    model = np.sqrt(uniformity_variance(total, share))
    moments = np.linspace(first.min(), last.max(), MOMENTS + 2)[1:-1]
    measured, wanted = (_summed_tents(start, middle, end, each, moments) for each in (moved, model))
    most = float(np.square(wanted).sum())
    return float(np.sqrt(np.square(measured).sum() / most)) if most > 0 else 0.0


def _summed_tents(start: Float, middle: Float, end: Float, height: Float, at: Float) -> Float:
    """Sums of functions that rise from 0 at a start to a height and fall to 0 at an end."""
    up, down = height / (middle - start), height / (end - middle)
    place = np.concatenate([start, middle, end])
    bend = np.concatenate([up, -up - down, down])
    order = np.argsort(place, kind="stable")
    place, bend = place[order], bend[order]
    slope = np.concatenate([[0.0], np.cumsum(bend)])
    level = np.concatenate([[0.0], np.cumsum(bend * place)])
    before = place.searchsorted(at)
    return np.asarray(slope[before] * at - level[before])
