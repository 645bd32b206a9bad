"""Exact privacy loss of split decisions, by dynamic programming over chains of counts.

Where a method publishes one random bit per node with a known probability, one record moves the
counts of one path by one. The loss of the whole structure is then the greatest sum, over every
non-increasing chain of counts and every depth at which the path may end, of the bits' log ratios.
Where all bits share one noisy threshold, an explicit event's loss is found by quadrature over it.
"""

from __future__ import annotations

import math

import numpy as np

from dpviz.methods.structure import SharedThreshold, Structure
from dpviz.trees.lattice import Float, Int


def structure_loss(structure: Structure | SharedThreshold | None) -> float | None:
    """Exact loss of a method's split decisions; None where it has no such decisions.

    With a shared threshold it is a lower bound: the loss of the worst event that is tried.
    """
    if isinstance(structure, SharedThreshold):
        return shared_threshold_loss(structure)
    return None if structure is None else max(chain_losses(structure))


def whole_loss(structure: Structure | SharedThreshold | None) -> float | None:
    """Exact loss of a whole release, where its split decisions are independent bits."""
    if not isinstance(structure, Structure):
        return None
    # The other noise is independent of the decisions, so the suprema add up.
    return max(chain_losses(structure)) + structure.other_epsilon


def chain_losses(structure: Structure, most_counts: int | None = None) -> tuple[float, float]:
    """Greatest log ratios of P(outcome) with the unit to without it, and of the reverse.

    Counts run from 0 to ``structure.largest_uncertain``: beyond, no bit is in doubt. A unit moves
    each count of a path by ``structure.records`` at most; the ratio of a split is greatest if it
    moves all of them by that much.

    ``most_counts``: examine about this many evenly spaced counts, and those where the curve bends;
    all by default. The losses are then those of the chains over these counts: never more than the
    supremum, and short of it by the second order of their spacing in noise scales.
    """
    counts = _counts(structure, most_counts)
    end = np.zeros(len(counts))  # at the depth limit a node is a leaf and draws nothing
    adding, removing = end, end.copy()
    for depth in range(structure.depth - 1, -1, -1):
        stop, stop_more = (
            _cut_probability(structure.no_split(counts + more, depth), structure.least_no_split)
            for more in (0, structure.records)
        )
        split_ratio = np.log1p(-stop_more) - np.log1p(-stop)
        stop_ratio = np.log(stop_more) - np.log(stop)
        # A child holds at most as many records as its parent.
        adding = np.maximum(stop_ratio, split_ratio + np.maximum.accumulate(adding))
        removing = np.maximum(-stop_ratio, -split_ratio + np.maximum.accumulate(removing))
    return float(adding.max()), float(removing.max())


def _counts(structure: Structure, most_counts: int | None) -> Int:
    """Counts to examine: all, or evenly spaced ones and those beside each bend of the curve."""
    every = structure.largest_uncertain + 1
    step = 1 if most_counts is None else math.ceil(every / most_counts)
    counts = np.arange(0, every, step)
    if step == 1:
        return counts
    bends = [bend for depth in range(structure.depth) for bend in structure.breakpoints(depth)]
    # At a breakpoint the slope changes: try the counts on both sides.
    before = np.ceil(np.asarray(bends, dtype=np.float64)).astype(np.int64) - structure.records
    beside = np.concatenate([before, before + structure.records])
    tried: Int = np.union1d(counts, beside[(beside >= 0) & (beside < every)])
    return tried


def _cut_probability(no_split: Float, floor: float) -> Float:
    """P(no split) within the limits of :func:`~dpviz.private.mechanisms.decisions.bernoulli`."""
    return np.clip(np.asarray(no_split, dtype=np.float64), floor, 1.0 - 2.0**-53)


PIN_LEVELS = (1, 2, 3)
"""Levels at which every node outside the record's part of the domain is to stop."""

OFFSETS = (-8, -4, -2, -1, 0, 1, 2, 4)
"""Counts tried on the record's path, less the threshold, in noise scales."""


def shared_threshold_loss(structure: SharedThreshold) -> float:
    """Loss of the worst event tried against bits that share a noisy threshold.

    J. Zhang, X. Xiao, X. Xie: PrivTree. SIGMOD 2016, lemma 5.1. All records of one child of the
    root lie at one place, so the k nodes of its path count the same; every cell of one level of the
    other children holds that or more. The event: the path splits at every level, these cells do
    not. They pin the threshold from below, and each bit of the path then loses up to 1 / scale, so
    the sum grows like k / scale.
    """
    scale, threshold = structure.scale, structure.threshold
    counts = [max(0, round(threshold + offset * scale)) for offset in OFFSETS]
    levels = [level for level in PIN_LEVELS if level < structure.depth]
    likely = _Threshold(structure)
    return max(
        (
            _pinned_loss(likely, count, pin, level)
            for level in levels
            for count in counts
            for pin in counts
        ),
        default=0.0,
    )


def _pinned_loss(likely: _Threshold, count: int, pin: int, level: int) -> float:
    """|log ratio| of the event's probability with one record more on the path and without."""
    fanout, depth = likely.structure.fanout, likely.structure.depth
    # For the other children of the root: (nodes, their exact count, whether they split).
    others = likely.bits(
        [
            ((fanout - 1) * fanout ** (at - 1), pin * fanout ** (level - at), at < level)
            for at in range(1, level + 1)
        ]
    )
    total = count + (fanout - 1) * pin * fanout ** (level - 1)

    def log_probability(more: int) -> float:
        path = [(1, total + more, True), (depth - 1, count + more, True)]
        return likely.log_outcome(path, others)

    return abs(log_probability(1) - log_probability(0))


class _Threshold:
    """The noisy threshold, integrated out on a grid of its Laplace noise.

    The bits' log probabilities are calculated once and shared between events.
    """

    STEP = 0.01
    NOISE = np.linspace(-60.0, 60.0, 12_001)  # in noise scales; e^-60 lies beyond

    def __init__(self, structure: SharedThreshold) -> None:
        self.structure = structure
        self._bits: dict[tuple[int, bool], Float] = {}

    def log_outcome(self, nodes: list[tuple[int, int, bool]], given: Float | float = 0.0) -> float:
        """Log probability that nodes (how many, exact count, whether they split) decide so.

        ``given``: log probabilities of other nodes at each value of the threshold.
        """
        logs = self.bits(nodes) + given - np.abs(self.NOISE)
        most = logs.max()
        return float(most + np.log(np.exp(logs - most).sum() * self.STEP / 2))

    def bits(self, nodes: list[tuple[int, int, bool]]) -> Float:
        """Log probability of the nodes' bits at each value of the threshold."""
        logs = np.zeros(len(self.NOISE))
        for times, count, splits in nodes:
            logs += times * self._bit(count, splits)
        return logs

    def _bit(self, count: int, splits: bool) -> Float:
        """Log probability of one node's bit: that its noise, in scales, is above its distance."""
        if (count, splits) not in self._bits:
            distance = self.NOISE + (self.structure.threshold - count) / self.structure.scale
            self._bits[count, splits] = _log_above(distance if splits else -distance)
        return self._bits[count, splits]


def _log_above(x: Float) -> Float:
    """Log probability that a Laplace number of scale 1 is above x."""
    tail = np.log1p(-0.5 * np.exp(-np.abs(x)))
    return np.asarray(np.where(x > 0, -x - np.log(2), tail))
