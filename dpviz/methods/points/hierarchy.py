"""HB: a hierarchy of grids with the branching factor that suits their side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.domain import Domain
from dpviz.methods.points.base import PointMethod, parameter, register
from dpviz.methods.points.grid_size import checked_cells, most_cells, noisy_total, uniform_side
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.trees.consistency import least_squares
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.grid import breadth_first, renumbered
from dpviz.trees.lattice import Int, grid_edges


@register
@dataclass(frozen=True, kw_only=True)
class Hierarchy(PointMethod):
    """Grids of b, b², … , n cells per side, all measured, made consistent by least squares.

    W. Qardaji, W. Yang, N. Li: Understanding Hierarchical Methods for Differentially Private
    Histograms. PVLDB 6(14), 2013 (HB; "Hierarchy" in the PrivTree paper).

    Privacy: the cells of a level are disjoint; h levels with ε/h each add up to ε. The root is not
    measured. b minimises b(n−1)h² with h = ⌈log_b n⌉ and depends on the side only, which is public
    or comes from a noisy n that costs 1 % of ε. Where b^h > n the last levels' blocks hold one cell
    more or less, so that all of them are real.

    Do not use it on skewed data at small ε: empty regions cost as much noise as full ones.

    >>> from dpviz.methods import method
    >>> [method("HB").branching(n) for n in (16, 100, 1024)]
    [(4, 2), (10, 2), (6, 4)]
    """

    name: ClassVar[str] = "hierarchy"
    title: ClassVar[str] = "Hierarchical grids (HB)"
    paper: ClassVar[str] = (
        "W. Qardaji, W. Yang, N. Li: Understanding Hierarchical Methods for Differentially Private "
        "Histograms. PVLDB 6(14), 2013"
    )
    dims: ClassVar[tuple[int, ...]] = (2,)
    presets: ClassVar[dict[str, dict[str, object]]] = {"HB": {}}
    advice: ClassVar[str] = "Skewed data at a small epsilon; more than two dimensions."

    cells: int | None = parameter(
        None, "Cells per side of the finest grid; from n and ε by default", 2, 2000, optional=True
    )
    n_public: int | None = parameter(
        None, "A public number of records; else 1 % of ε buys a noisy one", 1, 1e12, optional=True
    )

    def check(self, domain: Domain) -> None:
        """Refuse a number of cells above the public cap."""
        checked_cells(self.name, self.cells or 2, domain.dims)

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        n = self.cells
        if n is None:
            total = noisy_total(index, budget, noise, self.n_public)
            n = min(max(2, uniform_side(total, budget.left, 2)), most_cells(2))
        b, h = self.branching(n)
        shares = budget.split(
            [1.0] * h,
            [f"level {level}" for level in range(1, h + 1)],
            mechanism="geometric",
            why=DISJOINT,
        )
        # Lines of level l in cells: ⌊k·n/b^l⌋ for every k: each level contains the lines above it.
        lines = [np.unique(np.arange(b**level + 1) * n // b**level) for level in range(h)]
        lines.append(np.arange(n + 1))
        steps = grid_edges(index.domain.side, n)
        exact = index.histogram([steps, steps])
        columns: list[tuple[Int, Int, Int]] = []
        noisy, variance = [np.zeros(1)], [np.full(1, np.inf)]
        start = 0
        for level, line in enumerate(lines):
            lo, hi = _boxes(line)
            parent = np.full(len(lo), -1)
            if level:
                above = np.searchsorted(lines[level - 1], line[:-1], side="right") - 1
                width = len(lines[level - 1]) - 1
                parent = start + (above[:, None] * width + above).ravel()
                start += width * width
                sums = np.add.reduceat(np.add.reduceat(exact, line[:-1], 0), line[:-1], 1)
                measured, spread = geometric(noise, shares[level - 1], sums.ravel())
                noisy.append(measured.astype(np.float64))
                variance.append(spread)
            columns.append((lo, hi, parent))
        lo, hi, parent = (np.concatenate(column) for column in zip(*columns, strict=True))
        order = breadth_first(parent)
        parent = renumbered(parent, order)
        count, spread = least_squares(
            parent, np.concatenate(noisy)[order], np.concatenate(variance)[order]
        )
        return Decomposition(steps[lo[order]], steps[hi[order]], parent, count, spread)

    def branching(self, n: int) -> tuple[int, int]:
        """The branching factor b per axis with the least b(n−1)h², and the height h = ⌈log_b n⌉."""
        return min(
            ((b, _height(n, b)) for b in range(2, n + 1)),
            key=lambda pair: pair[0] * (n - 1) * pair[1] ** 2,
        )


def _height(n: int, b: int) -> int:
    """⌈log_b n⌉ in integers."""
    height = max(1, math.floor(math.log(n, b)) - 1)
    while b**height < n:
        height += 1
    return height


def _boxes(line: Int) -> tuple[Int, Int]:
    """The cells of a square grid with these lines per axis, row by row."""
    rows = np.indices((len(line) - 1, len(line) - 1)).reshape(2, -1).T
    return line[rows], line[rows + 1]
