"""Ladder tree: measures a count again, more precisely, only while the decision is in doubt."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.methods.points.base import parameter, register
from dpviz.methods.points.cell_tree import (
    PLANE_DIMS,
    CellTree,
    ShrunkTree,
    path_part,
    rate_variances,
)
from dpviz.private.budget import Budget, Share
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, nested_counts
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int
from dpviz.trees.prior import Fit, Fitting, Prior
from dpviz.trees.sharing import reshared_counts
from dpviz.trees.shrinkage import Decisions

CERTAIN_WEIGHT = 12.0
"""A weight above this multiple of :data:`MAX_THRESHOLD` is never in doubt."""

SINGLE_AXIS_DIMS = 4
"""Number of dimensions at which one axis is cut at a time."""

MIN_C, MAX_C = 0.5, 50.0

# These were tuned with a prototype on built-in and real sets: assets/docs/results/ours.md,
# "The ladder tree"; KAPPA, MAX_THRESHOLD and G were varied again under "It stops later now" there.
KAPPA = 2.0
"""κ: a node also stops up to this many standard deviations of its noise above c."""

MAX_THRESHOLD = 30.0
"""Upper limit of that threshold: an unsplit cell with many records causes large errors."""

G = 2.2
"""Growth of the shares along a path."""

FIRST_SHARE = 0.01
"""Share of ε of the first look at the root."""

FURTHER_LOOKS = 3
"""K: further looks at most."""

RATE_GROWTH = 2.0
"""Growth of the rate from look to look."""

MAX_LOOK_SHARE = 0.98
"""Largest share of a path's unspent budget for one look before the last."""

DOUBT_BAND = 1.5
"""Half-width of the range of doubt around the threshold, in standard deviations."""

JUMP_FACTOR = 0.75
"""s: split twice at once above s·β²·c, β = 2^d."""

LEAF_FACTOR = 1.0
"""f: children are leaves up to f·β·c."""

ROUND_DOWN = 1.0 - 2.0**-52
"""Factor that lowers a float by one or two units in the last place."""

MIN_UNSPENT = 2.0**-30
"""Least unspent budget of a path; with less it stops, since no count can be measured."""


