"""Private kd-trees: cuts at private medians, noisy counts on every level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import ParameterError
from dpviz.methods.points.base import DECOMPOSITIONS, PointMethod, parameter, register
from dpviz.methods.points.grid_size import checked_power
from dpviz.methods.points.kd_cells import RANK, BoxTree, KdCells, grow, halves, with_noisy_counts
from dpviz.methods.points.levels import leaf_sums
from dpviz.private.budget import DISJOINT, Budget, Share, on_sample
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.medians import CellColumn, exponential_cuts, mean_cuts, smooth_cuts
from dpviz.private.mechanisms.noise import Noise, geometric, poisson_sample
from dpviz.trees.consistency import prune
from dpviz.trees.decomposition import Decomposition, is_leaf
from dpviz.trees.lattice import Float, Int, grid_edges, positions_within

SMOOTH = "disjoint nodes, smooth sensitivity of the median"
SIDE = "disjoint nodes, sensitivity: the side of each"
SPENT = {
    "exponential": ("exponential mechanism", {"medians": RANK}),
    "smooth": ("smooth sensitivity", {"medians": SMOOTH}),
    "noisy_mean": ("geometric", {"sums": SIDE, "counts": DISJOINT}),
}
"""Mechanism of each kind of median, and the cost of a round with its theorem."""


@register
@dataclass(frozen=True, kw_only=True)
class KdTree(PointMethod):
    """A kd-tree with private medians, flattened to fanout 4, with geometric budgets and pruning.

    G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial
    Decompositions. ICDE 2012, §6 to 8.

    Privacy: the boxes of a level are disjoint, so one median mechanism covers a level; medians and
    counts of a path add up to ε (and δ, with smooth sensitivity). Each level of the flattened tree
    holds two medians of a path, so each gets ε_median / (2·levels). A fresh Poisson sample per
    median level lets an ε_m-DP median run at ln(1 + (e^{ε_m} − 1)/p): for noisy means ε_m is of
    sums and counts together, which see one sample. With ``median="cell"`` half of ε buys a noisy
    grid, medians of noisy cells are post-processing, and the rest buys leaf counts.

    Do not use it where a quadtree will do: medians cost 30 % of ε, and their noise unbalances deep
    levels.

    >>> from dpviz.methods import method
    >>> method("kd-hybrid").switch, method("kd-noisymean").median
    (4, 'noisy_mean')
    >>> method("kdtree", median="smooth").delta
    1e-06
    """

    name: ClassVar[str] = "kdtree"
    title: ClassVar[str] = "kd-tree"
    guarantee: ClassVar[str] = "ε-DP; (ε,δ)-DP with smooth medians"
    paper: ClassVar[str] = DECOMPOSITIONS
    presets: ClassVar[dict[str, dict[str, object]]] = {
        "kd-standard": {},
        "kd-hybrid": {"switch": 4},
        "kd-cell": {"median": "cell"},
        "kd-noisymean": {"median": "noisy_mean"},
    }
    tiny: ClassVar[dict[str, object]] = {"height": 2, "log_grid": 4}
    advice: ClassVar[str] = "Small epsilon: the medians take 30 % of it."

    median: str = parameter(
        "exponential",
        "How a cut is chosen",
        choices=("exponential", "smooth", "noisy_mean", "cell"),
    )
    height: int = parameter(8, "Levels below the root", 1, 10)
    switch: int | None = parameter(
        None, "Levels with medians, then quadtree cuts; all by default", 0, 10, optional=True
    )
    sampling: float = parameter(
        1.0, "Share of the records that each median looks at", 1e-4, 1, log=True
    )
    median_share: float = parameter(
        0.3, "Share of ε for medians (half, for the cell grid)", 0.05, 0.95
    )
    flatten: int = parameter(2, "Rounds of cuts per level: fanout 2^rounds", 1, 4)
    prune: float = parameter(
        32, "Drop the descendants of nodes with an estimate below this", 0, 1e6
    )
    median_delta: float = parameter(1e-6, "δ of all smooth medians together", 1e-12, 0.01, log=True)
    budget: str = parameter(
        "geometric",
        "Where the counts' ε goes: geometric shares of all levels, or all of it to the leaves",
        choices=("geometric", "leaf"),
    )
    paper_constant: bool = parameter(
        False, "Exponential medians with the paper's ε/2, which wastes half of ε"
    )
    log_grid: int | None = parameter(
        None, "Cell medians: log2 of the grid's cells per side; 2^18 cells by default", 1, 20,
        optional=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.median == "cell" and self.sampling < 1:
            raise ParameterError(
                f"kdtree: sampling={self.sampling:g}: cell medians look at noisy cells only: "
                "leave sampling at 1"
            )

    @property
    def delta(self) -> float:
        """The parameter's δ for smooth medians, 0 for the others."""
        return self.median_delta if self.median == "smooth" and self.rounds > 0 else 0.0

    @property
    def rounds(self) -> int:
        """Median levels on a path, before flattening."""
        levels = self.height if self.switch is None else min(self.switch, self.height)
        return levels * self.flatten

    def check(self, domain: Domain) -> None:
        """Refuse a grid for ``median="cell"`` with cells above the public cap."""
        if self.median == "cell":
            self._power(domain.dims)

    def _power(self, dims: int) -> int:
        """log2 of the cells per side of the grid."""
        return checked_power(self.name, "log_grid", self.log_grid or 18 // dims, dims, 20 // dims)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        if self.median == "cell":
            return self._build_on_grid(index, budget, noise)
        shares = self._median_shares(budget)

        def cutter(cells: KdCells, axis: int, chosen: NDArray[np.bool_], rounds: int) -> Int:
            if rounds >= self.rounds:
                return halves(cells, axis, chosen, rounds)
            return self.cuts(noise, shares[rounds], cells.column(axis, chosen))

        tree = grow(KdCells.of(index), self.height, self.flatten, cutter)
        if self.budget == "leaf":
            sums = leaf_sums(tree.parent, np.concatenate(tree.exact), budget, noise)
            return prune(tree.decomposition(*sums), self.prune)
        return with_noisy_counts(tree, self.height, budget, noise, self.prune)

    def cuts(self, noise: Noise, shares: tuple[Share, ...], column: CellColumn) -> Int:
        """The cuts of one median level; ``shares`` are one share, or two for noisy means."""
        if self.sampling < 1:
            column = column.sampled(poisson_sample(noise, column.weights, self.sampling))
            shares = on_sample(shares, self.sampling)
        if self.median == "noisy_mean":
            return mean_cuts(noise, (shares[0], shares[1]), column)
        if self.median == "smooth":
            return smooth_cuts(noise, shares[0], column)
        return exponential_cuts(noise, shares[0], column, 0.5 if self.paper_constant else 1.0)

    def _median_shares(self, budget: Budget) -> list[tuple[Share, ...]]:
        total = self.median_share * budget.epsilon
        mechanism, reasons = SPENT[self.median]
        sampled = f" on a {self.sampling:g} sample" if self.sampling < 1 else ""
        return [
            tuple(
                budget.spend(
                    total / (self.rounds * len(reasons)),
                    f"{part}, round {number}",
                    delta=budget.delta / self.rounds if number < self.rounds else budget.left_delta,
                    mechanism=mechanism + sampled,
                    why=why,
                )
                for part, why in reasons.items()
            )
            for number in range(1, self.rounds + 1)
        ]

    def _build_on_grid(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """A kd-tree over the noisy cells of a grid, then fresh counts of its leaves."""
        dims, power = index.domain.dims, self._power(index.domain.dims)
        edges = [grid_edges(index.domain.side, 1 << power)] * dims
        share = budget.spend(0.5 * budget.epsilon, "cell grid", mechanism="geometric", why=DISJOINT)
        noisy, _ = geometric(noise, share, index.histogram(edges))
        tree = grid_medians(noisy.astype(np.float64), self.height, self.flatten, self.switch)
        lo, hi = edges[0][tree.lo], edges[0][tree.hi]
        leaf = is_leaf(tree.parent)
        exact = np.zeros(len(leaf), dtype=np.int64)
        exact[leaf] = index.box_counts(lo[leaf], hi[leaf])
        sums = leaf_sums(tree.parent, exact, budget, noise)
        return prune(Decomposition(lo, hi, tree.parent, *sums), self.prune)


def grid_medians(noisy: Float, height: int, flatten: int, switch: int | None) -> BoxTree:
    """A kd-tree over a grid of noisy counts: every cut balances the noisy sums of its sides.

    Boxes are in cells of the grid. Post-processing: no record is looked at.
    """
    table = np.pad(noisy, [(1, 0)] * noisy.ndim)
    for axis in range(noisy.ndim):
        table = np.cumsum(table, axis=axis)
    rounds_with_medians = flatten * (height if switch is None else switch)

    def cutter(cells: KdCells, axis: int, chosen: NDArray[np.bool_], rounds: int) -> Int:
        if rounds >= rounds_with_medians:
            return halves(cells, axis, chosen, rounds)
        lo, hi = cells.lo[chosen], cells.hi[chosen]
        sizes = hi[:, axis] - lo[:, axis] - 1
        owner = np.repeat(np.arange(len(lo)), sizes)
        starts = np.cumsum(sizes) - sizes
        cut = lo[owner, axis] + 1 + positions_within(sizes)
        left = hi[owner].copy()
        left[:, axis] = cut
        distance = np.abs(_box_sums(table, lo[owner], left) - 0.5 * _box_sums(table, lo, hi)[owner])
        best = np.flatnonzero(distance == np.minimum.reduceat(distance, starts)[owner])
        _, first = np.unique(owner[best], return_index=True)
        return np.asarray(cut[best[first]])

    cells = KdCells([np.zeros(0, np.int64)] * noisy.ndim, np.zeros(0, np.int64), len(noisy))
    return grow(cells, height, flatten, cutter)


def _box_sums(table: Float, lo: Int, hi: Int) -> Float:
    """Sums of boxes of cells from a table of prefix sums (zeros first along every axis)."""
    total = np.zeros(len(lo))
    dims = table.ndim
    for corner in range(1 << dims):
        upper = [(corner >> axis) & 1 for axis in range(dims)]
        place = tuple(np.where(up, hi[:, axis], lo[:, axis]) for axis, up in enumerate(upper))
        total += math.copysign(1, 0.5 - (dims - sum(upper)) % 2) * table[place]
    return total
