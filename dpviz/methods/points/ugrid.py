"""UG: one uniform grid, its side chosen from n and ε."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.domain import Domain
from dpviz.methods.points.base import GRIDS, PointMethod, parameter, register
from dpviz.methods.points.grid_size import checked_cells, most_cells, noisy_total, uniform_side
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, slot_counts
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import grid_tree
from dpviz.trees.lattice import Int, grid_edges


@register
@dataclass(frozen=True, kw_only=True)
class UniformGrid(PointMethod):
    """A uniform grid with m = ⌈(nε/c)^{2/(d+2)}⌉ cells per side and noisy counts.

    W. Qardaji, W. Yang, N. Li: Differentially Private Grids for Geospatial Data. ICDE 2013 (UG);
    for d dimensions: D. Su, J. Cao, N. Li, E. Bertino, H. Jin, TODAES/CODASPY 2016.

    Privacy: cells are disjoint, so one record changes one count by one (sensitivity 1). The side
    comes from a public n, or from a noisy n that costs 1 % of ε. With ``cells`` given its cells are
    slots, and it can be (ε, δ)-DP for persons of many records (:mod:`dpviz.private.slots`).

    Do not use it on skewed data with large queries: it puts equal noise everywhere.

    >>> from dpviz.methods import method
    >>> method("UG").side(1_000_000, 0.1, 2)
    100
    """

    name: ClassVar[str] = "ugrid"
    title: ClassVar[str] = "Uniform grid (UG)"
    paper: ClassVar[str] = GRIDS
    presets: ClassVar[dict[str, dict[str, object]]] = {"UG": {}}
    advice: ClassVar[str] = "Skewed data and large queries: noise adds up over empty cells."

    cells: int | None = parameter(
        None, "Cells per side; from n and ε by default", 1, 4096, optional=True, log=True
    )
    c: float = parameter(
        10.0, "Constant of the rule for the cells per side (c)", 0.1, 1000, log=True
    )
    n_public: int | None = parameter(
        None, "A public number of records; else 1 % of ε buys a noisy one", 1, 1e12, optional=True
    )

    def check(self, domain: Domain) -> None:
        """Refuse a number of cells above the public cap."""
        checked_cells(self.name, self.cells or 1, domain.dims)

    def slot_shares(self, dims: int) -> list[float]:
        """One level, its cells, if their number is public; else a noisy total is bought too."""
        return [] if self.cells is None else [1.0]

    def grid(self, domain: Domain) -> list[Int]:
        """Lattice lines of its cells, whose number is given."""
        return [grid_edges(domain.side, self.cells or 1)] * domain.dims

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        dims = index.domain.dims
        cells = self.cells
        if cells is None:
            total = noisy_total(index, budget, noise, self.n_public)
            # The noisy n is public, so cutting the side at the cap is post-processing.
            cells = min(self.side(total, budget.left, dims), most_cells(dims))
        edges = [grid_edges(index.domain.side, cells)] * dims
        share = budget.spend(budget.left, "cell counts", mechanism="geometric", why=DISJOINT)
        noisy, variance = slot_counts(noise, share, index.histogram(edges))
        return grid_tree(edges, noisy.astype(np.float64), variance)

    def side(self, n: float, epsilon: float, dims: int) -> int:
        """Cells per side for n records."""
        return uniform_side(n, epsilon, dims, self.c)
