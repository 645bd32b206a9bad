"""Self-budgeting tree: every node carries its path's unspent budget, and measurements decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.points.base import parameter, register
from dpviz.methods.points.cell_tree import (
    CellTree,
    ShrunkTree,
    counts_at,
    measured_again,
    path_part,
)
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric_variance
from dpviz.trees.consistency import combine
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float
from dpviz.trees.shrinkage import Doubts

ROUNDING = 1e-12
"""The path's shares are products of floats: they are taken of ε(1 − ROUNDING)."""

FIRST_SHARE = 0.04


@register
@dataclass(frozen=True, kw_only=True)
class SelfBudgetingTree(ShrunkTree):
    """A tree of measured counts in which each node decides, from its noisy count, how to go on.

    Ours. A measured node with noisy count N and unspent share B of its path's ε: if N·B·ε ≤ c, it
    stops and spends all of B on a second measurement of itself; else, if N·B·ε ≤ βc, it splits
    β-ways (β = 2^d) and its children, measured with all of B, are leaves; else it splits β²-ways,
    its children are measured with the share (g−1)/(g^R−1) of B, R = max(1, log_{β²}(N·B·ε/c)), and
    carry the rest on.

    Privacy: given the transcript, splits, shares and B are the same for
    both neighbours; the differing record lies in the nodes of one path, on which spent + B = 1 at
    every step: measuring moves a share from B to spent, stopping moves all of B. So the rates of
    the path's geometric mechanisms add up to ε for every transcript (adaptive sequential
    composition; R ≥ 1 and g > 1 keep each share at most 1). All later steps are post-processing.

    Looks that decided weigh less in estimates of large nodes, which no decision pushes up then:
    :func:`~dpviz.trees.shrinkage.estimated`.

    Do not use it where unbiased counts are needed: shrinkage trades bias for variance.

    >>> from dpviz.methods import method
    >>> method("self_budgeting_tree").c
    3.5
    """

    name: ClassVar[str] = "self_budgeting_tree"
    title: ClassVar[str] = "Self-budgeting tree (ours)"

    c: float = parameter(3.5, "c: stop where noisy count × unspent ε is at most this", 0.5, 50)
    g: float = parameter(2.2, "g: growth of the shares along a path", 1.1, 8)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """See the class."""
        share = budget.spend(
            budget.left,
            "measured path",
            mechanism="geometric",
            theorem="self-budgeting (docstring): the rates of a path add up to ε",
        )
        epsilon = share.epsilon * (1.0 - ROUNDING)
        tree = CellTree(index, index.domain.dims)
        cap = self.cap(tree)
        # Per level: noisy count, its variance (infinite: not measured), unspent share B; and for
        # nodes that wait for a second split of a β²-way one, the share of B for their children.
        noisy, variance = [np.zeros(1)], [np.full(1, np.inf)]
        doubts: list[Doubts] = []
        unspent, waiting, exact = np.ones(1), np.full(1, FIRST_SHARE), tree.level_counts(0)
        for depth in range(cap + 1):
            measured, left = np.isfinite(variance[-1]), unspent * epsilon
            weight = noisy[-1] * unspent * epsilon
            stops = measured & ((weight <= self.c) | (unspent <= 0) | (depth == cap))
            doubts.append(self._doubts(variance[-1], np.where(depth < cap, left, 0.0)))
            # What is left of the path of a node that stops measures it again, if anything is.
            again = counts_at(noise, share, exact, np.where(stops, left, 0.0))
            measured_again(noisy[-1], variance[-1], *again)
            if stops.all():
                break
            tree.split(~stops)
            small = measured & ((weight <= self.c * tree.fanout) | (depth + 2 > cap))
            # The share of B for the next measurement, 0: after one more level; and for that one.
            spend = np.where(measured, small, waiting)
            later = path_part(weight, self.c, self.g, tree.fanout) * (measured & ~small)
            columns = np.minimum(spend, 1.0), unspent, later
            spend, unspent, waiting = (np.repeat(each[~stops], tree.fanout) for each in columns)
            exact = tree.level_counts(depth + 1)
            below = counts_at(noise, share, exact, spend * unspent * epsilon)
            unspent = unspent * (1.0 - spend)
            for column, level in zip((noisy, variance), below, strict=True):
                column.append(level)
        estimates = np.concatenate(noisy), np.concatenate(variance)
        return self.finish(tree, *estimates, Doubts.joined(doubts))

    def _doubts(self, variance: Float, rate: Float) -> Doubts:
        """Of a level's measurements, had ``rate`` measured each node again if it stopped."""
        decides = np.isfinite(variance) & (rate > 0)
        second, first = geometric_variance(1.0 / rate[decides]), variance[decides]
        final = combine(first, first, second, second)[1]
        return Doubts.of(decides, final, self.c / rate[decides], np.sqrt(first))
