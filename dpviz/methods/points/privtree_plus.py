"""PrivTree+: one-sided structure cost, asymmetric leaf noise, free post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpviz.domain import LATTICE_BITS, Domain
from dpviz.errors import ParameterError
from dpviz.methods.points.base import PRIVTREE, parameter, register
from dpviz.methods.points.cell_tree import CellTree, ShrunkTree
from dpviz.methods.structure import Structure
from dpviz.private.budget import Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import NO_SPLIT_FLOOR, Noise, asymmetric_geometric, bernoulli
from dpviz.trees.decomposition import Decomposition, is_leaf
from dpviz.trees.lattice import Float, Int

SLACK = 1.1
FREE_LEVELS = 3
"""Levels that split unconditionally: they draw no bit and cost nothing."""

MARGIN = 1e-4
"""The curve is used at ε₊(1 − MARGIN), against rounding in its evaluation."""

STRIP = 512
"""Arguments whose long sums are taken at once: what stays in the fastest memory."""


@register
@dataclass(frozen=True, kw_only=True)
class PrivTreePlus(ShrunkTree):
    """A tree with one-sided structure cost, and noise that spends what the structure left over.

    Ours; the depth-penalised count is PrivTree's (J. Zhang, X. Xiao, X. Xie, SIGMOD 2016).

    Privacy: a node at depth d ≥ 3 of exact count c splits with probability
    p(ε₊(c − (d−3)δ)) on the curve of :class:`Curve`. *Lemma.* (A) the derivatives of R = ln p at
    arguments at least D apart add up to at most 1; (B) 0 ≤ R' ≤ τ(1−p)/p. *Theorem.* Adding a
    record moves the counts of one path by one; its arguments are at least D = ε₊δ apart, so by (A)
    its splits gain at most ε₊ in log probability and its leaf's no-split gains nothing; removing it
    costs at most ε₋ = τε₊ by (B), at the leaf alone. The leaf's count has noise of rate ε−ε₊
    upwards and ε−ε₋ downwards, so every outcome's log probability moves by at most ε either way.
    All later steps are post-processing. The lemma needs a curve that has a ramp: in 1-D there is
    none for τ below 0.0575, and :class:`Curve` refuses; the parameter starts above that.

    Do not use it where unbiased counts are needed: shrinkage trades bias for variance.

    >>> from dpviz.methods import method
    >>> method("privtree_plus").tree_share
    0.4
    """

    name: ClassVar[str] = "privtree_plus"
    title: ClassVar[str] = "PrivTree+ (ours)"
    paper: ClassVar[str] = f"ours; after {PRIVTREE}"

    tree_share: float = parameter(
        0.4, "f: share of ε that adding a record may cost the tree", 0.05, 0.8
    )
    tau: float = parameter(
        0.5, "τ: cost of removing a record, as a share of that of adding", 0.1, 1.0
    )

    def structure(self, epsilon: float, dims: int) -> Structure:
        """See :class:`~dpviz.methods.structure.Structure`."""
        curve, scale = self._curve(dims), self.tree_share * epsilon * (1.0 - MARGIN)

        def no_split(counts: Int, depth: int) -> Float:
            return curve.no_split(scale * np.asarray(counts) - depth * curve.distance)

        depth = min(self.max_depth, LATTICE_BITS[dims]) - FREE_LEVELS
        most = math.ceil((depth * curve.distance + curve.m + 25.0 / self.tau) / scale)
        gain = self.tree_share * epsilon
        return Structure(
            no_split,
            NO_SPLIT_FLOOR,
            depth,
            most,
            gain=gain,
            loss=self.tau * gain,
            rest=(epsilon - gain, epsilon - self.tau * gain),
            bends=lambda depth: tuple((depth * curve.distance + u) / scale for u in (0.0, curve.m)),
        )

    def _curve(self, dims: int) -> Curve:
        return Curve(1.0 / (2 << dims), self.tau)

    def check(self, domain: Domain) -> None:
        """See the base: the curve exists."""
        self._curve(domain.dims)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """See the class."""
        dims = index.domain.dims
        epsilon = budget.epsilon
        curve = self._curve(dims)
        tree_share = budget.spend(
            self.tree_share * epsilon,
            "tree",
            mechanism="split decisions",
            theorem="PrivTree+ (docstring)",
        )
        gain, loss = tree_share.epsilon, self.tau * tree_share.epsilon
        leaf_share = budget.spend(
            budget.left, "leaf counts", mechanism="asymmetric geometric", theorem="PrivTree+"
        )
        scale = gain * (1.0 - MARGIN)

        def split(counts: Int, depth: int) -> NDArray[np.bool_]:
            if depth < FREE_LEVELS:
                return np.ones(len(counts), dtype=np.bool_)
            argument = scale * counts - (depth - FREE_LEVELS) * curve.distance
            return bernoulli(noise, tree_share, curve.no_split(argument))

        tree = CellTree(index, dims)
        tree.grow(split, self.max_depth)
        parent = tree.parent
        leaf = is_leaf(parent)
        noisy, variance = np.zeros(len(parent)), np.full(len(parent), np.inf)
        noisy[leaf], variance[leaf] = asymmetric_geometric(
            noise,
            leaf_share,
            tree.counts()[leaf],
            up=min(leaf_share.epsilon, epsilon - gain),
            down=epsilon - loss,
        )
        return self.finish(tree, noisy, variance)


class Curve:
    """The split curve p(u): a log-linear ramp, then a tail on which 1 − p decays at rate τ.

    With D = slack·ln(1/p_min) and Q(v) = ln(1 − a·e^(−τv)): R = ln p is ln p_min below 0; then
    ln p_min + u − Σ_{j≥1} [Q(u−m+jD) − Q(jD−m)] up to m; then Q(u−m). a solves Σ_{j≥0} Q'(jD) = 1,
    m in (0, D] makes R continuous. Such an m exists iff 1 − a > p_min (the continuous curve would
    start below its least value otherwise) and D ≥ ln(1/p_min).

    Raises:
        ParameterError: there is no such m, and with it no lemma.

    >>> curve = Curve(1 / 8, 0.5)
    >>> [round(value, 12) for value in (curve.distance, curve.a, curve.m)]
    [2.287385695848, 0.62328983339, 1.577230164996]
    """

    def __init__(self, least: float, tau: float, slack: float = SLACK) -> None:
        self.least = least
        self.tau = tau
        self.distance = slack * math.log(1.0 / least)
        self.a, self.m = _solved(self.distance, tau, least)
        if slack < 1.0 or self.m <= 0.0:
            raise ParameterError(
                f"privtree_plus: tau={tau:g}: the curve has no ramp that starts at {least:g}, "
                "which its proof needs: choose a larger tau"
            )

    def log_split(self, u: ArrayLike) -> Float:
        """R(u) = ln p(u)."""
        u = np.asarray(u, dtype=np.float64)
        low = np.full(u.shape, math.log(self.least))
        on_ramp = (u > 0.0) & (u < self.m)  # few rows, and the only ones with a long sum
        ramp = u[on_ramp]
        low[on_ramp] += ramp - _echo(ramp, self.a, self.m, self.distance, self.tau)
        tail = _log_tail(np.maximum(u - self.m, 0.0), self.a, self.tau)
        return np.where(u >= self.m, tail, low)

    def no_split(self, u: ArrayLike) -> Float:
        """1 − p(u), without cancellation in the tail."""
        u = np.asarray(u, dtype=np.float64)
        tail = self.a * np.exp(-self.tau * np.maximum(u - self.m, 0.0))
        ramp = -np.expm1(self.log_split(np.minimum(u, self.m)))
        return np.where(u >= self.m, tail, ramp)


def _log_tail(v: Float, a: float, tau: float) -> Float:
    return np.log1p(-a * np.exp(-tau * v))


def _echo(u: Float, a: float, m: float, distance: float, tau: float) -> Float:
    """Σ_{j≥1} [Q(u − m + jD) − Q(jD − m)], terms below 1e-18 left out."""
    terms = math.ceil(42.0 / (tau * distance)) + 2
    start: Float = np.arange(1.0, terms + 1)[:, None] * distance - m
    total = np.empty(len(u))
    for row in range(0, len(u), STRIP):
        part = slice(row, row + STRIP)
        moved = _log_tail(u[part] + start, a, tau) - _log_tail(start, a, tau)
        total[part] = moved.sum(axis=0)
    return total


@lru_cache(maxsize=64)
def _solved(distance: float, tau: float, least: float) -> tuple[float, float]:
    """The constants a and m of the curve, by bisection."""
    terms = math.ceil(42.0 / (tau * distance)) + 3
    steps = np.arange(terms, dtype=np.float64) * distance
    decay = tau * np.exp(-tau * steps)

    def slopes(a: float) -> float:  # Σ_{j≥0} Q'(jD), increasing in a
        return float((a * decay / (1.0 - a / tau * decay)).sum())

    a = _bisected(lambda value: slopes(value) - 1.0, 0.0, 1.0)

    def gap(m: float) -> float:  # R(m) from the left minus ln(1 − a), increasing in m
        echo = _log_tail(steps[1:], a, tau) - _log_tail(steps[1:] - m, a, tau)
        return math.log(least) + m - float(echo.sum()) - math.log1p(-a)

    return a, _bisected(gap, 0.0, distance)


def _bisected(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if function(middle) <= 0:
            low = middle
        else:
            high = middle
    return low
