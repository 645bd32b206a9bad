"""GreedyH: share of a path's budget for each level of a tree, for a public workload.

C. Li, M. Hay, G. Miklau, Y. Wang, PVLDB 7(5), 2014, §5, with one weight per level. It sees the tree
and the queries, never a count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpviz.trees.lattice import Float, Int, overlaps, volumes

GRID = np.linspace(0.0, 0.95, 39)
"""Candidate weights λ of a level; 0 leaves it unmeasured."""


@dataclass(frozen=True)
class BucketTree:
    """The tree above the buckets, breadth-first, level by level.

    Attributes:
        leaf: by level, True for the nodes that are buckets.
        parent: breadth-first parents.
        lo: first cells of all nodes, int64 of shape (n, d).
        hi: cells after their last cells.
        fanout: children of every node that is not a bucket.
    """

    leaf: list[NDArray[np.bool_]]
    parent: Int
    lo: Int
    hi: Int
    fanout: int = 2


@dataclass(frozen=True)
class Rates:
    """Shares of a path's budget, per level, for inner nodes and for leaves.

    Along every path the rates of the inner nodes and of the leaf add up to 1. ``error`` is the sum
    of the queries' variances where a measurement at rate r has variance 1/r².
    """

    inner: Float
    leaf: Float
    error: float


@dataclass(frozen=True)
class _Pairs:
    """Queries that meet nodes of one level: the node, the pair one level up, share of the node."""

    node: Int
    above: Int
    share: Float


def level_rates(tree: BucketTree, low: Int, high: Int) -> Rates:
    """Level weights λ, chosen bottom-up to minimise the squared error of the queries.

    With M⁻¹ the covariance of the best estimates below a node, s = 1ᵀM⁻¹1, e = qᵀM⁻¹q and
    g = qᵀM⁻¹1, measuring the node with λ and scaling the levels below by 1 − λ gives
    e ← e/(1−λ)² − κ·(g/(1−λ)²)², κ = λ²/(1 + λ²s/(1−λ)²): the rank-one update of a least-squares
    estimate. Sums of these over nodes and queries are minimised over λ, one level after another.

    Args:
        low: first cells of the queries, int64 of shape (q, d).
        high: cells after their last.
    """
    covered, pairs = _cuts(tree, low, high)
    depth = len(tree.leaf)
    weights = np.zeros(depth)
    # Values of the level below: s per node; e and g per pair of a query and a node.
    s_below, e_below, g_below = np.zeros(0), np.zeros(0), np.zeros(0)
    for level in range(depth - 1, -1, -1):
        leaf, here = tree.leaf[level], pairs[level]
        inner = np.flatnonzero(~leaf)
        s, e, g = np.ones(len(leaf)), here.share**2, here.share.copy()
        if len(inner):
            cut = np.flatnonzero(~leaf[here.node] & (here.share < 1.0))
            row = np.searchsorted(inner, here.node[cut])
            total = s_below.reshape(-1, tree.fanout).sum(axis=1)
            e_cut, g_cut = (
                np.bincount(pairs[level + 1].above, part, minlength=len(e))[cut]
                for part in (e_below, g_below)
            )
            containing = covered[level][inner]
            errors = float(containing @ total + e_cut.sum())
            squares = containing * total**2 + np.bincount(row, g_cut**2, minlength=len(inner))
            weight = weights[level] = _best_weight(total, errors, squares)
            shrink = (1.0 - weight) ** 2
            total = total / shrink
            precision = weight**2
            s[inner] = total / (1.0 + precision * total)
            e[cut] = (
                e_cut / shrink - precision / (1.0 + precision * total[row]) * (g_cut / shrink) ** 2
            )
            g[cut] = g_cut / shrink / (1.0 + precision * total[row])
            whole = np.flatnonzero(~leaf[here.node] & (here.share == 1.0))
            e[whole] = g[whole] = s[here.node[whole]]
        s_below, e_below, g_below = s, e, g
    left = np.concatenate([[1.0], np.cumprod(1.0 - weights)])[:-1]
    return Rates(inner=weights * left, leaf=left, error=float(e_below.sum()))


def _best_weight(s: Float, errors: float, squares: Float) -> float:
    """λ with the least error ΣE/(1−λ)² − Σκ·G/(1−λ)⁴ over the inner nodes of a level."""
    totals = []
    for weight in GRID:
        shrink = (1.0 - weight) ** 2
        gain = weight**2 / (1.0 + weight**2 * s / shrink)
        totals.append(errors / shrink - float(gain @ squares) / shrink**2)
    return float(GRID[int(np.argmin(totals))])


def _cuts(tree: BucketTree, low: Int, high: Int) -> tuple[list[Float], list[_Pairs]]:
    """Number of queries that contain each node, and pairs of query and node that meet, by level.

    A query meets the children of the nodes that it cuts; a child that it holds wholly has share 1.
    """
    volume = volumes(tree.lo, tree.hi)
    covered: list[Float] = []
    pairs: list[_Pairs] = []
    start = 0
    query, node, above = np.arange(len(low)), np.zeros(len(low), np.int64), np.zeros(0, np.int64)
    whole = np.zeros(1)
    for level, leaf in enumerate(tree.leaf):
        rows = start + node
        common = overlaps(tree.lo[rows], tree.hi[rows], low[query], high[query])
        share = common / volume[rows]
        full = share == 1.0
        covered.append(whole + np.bincount(node[full], minlength=len(leaf)))
        above = above if level else np.zeros(len(node), np.int64)
        measured = share > 0
        pairs.append(_Pairs(node[measured], above[measured], share[measured]))
        open_pairs = np.flatnonzero(~leaf[pairs[-1].node] & (pairs[-1].share < 1.0))
        first_child = tree.fanout * (np.cumsum(~leaf) - 1)
        query = np.repeat(query[measured][open_pairs], tree.fanout)
        node = (first_child[pairs[-1].node[open_pairs], None] + np.arange(tree.fanout)).ravel()
        above = np.repeat(open_pairs, tree.fanout)
        whole = np.repeat(covered[-1][~leaf], tree.fanout)
        start += len(leaf)
    return covered, pairs
