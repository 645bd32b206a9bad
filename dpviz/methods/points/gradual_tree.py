"""Gradual tree: a self-budgeting tree whose measurements are refined, not repeated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.points.base import parameter, register
from dpviz.methods.points.cell_tree import CellTree, ShrunkTree, path_part, rate_variances
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, gradual_at
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float
from dpviz.trees.shrinkage import Doubts

MARGIN = 1e-9
"""A path's rates add up to ε(1 − MARGIN), against rounding in them and in the mixed draws."""


@register
@dataclass(frozen=True, kw_only=True)
class GradualTree(ShrunkTree):
    """A tree of measured counts in which a node that stops has all of its measurement refined.

    Ours. As in the self-budgeting tree, a node carries what its path has left of ε, B, and decides
    from its own noisy count N, measured with a part r of it, how to go on. But N is a coarse view
    of a fine count: N = fine + more noise, of rate r in all, and the fine one has rate B (after F.
    Koufogiannis, S. Han, G. Pappas: Gradual Release of Sensitive Data under Differential Privacy,
    2016). A node that stops publishes the fine count, as if deciding had cost nothing: where the
    self-budgeting tree combines two measurements of rates r and B − r, this one has rate B.

    With L = B − r: if N·L ≤ min(c + κ√2·L/r, max(c, most)), κ standard deviations of N's noise, it
    stops; else, if N·L ≤ βc, it splits β-ways (β = 2^d) and its children are leaves of rate L;
    else it splits β²-ways and these are measured with the part (g−1)/(g^R−1) of L, where
    R = max(1, log_{β²}(N·L/c)). The root always splits: its view is coarse, and a small data set
    would else end in one box.

    Privacy: the transcript of a node that goes on is N alone, whose log probability moves by at
    most r when its count moves by one; that of a node that stops is (N, fine), where N is fine plus
    noise that knows no count, so it moves by at most B. The differing record lies in one path, on
    which each node leaves L = B − r to the next: r₁ + … + rₖ + B = ε for every transcript (adaptive
    composition). All later steps are post-processing.

    The parameters were chosen on built-in synthetic data (``city-250k``, ``persons``), ``most``
    after a look at two real sets, see assets/results/ours.md.

    Looks that decided weigh less in estimates of large nodes, which no decision pushes up then:
    :func:`~dpviz.trees.shrinkage.estimated`.

    Do not use it where unbiased counts are needed: shrinkage trades bias for variance.

    >>> from dpviz.methods import method
    >>> method("gradual_tree").c
    2.5
    """

    name: ClassVar[str] = "gradual_tree"
    title: ClassVar[str] = "Gradual tree (ours)"

    c: float = parameter(2.5, "c: stop where noisy count × unspent ε is at most this", 0.5, 50)
    kappa: float = parameter(1.5, "κ: and so many standard deviations of its noise more", 0, 10)
    g: float = parameter(2.6, "g: growth of the shares along a path", 1.1, 8)
    most: float = parameter(
        20.0, "But never more than this: a large cell that stops costs dearly", 0.5, 200
    )
    first: float = parameter(0.02, "Share of ε that measures the root", 0.001, 0.9)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """See the class."""
        share = budget.spend(
            budget.left,
            "measured path",
            mechanism="gradual geometric",
            theorem="gradual release (docstring): the rates of a path add up to ε",
        )
        tree = CellTree(index, index.domain.dims)
        cap = self.cap(tree)
        noisy: list[Float] = []
        variance: list[Float] = []
        doubts: list[Doubts] = []
        # Per node: what its path has left; the part of it that measures the node, 0 for the middle
        # level of a β²-way split; and there, the part that is to measure the children.
        left = np.full(1, share.epsilon * (1.0 - MARGIN))
        rate, later = self.first * left, np.zeros(1)
        for depth in range(cap + 1):
            now = rate > 0
            coarse, fine = np.zeros((2, len(rate)))
            exact = tree.level_counts(depth)[now]
            coarse[now], fine[now] = gradual_at(noise, share, exact, rate[now], left[now])
            rest = left - rate
            weight = coarse * rest
            doubt = math.sqrt(2.0) * np.divide(rest, rate, out=np.zeros(len(rate)), where=now)
            few = np.minimum(self.c + self.kappa * doubt, max(self.c, self.most))
            stops = now & (((weight <= few) & (depth > 0)) | (rest <= 0) | (depth == cap))
            noisy.append(np.where(stops, fine, coarse))
            variance.append(rate_variances(np.where(stops, left, rate)))
            decides = now & (rest > 0) & (depth > 0)  # the root always splits
            records = (each[decides] / rest[decides] for each in (few, doubt))
            doubts.append(Doubts.of(decides, rate_variances(left[decides]), *records))
            if stops.all():
                break
            tree.split(~stops)
            twice = now & (weight > self.c * tree.fanout) & (depth + 2 <= cap)
            part = path_part(weight, self.c, self.g, tree.fanout) if depth + 2 < cap else 1.0
            columns = rest, np.where(now, np.where(twice, 0.0, rest), later), part * rest * twice
            left, rate, later = (np.repeat(each[~stops], tree.fanout) for each in columns)
        measured = np.concatenate(noisy), np.concatenate(variance)
        return self.finish(tree, *measured, Doubts.joined(doubts))
