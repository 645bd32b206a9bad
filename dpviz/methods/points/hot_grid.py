"""Hot grid: a ladder tree that begins with a grid, for small squares where people are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpviz.methods.points.base import parameter, register
from dpviz.methods.points.cell_tree import rate_variances
from dpviz.methods.points.ladder_tree import LadderTree
from dpviz.private.budget import DISJOINT
from dpviz.private.mechanisms.noise import geometric
from dpviz.trees.consistency import downward, least_squares, upward
from dpviz.trees.density import refine
from dpviz.trees.shrinkage import nonnegative

if TYPE_CHECKING:
    from dpviz.methods.points.cell_tree import CellTree
    from dpviz.private.budget import Budget
    from dpviz.private.index import PointIndex
    from dpviz.private.mechanisms.noise import Noise
    from dpviz.trees.decomposition import Decomposition
    from dpviz.trees.lattice import Float

FINEST_LOOK = 8
"""The first level that is looked at, at most: 4^8 cells."""

DOUBT = 1.0
"""Slopes see counts that are so many standard deviations of their noise higher."""


@register
@dataclass(frozen=True, kw_only=True)
class HotGrid(LadderTree):
    """A grid whose cells are divided as a ladder tree divides them; for small squares.

    Ours. Who asks for small squares where people are needs no count of half a country, so nothing
    is measured between the domain and a level of about one cell per 1/ε records: 1 % of ε buys a
    noisy n, and all cells of level ½ log₂(nε), 2 to 8, are looked at for the share ``first`` of the
    rest. From there on every cell goes on as a node of the ladder tree: it looks again while it is
    in doubt, stops with all that its path has left, or splits. Where people are many and close
    together it goes as deep as they deserve; elsewhere it stays a grid.

    Below the size that is asked for, many leaves make one answer. With m = ``side``·2^j leaves of
    level j along its side, their noise has a deviation in proportion to m, and what is wrong at its
    edge one in proportion to √m times a leaf's count: so a leaf is to hold more there, c·√m records
    for m > 1. The rule is public.

    A look that decides is an estimate as well, and what went on was too high: so inside a block of
    8 × 8 cells of the first level least squares takes all that was measured, but what a block holds
    is the sum of its leaves, as nearly without bias as these are; large sums add blocks.

    Nothing is cut at zero, as in a flat grid: what that adds to empty cells it would take from full
    ones beside them, and those are asked for. Slopes are gentler where noise is large.

    Privacy: each record is in the domain, which costs 0.01ε, and in one cell of the first level;
    the cells of that level are disjoint, and which level it is follows from the noisy n. Inside a
    cell the theorem of the ladder tree holds word for word, with what is left of ε in place of ε:
    the rates of every path add up to at most that, exactly, for every transcript. The two prices
    add up to ε (sequential composition). All later steps are post-processing.

    Do not use it for large rectangles: it measures nothing above its first level, and their noise
    adds up.

    >>> from dpviz.methods import method
    >>> method("hot_grid").level(250_000, 0.1)
    7
    """

    name: ClassVar[str] = "hot_grid"
    title: ClassVar[str] = "Hot grid (ours)"
    dims: ClassVar[tuple[int, ...]] = (2,)
    advice: ClassVar[str] = "Large rectangles: the noise of thousands of leaves adds up."

    shrink: bool = parameter(False, "Non-negative counts inside the totals of blocks")
    first: float = parameter(0.1, "Share of ε of the first look at each cell", 0.001, 0.9)
    kappa: float = parameter(1.0, "κ: and so many standard deviations of its noise more", 0, 10)
    side: float = parameter(
        0.0045, "Typical side of the squares asked for, as a share of the domain's", 1e-4, 1
    )

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """See the class."""
        share = budget.spend(
            0.01 * budget.epsilon, "record count", mechanism="geometric", why=DISJOINT
        )
        total, spread = geometric(noise, share, [index.total])
        level = self.level(float(total[0]), budget.epsilon)
        share = budget.spend(
            budget.left,
            "measured path",
            mechanism="nested geometric",
            theorem="ladder (docstring): the rates of a path add up to what is left of ε",
        )
        tree, noisy, paid, _ = self.grown(index, share, noise, level)
        variance = rate_variances(paid)
        noisy[0], variance[0] = total[0], spread[0]
        return self.finish(tree, noisy, variance)

    def finish(
        self, tree: CellTree, noisy: Float, variance: Float, limit: Float | None = None
    ) -> Decomposition:
        """Estimates inside the totals of blocks, with the variances of the leaves alone."""
        parent = tree.parent
        leaf = np.ones(len(parent), dtype=np.bool_)
        leaf[parent[1:]] = False
        alone = np.where(leaf, variance, np.inf)
        alone[0] = variance[0]
        count, spread = least_squares(parent, noisy, alone)
        block = tree.depth <= self.blocks(int(tree.depth[leaf].min()))
        wanted, weight = upward(parent, noisy, variance)
        wanted = np.where(block, count, wanted)
        if self.shrink:
            count = nonnegative(parent, wanted, weight)
        else:
            count, _ = downward(parent, wanted, weight)
        nodes = tree.decomposition(count, spread)
        return refine(nodes, DOUBT) if self.slopes else nodes

    def blocks(self, level: int) -> int:
        """The level of the blocks whose totals stay, of the first level that is looked at."""
        return max(level - 3, 0)

    def level(self, total: float, epsilon: float) -> int:
        """The first level that is looked at, ⌊½ log₂(nε)⌋, 2 to 8."""
        return min(max(2, math.floor(0.5 * math.log2(max(total * epsilon, 1.0)))), FINEST_LOOK)

    def at(self, dims: int, depth: int) -> LadderTree:
        """A leaf is to hold more where many make one answer."""
        return replace(self, c=min(self.c * math.sqrt(max(1.0, self.side * 2.0**depth)), 50.0))
