"""Trees over lattice cells, grown level by level, and post-processing of their counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dpviz.errors import ParameterError
from dpviz.methods.points.base import PointMethod, parameter
from dpviz.methods.points.levels import leaf_sums
from dpviz.private.budget import Budget, Share
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric_by_rate, geometric_variance
from dpviz.progress import checkpoint
from dpviz.trees.consistency import combine, downward
from dpviz.trees.cores import parallel_map, run_both, strips
from dpviz.trees.decomposition import MAX_NODES, Decomposition
from dpviz.trees.density import densities, refine, sloped_shares
from dpviz.trees.guided import guided_estimates, level_fits, with_sub_cells
from dpviz.trees.lattice import STRIP_ROWS, Codes, Float, Int, unmorton
from dpviz.trees.prior import Fit, Prior
from dpviz.trees.shrinkage import (
    DECIDED,
    Decisions,
    selection_variance,
    shrink_tree,
    subtree_estimates,
)

PLANE_DIMS = 2
"""Number of dimensions in which trees are drawn, leaves get slopes, and sharing is applied."""

MAX_DEPTH = 52
"""Public cap on the depth, which the lattice reaches with one axis at a time."""

_FITS: WeakKeyDictionary[Decomposition, list[Fit]] = WeakKeyDictionary()

Split = Callable[[Int, int], NDArray[np.bool_]]


class CellTree:
    """Tree of Morton cells, grown level by level: the axes are halved in turn.

    ``axis_bits`` is the number of axes that each level halves: dims for fanout 2^dims. The order is
    public and the same everywhere, so that each level is a partition.
    """

    def __init__(self, index: PointIndex, axis_bits: int) -> None:
        self.index = index
        self.axis_bits = axis_bits
        self.code_bits = index.domain.dims * index.domain.bits
        self.codes: list[Codes] = [np.zeros(1, dtype=np.uint64)]
        self.parents: list[Int] = [np.full(1, -1, dtype=np.int64)]
        # The records of a cell are a range of index rows; a child's range lies in its parent's.
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
        """Split the nodes that ``split(exact counts, depth)`` chooses, until it chooses none."""
        for depth in range(min(max_depth, self.max_depth)):
            chosen = split(self.level_counts(depth), depth)
            if not chosen.any():
                return
            self.split(chosen)

    def split(self, chosen: NDArray[np.bool_]) -> None:
        """Add a level: the children of the chosen nodes of the deepest level.

        Raises ParameterError: more nodes than the public cap.
        """
        checkpoint()
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
        cuts = np.empty((len(rows), self.fanout - 1), dtype=np.int64)

        def cut(part: slice) -> None:
            cuts[part] = self.index.first_rows(children[part, 1:], depth * self.axis_bits)

        parallel_map(cut, strips(len(rows), STRIP_ROWS))
        self._runs.append((np.hstack([first, cuts]).ravel(), np.hstack([cuts, last]).ravel()))
        self.parents.append(np.repeat(rows + nodes - len(codes), self.fanout))
        self.codes.append(children.ravel())

    def has_room(self, chosen: NDArray[np.bool_], twice: NDArray[np.bool_]) -> bool:
        """Return whether splitting these deepest nodes, some of them twice, fits the public cap."""
        children = self.fanout * int(chosen.sum())
        children += self.fanout**2 * int((chosen & twice).sum())
        return sum(map(len, self.codes)) + children <= MAX_NODES

    def level_counts(self, depth: int) -> Int:
        """Exact counts of the nodes of one level: private."""
        first, last = self._runs[depth]
        cumulative = self.index.cumulative
        return np.asarray(cumulative[last] - cumulative[first])

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
        checkpoint()
        domain = self.index.domain
        bits = [depth * self.axis_bits for depth in range(len(self.codes))]
        levels = zip(self.codes, bits, strict=True)
        full = np.concatenate([codes << np.uint64(self.code_bits - each) for codes, each in levels])
        lo = unmorton(full, domain.dims)
        hi = lo.copy()
        start = 0
        for codes, each in zip(self.codes, bits, strict=True):
            part = slice(start, start + len(codes))
            halvings = [(each - 1 - axis) // domain.dims + 1 for axis in range(domain.dims)]
            hi[part] += [1 << (domain.bits - halving) for halving in halvings]
            start = part.stop
        return lo, hi

    def decomposition(self, count: Float, variance: Float) -> Decomposition:
        """The tree with these estimates."""
        lo, hi = self.boxes()
        for column in (lo, hi):
            column.flags.writeable = False  # no other reference, so that it is not copied
        return Decomposition.of_halves(
            lo=lo, hi=hi, parent=self.parent, count=count, variance=variance
        )

    def with_leaf_counts(self, noise: Noise, budget: Budget) -> Decomposition:
        """Spend the rest of the budget on leaf counts; an inner count is the sum of its leaves."""
        return self.decomposition(*leaf_sums(self.parent, self.counts(), budget, noise))


@dataclass(frozen=True, kw_only=True)
class ShrunkTree(PointMethod):
    """Base class of trees over Morton cells with post-processing of the noisy counts."""

    paper: ClassVar[str] = "dpviz: a method of this project, with its proof in the source"
    measured: ClassVar[dict[str, Any]] = {"slopes": False}
    tiny: ClassVar[dict[str, object]] = {"shrink": False, "slopes": False}
    advice: ClassVar[str] = "Counts that must be right on average: these are smoothed."

    slopes: bool = parameter(True, "Let the density rise or fall inside a cell (2-D)")

    shrink: bool = True
    prior: Prior | None = None
    max_depth: int = MAX_DEPTH

    def cap(self, tree: CellTree) -> int:
        """The deepest level that a tree may have: public."""
        return min(self.max_depth, tree.max_depth)

    def finish(
        self, tree: CellTree, noisy: Float, variance: Float, doubts: Decisions
    ) -> Decomposition:
        """A measured tree after free post-processing, which sees noisy numbers only.

        Args:
            variance: their variances; infinite where a node was not measured.
            doubts: the looks at inner counts that also decided about splits; for their weight see
                :func:`~dpviz.trees.shrinkage.subtree_estimates`.
        """
        parent = tree.parent
        # If one axis is cut at a time, the bias of shrinkage offsets the bias of decisions.
        decided = None if tree.axis_bits < tree.index.domain.dims else doubts

        def estimates() -> tuple[tuple[Float, Float], Float, Float]:
            raw = subtree_estimates(parent, noisy, variance, decided)
            return raw, *(shrink_tree if self.shrink else downward)(parent, *raw)

        def cells() -> Decomposition:
            nodes = tree.decomposition(*np.zeros((2, len(parent))))
            if self.slopes and nodes.dims == PLANE_DIMS:
                _ = nodes.adjacent_nodes, nodes.volume  # computed here in parallel, used later
            return nodes

        (raw, count, spread), nodes = run_both(estimates, cells)
        if decided is not None:
            spread = np.where(nodes.leaf, spread, DECIDED * spread)
        elif np.isfinite(variance[parent[len(tree.codes[0]) :]]).any():
            spread += selection_variance(parent, variance)
        for column in (count, spread):
            column.flags.writeable = False  # no other reference, so that it is not copied
        fits: list[Fit] = []
        if self.prior is not None:
            fits, share = level_fits(nodes, raw, self.prior)
            if self.shrink and any(fit.trusted for fit in fits):
                count = guided_estimates(parent, raw, fits, share)
        nodes = nodes.replace(count=count, variance=spread)
        return self.detailed(self.improved(nodes, raw), fits)

    def detailed(self, nodes: Decomposition, fits: list[Fit], doubt: float = 0.0) -> Decomposition:
        """The tree with sub-cells, by a public prior where its fits use one, else by slopes.

        For ``doubt`` see :func:`~dpviz.trees.density.refine`.
        """
        if self.prior is None or not any(fit.used for fit in fits):
            return refine(nodes, doubt) if self.slopes else nodes
        slope = np.full((len(nodes), 4), 0.25)
        if self.slopes:
            rows = np.flatnonzero(nodes.leaf & (nodes.count > 0) & (nodes.volume > 1))
            slope[rows] = sloped_shares(nodes, rows, densities(nodes, doubt)).T
        fine = with_sub_cells(nodes, slope, fits, self.prior)
        _FITS[fine] = fits
        return fine

    def findings(self, trees: Sequence[Decomposition]) -> dict[str, Any]:
        """The prior of a build, and the fit of each level of each tree."""
        if self.prior is None:
            return {}
        fits = [
            [[round(float(each), 4) for each in fit] for fit in _FITS.get(nodes, [])]
            for nodes in trees
        ]
        return {"prior": {**self.prior.facts, "fits": fits}}

    def improved(self, nodes: Decomposition, raw: tuple[Float, Float]) -> Decomposition:
        """Hook for post-processing before slopes: non-negative nodes, raw subtree estimates."""
        return nodes


def rate_variances(rate: Float) -> Float:
    """Variances of geometric noise with these rates; infinite where the rate is 0."""
    measured = rate > 0
    scale = np.divide(1.0, rate, out=np.ones(len(rate)), where=measured)
    return np.where(measured, geometric_variance(scale), np.inf)


def counts_at(noise: Noise, share: Share, exact: Int, rate: Float) -> tuple[Float, Float]:
    """Noisy counts and their variances; where a rate is 0, the count is 0, variance infinite."""
    noisy, measured = np.zeros(len(exact)), rate > 0
    noisy[measured] = geometric_by_rate(noise, share, exact[measured], rate[measured])
    return noisy, rate_variances(rate)


def measured_again(count: Float, variance: Float, again: Float, spread: Float) -> None:
    """Combine counts in place with a second measurement, where its variance is finite."""
    twice = np.isfinite(spread)
    count[twice], variance[twice] = combine(
        count[twice], variance[twice], again[twice], spread[twice]
    )


def path_part(weight: Float, c: float, g: float, fanout: int, reserve: float) -> Float:
    """Part (g−1)/(g^R−1) of a path's unspent budget, for the nodes that are measured next.

    R = max(1, log_{β²}(w/c)), plus a reserve, is the expected number of further measurements on the
    path.

    Args:
        weight: w, noisy count × unspent ε, of the nodes that split.
        c: the weight at which a node stops.
        g: growth of the parts along a path.
        fanout: β.
        reserve: number of further measurements to save budget for.
    """
    reach = np.log(np.maximum(weight / c, 1.0)) / (2.0 * math.log(fanout))
    return np.asarray((g - 1.0) / (g ** (np.maximum(reach, 1.0) + reserve) - 1.0))