@dataclass(frozen=True, kw_only=True)
class Ladder(ShrunkTree):
    """Rules for measuring and stopping in a ladder tree; see :class:`LadderTree` for the proof."""

    takes_prior: ClassVar[bool] = True

    c: float = parameter(
        1.7, "Split a cell only if its count is above this many times its noise", MIN_C, MAX_C
    )
    reserve: float = parameter(0.3, "Extra levels of smaller cells that budget is kept for", 0, 4)

    kappa: float = KAPPA
    first: float = FIRST_SHARE
    looks: int = FURTHER_LOOKS
    most: float = MAX_THRESHOLD

    def check(self, domain: Domain) -> None:
        """Refuse a prior of other bounds, or on other axes than two coordinates."""
        if self.prior is None:
            return
        if domain.dims != PLANE_DIMS or domain.values is not None:
            raise ParameterError(
                "a prior is for records in two dimensions, without sums: leave it out"
            )
        if self.prior.frame != (domain.lower, domain.upper, domain.crs):
            raise ParameterError("the prior is of other bounds: read it for those of the data")

    def grow(
        self, index: PointIndex, share: Share, noise: Noise, level: int = 0
    ) -> tuple[CellTree, Float, Float, Decisions]:
        """Grow the tree; return it with noisy counts, ε per node (0: not measured), doubts.

        Args:
            share: the budget of every path.
            level: the first measured level; all cells above it split. Public, or a function of
                noisy counts that were already paid for.
        """
        dims = index.domain.dims
        tree = CellTree(index, 1 if dims == SINGLE_AXIS_DIMS else dims)
        cap = self.cap(tree)
        level = min(level, cap)
        counts: list[Float] = []
        prices: list[Float] = []
        doubts: list[Decisions] = []
        for _ in range(level):
            unseen = np.zeros(len(tree.codes[-1]))
            counts.append(unseen)
            prices.append(unseen)
            doubts.append(Decisions.none(len(unseen)))
            tree.split(unseen == 0)
        # Per node: the unspent budget of its path; the rate of its first look; and, at the middle
        # level of a double split, whose rate is 0, the rate for the next level.
        fitting, left = Fitting(), np.full(len(tree.codes[-1]), share.epsilon)
        rate, later = self.first * left, np.zeros(len(left))
        for depth in range(level, cap + 1):
            rule, measured = self.at(dims, depth), np.flatnonzero(rate)
            budget = left.take(measured)
            rates = self.look_rates(rate.take(measured), budget)
            noisy = nested_counts(noise, share, tree.level_counts(depth).take(measured), rates)
            if self.prior is not None and depth > 0:
                # In the transcript, all first looks of a level come before any second one.
                rule = rule.thresholds(_fitted(fitting, self.prior, tree, rate, noisy[0]))
            step, weight, limit = rule.look(noisy, rates)
            at = step * len(measured) + np.arange(len(measured))
            last_look, paid = noisy.take(at), rates.take(at)
            budget_left = unspent(budget, paid)
            stopping = (
                ((weight <= limit) & (depth > 0)) | (budget_left <= MIN_UNSPENT) | (depth == cap)
            )
            double = (weight > JUMP_FACTOR * tree.fanout**2 * rule.c) & (depth + 2 <= cap)
            stops, twice, decides = np.zeros((3, len(rate)), dtype=np.bool_)
            stops[measured], twice[measured] = stopping, double
            if not tree.has_room(~stops, twice):
                stopping[:] = stops[measured] = True
            count, price = np.zeros((2, len(rate)))
            count[measured] = np.where(stopping, noisy[-1], last_look)
            price[measured] = np.where(stopping, rates[-1], paid)
            counts.append(count)
            prices.append(price)
            # All columns below hold only the nodes that split, about a quarter.
            splitting = np.flatnonzero(~stopping)
            measured, double = measured[splitting], double[splitting]
            budget, budget_left, paid, weight, limit = (
                each[splitting] for each in (budget, budget_left, paid, weight, limit)
            )
            decides[measured] = depth > 0  # the root always splits
            doubts.append(
                Decisions.of(
                    decides, rate_variances(budget), limit / budget_left, math.sqrt(2.0) / paid
                )
            )
            if stops.all():
                break
            start = rule._part(weight, tree.fanout, depth, cap) * budget_left
            start = np.minimum(np.maximum(start, MIN_UNSPENT / 256), budget_left)
            left[measured], rate, later = budget_left, later, np.zeros(len(rate))
            rate[measured], later[measured] = np.where(double, 0.0, start), start * double
            tree.split(~stops)
            columns = left, rate, later
            left, rate, later = (np.repeat(each[~stops], tree.fanout) for each in columns)
        return tree, np.concatenate(counts), np.concatenate(prices), Decisions.joined(doubts)

    def at(self, dims: int, depth: int) -> Ladder:
        """The method with the thresholds of its rule for these dimensions and level: public."""
        if dims < SINGLE_AXIS_DIMS:
            return self
        return replace(self, c=max(0.75 * self.c, MIN_C), kappa=0.0)

    def thresholds(self, fit: Fit) -> Ladder:
        """A copy with higher thresholds, for a level where the fit of a prior is trusted.

        A leaf may then hold more records, since the prior says where in it they lie.
        """
        times = fit.gain if fit.trusted else 1.0
        return replace(self, c=min(times * self.c, MAX_C), most=times * self.most)

    def look_rates(self, rate: Float, left: Float) -> Float:
        """Rates of a node's looks, the first one first, (K + 2, n); the last is all of ``left``."""
        rates = np.empty((self.looks + 2, len(rate)))
        most = MAX_LOOK_SHARE * left
        for look, growth in enumerate(RATE_GROWTH ** np.arange(self.looks + 1.0)):
            np.multiply(rate, growth, out=rates[look])
            np.minimum(rates[look], most, out=rates[look])
            np.maximum(rates[look], rate, out=rates[look])
        rates[-1] = left
        return rates

    def look(self, noisy: Int, rates: Float) -> tuple[Int, Float, Float]:
        """Choose the look of each node, from nested noisy counts and their rates.

        The choice depends only on the counts up to that look.

        Returns:
            Number of the look, its weight w, and the weight up to which the node stops, (n,) each.
        """
        step = np.zeros(noisy.shape[1], dtype=np.int64)
        weight, limit, doubtful = self._look_weights(noisy[0], rates[0], rates[-1])
        nodes = np.flatnonzero(doubtful)
        for again in range(1, self.looks + 1):
            step[nodes] = again
            weight[nodes], limit[nodes], doubtful = self._look_weights(
                noisy[again].take(nodes), rates[again].take(nodes), rates[-1].take(nodes)
            )
            nodes = nodes[doubtful]
        return step, weight, limit

    def _look_weights(
        self, noisy: Int, rate: Float, left: Float
    ) -> tuple[Float, Float, NDArray[np.bool_]]:
        """Weight of each count, the threshold on it, and whether the decision is in doubt."""
        budget_left = unspent(left, rate)
        weight = noisy * budget_left
        doubt = math.sqrt(2.0) * budget_left / rate
        threshold = np.minimum(self.c + self.kappa * doubt, max(self.c, self.most))
        doubtful = (np.abs(weight - threshold) < DOUBT_BAND * doubt) & (
            weight < CERTAIN_WEIGHT * self.most
        )
        return weight, threshold, doubtful

    def _part(self, weight: Float, fanout: int, depth: int, cap: int) -> Float | float:
        """Part of a path's unspent budget for the first look at the next measured nodes."""
        if depth + 2 >= cap:
            return 1.0
        part = path_part(weight, self.c, G, fanout, self.reserve)
        return np.where(weight <= LEAF_FACTOR * fanout * self.c, 1.0, np.minimum(part, 1.0))


