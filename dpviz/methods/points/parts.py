"""Parts that methods share: growing trees over Morton cells, trees over grids, a noisy total."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ParameterError
from dpviz.private.budget import DISJOINT
from dpviz.private.mechanisms.noise import geometric
from dpviz.trees.consistency import least_squares, sum_up
from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.density import refine
from dpviz.trees.lattice import Codes, Float, Int, unmorton
from dpviz.trees.shrinkage import settle

if TYPE_CHECKING:
    from dpviz.private.budget import Budget, Share
    from dpviz.private.index import PointIndex
    from dpviz.private.mechanisms.noise import Noise

Split = Callable[[Int, int], NDArray[np.bool_]]


class CellTree:
    """A tree of Morton cells, grown level by level.

    ``axis_bits`` is how many bits of the code each level adds: dims for fanout 2^dims, fewer for
    a round robin over the axes (in the order of the code's bits).
    """

    def __init__(self, index: PointIndex, axis_bits: int) -> None:
        self.index = index
        self.axis_bits = axis_bits
        self.code_bits = index.domain.dims * index.domain.bits
        self.codes: list[Codes] = [np.zeros(1, dtype=np.uint64)]
        self.parents: list[Int] = [np.full(1, -1, dtype=np.int64)]
        # Each cell is a run of rows of the index; a child's run is found inside its parent's.
        self._runs: list[tuple[Int, Int]] = [(np.zeros(1, np.int64), np.array([len(index.codes)]))]

    @property
    def max_depth(self) -> int:
        """The deepest level that the lattice has: public."""
        return self.code_bits // self.axis_bits

    @property
    def fanout(self) -> int:
        """Children of each split node."""
        return 1 << self.axis_bits

    def grow(self, split: Split, max_depth: int) -> None:
        """Split the nodes that ``split(exact counts, depth)`` chooses, until none is left."""
        for depth in range(min(max_depth, self.max_depth)):
            chosen = split(self.level_counts(depth), depth)
            if not chosen.any():
                return
            self.split(chosen)

    def split(self, chosen: NDArray[np.bool_]) -> None:
        """Add a level: the children of the chosen nodes of the deepest level.

        Raises:
            ParameterError: more nodes than the public cap.
        """
        rows, codes, depth = np.flatnonzero(chosen), self.codes[-1], len(self.codes)
        nodes = sum(map(len, self.codes))
        if nodes + len(rows) * self.fanout > MAX_NODES:
            raise ParameterError(
                f"the tree passes the public cap of {MAX_NODES:,} nodes at depth {depth}: "
                "choose a smaller height or epsilon"
            )
        siblings: Codes = np.arange(self.fanout, dtype=np.uint64)
        children = (codes[rows, None] << np.uint64(self.axis_bits)) | siblings
        first, last = (run[rows, None] for run in self._runs[-1])
        cuts = self.index.first_rows(children[:, 1:], depth * self.axis_bits)
        self._runs.append((np.hstack([first, cuts]).ravel(), np.hstack([cuts, last]).ravel()))
        self.parents.append(np.repeat(rows + nodes - len(codes), self.fanout))
        self.codes.append(children.ravel())

    def level_counts(self, depth: int) -> Int:
        """Exact counts of the nodes of one level: private."""
        first, last = self._runs[depth]
        return np.asarray(self.index.cumulative[last] - self.index.cumulative[first])

    @property
    def depth(self) -> Int:
        """Depth of each node, int64 of shape (n,)."""
        return np.repeat(np.arange(len(self.codes)), [len(level) for level in self.codes])

    @property
    def parent(self) -> Int:
        """Breadth-first parents."""
        return np.concatenate(self.parents)

    def counts(self) -> Int:
        """Exact counts of all nodes, breadth-first: private."""
        return np.concatenate([self.level_counts(depth) for depth in range(len(self.codes))])

    def boxes(self) -> tuple[Int, Int]:
        """Lattice boxes of all nodes, breadth-first."""
        domain = self.index.domain
        corners, sides = [], []
        for depth, codes in enumerate(self.codes):
            bits = depth * self.axis_bits
            full = codes << np.uint64(self.code_bits - bits)
            corners.append(unmorton(full, domain.dims))
            # The first (bits mod dims) axes have one more halving than the rest.
            halvings = [
                (bits + domain.dims - 1 - axis) // domain.dims for axis in range(domain.dims)
            ]
            side = np.array([1 << (domain.bits - halving) for halving in halvings], dtype=np.int64)
            sides.append(np.broadcast_to(side, (len(codes), domain.dims)))
        lo = np.concatenate(corners)
        return lo, lo + np.concatenate(sides)

    def decomposition(self, count: Float, variance: Float) -> Decomposition:
        """The tree with these estimates."""
        lo, hi = self.boxes()
        return Decomposition(lo, hi, self.parent, count, variance)

    def with_leaf_counts(
        self,
        noise: Noise,
        budget: Budget,
        purpose: str,
        *,
        shrink: bool = False,
        slopes: bool = False,
    ) -> Decomposition:
        """All that is left of the budget on the leaves; an inner count is the sum of its leaves.

        With ``shrink`` or ``slopes``, see :func:`finished`.
        """
        parent = self.parent
        leaf = np.ones(len(parent), dtype=np.bool_)
        leaf[parent[parent >= 0]] = False
        share = budget.spend(budget.left, purpose, mechanism="geometric", why=DISJOINT)
        noisy, variance = np.zeros(len(parent)), np.zeros(len(parent))
        noisy[leaf], variance[leaf] = geometric(noise, share, self.counts()[leaf])
        if shrink or slopes:
            variance[~leaf] = np.inf
            return finished(self, noisy, variance, shrink=shrink, slopes=slopes)
        return self.decomposition(sum_up(parent, noisy), sum_up(parent, variance))


def finished(
    tree: CellTree, noisy: Float, variance: Float, *, shrink: bool, slopes: bool
) -> Decomposition:
    """A measured tree after free post-processing, which sees noisy numbers only.

    Args:
        tree: the structure.
        noisy: measurements of its nodes.
        variance: their variances; infinite where a node was not measured.
        shrink: non-negative, shrunk estimates inside their parents' totals; else least squares.
        slopes: a linear density inside the leaves, as sub-cells.
    """
    estimates = settle if shrink else least_squares
    nodes = tree.decomposition(*estimates(tree.parent, noisy, variance))
    return refine(nodes) if slopes else nodes


def uniform_side(n: float, epsilon: float, dims: int, c: float = 10.0) -> int:
    """UG's cells per side for n records: ⌈(nε/c)^{2/(d+2)}⌉, at least 1."""
    return max(1, math.ceil(math.pow(n * epsilon / c, 2 / (dims + 2))))


def most_cells(dims: int) -> int:
    """Cells per side at which a grid reaches the public cap on its cells."""
    return math.floor(math.pow(MAX_NODES // 2, 1 / dims) + 1e-9)


def checked_cells(owner: str, cells: int, dims: int) -> int:
    """The number of cells per side, or a refusal where the grid passes the public cap."""
    if cells > most_cells(dims):
        raise ParameterError(
            f"{owner}: {cells} cells per side are {cells**dims:,} cells in {dims} dimensions: "
            f"choose cells up to {most_cells(dims)}"
        )
    return cells


def measured_levels(noise: Noise, shares: list[Share], exact: list[Int]) -> tuple[Float, Float]:
    """Noisy counts and variances of a tree's nodes, level by level with the level's share."""
    pairs = [geometric(noise, share, counts) for share, counts in zip(shares, exact, strict=False)]
    return (
        np.concatenate([noisy for noisy, _ in pairs]).astype(np.float64),
        np.concatenate([variance for _, variance in pairs]),
    )


def geometric_weights(height: int) -> list[float]:
    """Relative shares of the levels, root first: height i (leaves 0) gets 2^{(h−i)/3}."""
    return [2.0 ** (depth / 3.0) for depth in range(height + 1)]


def noisy_total(
    index: PointIndex, budget: Budget, noise: Noise, n_public: int | None, fraction: float = 0.01
) -> float:
    """The number of records for formulas that need one: the public n, or 1 % of epsilon buys one.

    Returns at least 1. With a noisy n everything after it works on the rest of the budget.
    """
    if n_public is not None:
        return max(1.0, float(n_public))
    share = budget.spend(
        fraction * budget.epsilon, "record count", mechanism="geometric", why=DISJOINT
    )
    noisy, _ = geometric(noise, share, [index.total])
    return max(1.0, float(noisy[0]))
