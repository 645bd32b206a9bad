"""Forest: which sums of edge counts are measured, at which relative noise scale.

Public; it never sees a record.

Positions are the places of edges in the order of the sub-domains. A node is an interval of
positions; all nodes above one edge form its root path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ParameterError
from dpviz.roads.decompose import Subdomains
from dpviz.roads.graph import Float, Int
from dpviz.trees.consistency import least_squares
from dpviz.trees.decomposition import Decomposition, is_leaf, level_slices

Levels = Sequence[NDArray[np.int64]]
"""A tree over a path of k edges: boundaries of each level from coarse to fine, each from 0 to k and
a subset of the next; the last one is 0, 1, …, k."""


ROUNDING = 1e-13
"""Relative increase of the noise: weights that sum to 1 in floating point may exceed 1."""

TINY = 1e-12
"""Least variance in least squares: with a huge ε the noise rounds to 0, which would give 0/0."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Nodes over the positions of sub-domains, breadth-first.

    Attributes:
        lo, hi: interval of each node, int64 (nodes,).
        parent: −1 for a root.
        relative_scale: noise scale of each node, in units of that of a flat histogram, float64.

    Privacy: one more visited edge raises every node of one root path by one, so its loss is
    Σ 1/relative_scale along the path, in units of ε/L. The constructor demands that this be at most
    1 for every edge, in exact fractions; then L edges cost at most ε, whatever the trees.
    """

    domains: Subdomains
    lo: Int
    hi: Int
    parent: Int
    relative_scale: Float

    def __post_init__(self) -> None:
        if (
            len(self.parent) == 0
            or not (np.isfinite(self.relative_scale) & (self.relative_scale > 0)).all()
        ):
            raise ParameterError(
                "a forest needs nodes with noise: give positive, finite relative_scale"
            )
        if _greatest_loss(self.parent, self.relative_scale) > 1:
            raise ParameterError(
                "the trees overspend, Σ 1/relative_scale > 1 along a path: give larger scales"
            )

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def path(self) -> Int:
        """Sub-domain of each node."""
        return self.domains.path[self.lo]

    def by_path(self) -> list[Int]:
        """The nodes of each sub-domain, breadth-first."""
        order = np.argsort(self.path, kind="stable")
        return np.split(order, np.searchsorted(self.path[order], np.arange(1, self.paths)))

    @property
    def paths(self) -> int:
        """Number of sub-domains."""
        return len(self.domains.start) - 1

    @cached_property
    def leaf_at(self) -> Int:
        """The leaf that covers each position, int64 (m,)."""
        return covering_leaf(is_leaf(self.parent), self.lo, self.hi)

    def totals(self, counts: Int) -> Int:
        """Node sums of a count per edge row, int64."""
        running = np.concatenate([[0], np.cumsum(counts[self.domains.order], dtype=np.int64)])
        return np.asarray(running[self.hi] - running[self.lo])


def covering_leaf(leaf: NDArray[np.bool_], lo: Int, hi: Int) -> Int:
    """The leaf that covers each position, int64 (m,), where leaves [lo, hi) tile them."""
    leaves = np.flatnonzero(leaf)
    leaves = leaves[np.argsort(lo[leaves])]
    return np.repeat(leaves, (hi - lo)[leaves])


def _greatest_loss(parent: Int, relative_scale: Float) -> Fraction:
    """Greatest Σ 1/relative_scale along a root path, exactly.

    Many nodes of a level share their sum: each distinct one is added up once.
    """
    sums = [Fraction(0)]
    # Row of each node's sum; the last entry stands for "no parent".
    row = np.zeros(len(parent) + 1, dtype=np.int64)
    for part in level_slices(parent):
        pairs = np.column_stack([row[parent[part]].astype(np.float64), relative_scale[part]])
        distinct, which = np.unique(pairs, axis=0, return_inverse=True)
        row[part] = len(sums) + which.ravel()
        sums += [sums[int(above)] + 1 / Fraction(scale) for above, scale in distinct.tolist()]
    return max(sums)


def flat(domains: Subdomains) -> Forest:
    """Every edge measured once, on its own."""
    return grouped(domains, 1)


def grouped(domains: Subdomains, width: int) -> Forest:
    """Neighbouring positions measured together in groups of ``width``."""
    return divided(domains, np.arange(0, len(domains.order), width))


def divided(domains: Subdomains, lo: Int) -> Forest:
    """Every position in one node, which reaches from its ``lo`` to the next one's."""
    hi = np.append(lo[1:], len(domains.order))
    return Forest(domains, lo, hi, np.full(len(lo), -1), np.ones(len(lo)))


def path_trees(
    domains: Subdomains, trees: Sequence[Levels], weights: Sequence[Float] | None = None
) -> Forest:
    """One tree per path.

    Args:
        trees: levels of each path's tree, see :data:`Levels`.
        weights: share of each level in the loss, summing to 1 per tree but for rounding; equal by
            default.
    """
    highest = max(len(levels) for levels in trees)
    if weights is None:
        # Whole numbers: k levels of 1/k are exactly 1.
        relative_scales = [np.full(len(levels), float(len(levels))) for levels in trees]
    else:
        relative_scales = [(1.0 + ROUNDING) / each for each in weights]
    columns: list[tuple[Int, Int, Int, Float]] = []
    first = 0
    for depth in range(highest):
        rows = [k for k, levels in enumerate(trees) if len(levels) > depth]
        bounds = [trees[k][depth] + domains.start[k] for k in rows]
        lo = np.concatenate([each[:-1] for each in bounds])
        hi = np.concatenate([each[1:] for each in bounds])
        sizes = [len(each) - 1 for each in bounds]
        relative_scale = np.repeat([relative_scales[k][depth] for k in rows], sizes)
        if depth == 0:
            parent = np.full(len(lo), -1)
        else:
            above = columns[-1][0]
            parent = first - len(above) + np.searchsorted(above, lo, side="right") - 1
        first += len(lo)
        columns.append((lo, hi, parent, relative_scale))
    lo, hi, parent, relative_scale = (np.concatenate(part) for part in zip(*columns, strict=True))
    return Forest(domains, lo, hi, parent, relative_scale)


def answer_variance(parent: Int, variance: Float, weights: Float) -> float:
    """Exact variance of a sum of leaves with ``weights`` (0 elsewhere) after least squares.

    The estimate is (MᵀWM)⁻¹MᵀWy with W = diag(1/variance), so the variance of qᵀx is qᵀ(MᵀWM)⁻¹q;
    the inverse is applied by :func:`dpviz.trees.consistency.least_squares` itself, to measurements
    that are zero but at the leaves.
    """
    variance = np.maximum(variance, TINY)
    solved, _ = least_squares(parent, weights * variance, variance)
    return float(weights @ solved)


def consistent(forest: Forest, noisy: Int | Float, variance: Float) -> Decomposition:
    """Least-squares estimates of a forest's nodes (exact for any fanouts and variances)."""
    count, after = least_squares(forest.parent, noisy, np.maximum(variance, TINY))
    return Decomposition(forest.lo[:, None], forest.hi[:, None], forest.parent, count, after)