@register
@dataclass(frozen=True, kw_only=True)
class LadderTree(Ladder):
    """A tree whose decisions in doubt are looked at again, each look refining the last.

    Ours. A node has the unspent budget B of its path, and its count is measured coarsely first,
    then more precisely: it has nested noisy counts of rates r₀ ≤ r₁ ≤ … ≤ B, r_k =
    min(RATE_GROWTH^k·r₀, MAX_LOOK_SHARE·B): each is the next finer one plus noise independent of
    the count. At look k, with L = B − r_k and the weight w = N_k·L, the limit is min(c + κ√2·L/r_k,
    max(c, MAX_THRESHOLD)). While w is within ``DOUBT_BAND`` standard deviations √2·L/r_k of the
    limit, the node looks again, k + 1. Then, if w is at most the limit, it stops and publishes the
    count of rate B; else, if w > s·β²·c (β = 2^d), it splits β²-ways; else β-ways, and if w ≤ f·β·c
    the children are leaves of rate L. Other children start at the part (g−1)/(g^R−1) of L, R =
    max(1, log_{β²}(w/c)) + r. The root always splits: its first look is coarse, and a small data
    set would otherwise end in one box. A level whose children would pass the public cap on nodes is
    the last.

    In four dimensions records form few clusters, so a leaf's error comes mostly from uneven records
    inside it, and 16 children are mostly empty: there one axis is cut at a time (β = 2), and a node
    stops at ¾c whatever the noise (κ = 0). The rule is public; no step of the proof depends on β, c
    or κ.

    Privacy: of one node, only the last look depends on the count: P(N₀ … N_k | count) is
    P(N_k | count) times factors without it, and moves by at most r_k when the count moves by one.
    Whether to look again is a function of N₀ … N_k. So a node that goes on costs r_k, and one that
    stops costs B. The differing record lies in one path; B, rates and splits are functions of the
    transcript, and each node leaves B − r_k, rounded down, to the next: r + … + B ≤ ε for every
    transcript, exactly (adaptive composition). All later steps are post-processing.

    Looks used for decisions weigh less in estimates of large nodes, which avoids an upward bias:
    :func:`~dpviz.trees.shrinkage.subtree_estimates`.

    In the plane a child whose own estimate is low takes less of its parent's estimate:
    :mod:`dpviz.trees.sharing`. It sees estimates and their variances, no exact count, so it is
    free.

    With a public prior (:func:`dpviz.prior`) each level is fitted: do its noisy families share as
    the prior says? Where they do, thresholds rise by the fit's gain, and
    estimates and leaves follow it (:mod:`dpviz.trees.guided`); where not, nothing changes. The
    first looks of all nodes of a level stand in the transcript before any second look, and fits
    are functions of these and of public numbers: so thresholds are functions of the transcript, and
    the proof above holds word for word.

    Do not use it where unbiased counts are needed: shrinkage trades bias for variance.

    >>> from dpviz.methods import method
    >>> method("ladder_tree").c
    1.7
    """

    name: ClassVar[str] = "ladder_tree"
    title: ClassVar[str] = "Ladder tree"

    sharing: bool = parameter(True, "Spend less of the budget on sparse cells (2-D)")

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        share = budget.spend(
            budget.left,
            "measured path",
            mechanism="nested geometric",
            theorem="theorem of the ladder tree: the rates of a path add up to this share",
        )
        tree, noisy, paid, doubts = self.grow(index, share, noise)
        return self.finish(tree, noisy, rate_variances(paid), doubts)

    def improved(self, nodes: Decomposition, raw: tuple[Float, Float]) -> Decomposition:
        """Redistribute estimates inside families, in two dimensions only."""
        if self.sharing and self.shrink and nodes.dims == PLANE_DIMS:
            return nodes.replace(count=reshared_counts(nodes, raw))
        return nodes


def unspent(left: Float, rate: Float) -> Float:
    """``left`` − ``rate``, rounded down by 2^−52 of itself: no sum of rates exceeds the budget."""
    return np.asarray(np.maximum((left - rate) * ROUND_DOWN, 0.0))


def _fitted(fitting: Fitting, prior: Prior, tree: CellTree, rate: Float, noisy: Float) -> Fit:
    """The fit of the deepest level of a tree, from the first looks at its measured families."""
    whole = np.flatnonzero((rate > 0).reshape(-1, tree.fanout).all(axis=1))
    count, size = np.zeros(len(rate)), 1 << (tree.code_bits - 2 * len(tree.codes) + 2)
    count[rate > 0] = noisy
    columns = count, rate_variances(rate), prior.masses(tree.codes[-1] * np.uint64(size), size)
    return fitting.add(*(each.reshape(-1, tree.fanout)[whole] for each in columns))
