"""Hot grid: a ladder tree that begins with a grid, for small squares where people are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpviz.methods.points.base import parameter, register
from dpviz.methods.points.cell_tree import CellTree, rate_variances
from dpviz.methods.points.ladder_tree import Ladder
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.index import PointIndex
from dpviz.private.mechanisms.noise import Noise, geometric
from dpviz.trees.consistency import downward, upward
from dpviz.trees.decomposition import Decomposition, is_leaf
from dpviz.trees.guided import level_fits
from dpviz.trees.lattice import Float
from dpviz.trees.shrinkage import Decisions, subtree_estimates

FINEST_LOOK = 9
"""Finest possible first level: 4^9 cells."""

CANDIDATE_LEVELS = 8
"""Most candidates for the first level: three questions find it."""

QUESTION_SHARE = 0.01
"""Share of ε of each question, and of the record count."""

FULL_FACTOR = 5.5
"""A cell of the first level is full from this many times 1/ε records."""

MAX_FULL = 1 << 31
"""Upper limit of that threshold, so that the square of a count does not overflow."""

SLOPE_OFFSET = 1.0
"""Slopes are computed as if counts were this many standard deviations of noise higher."""

BLOCK_LEVELS = 3
"""Levels from a block, whose total has no selection bias, down to the first level."""

# Tuned on built-in and real sets: assets/docs/results/ours.md, "The hot grid".
RESERVE_LEVELS = 0.3
"""r: number of further levels that budget is saved for, beyond the expected ones."""

KAPPA = 1.5
"""κ: a cell also stops up to this many standard deviations of its noise above c."""

FIRST_SHARE = 0.3
"""Share of ε of the first look at each cell."""

FURTHER_LOOKS = 0
"""K: further looks at most."""


@register
@dataclass(frozen=True, kw_only=True)
class HotGrid(Ladder):
    """A grid whose cells are divided as a ladder tree divides them; for small squares.

    Ours. Queries of small, populated squares need no count of half a country, so nothing is
    measured between the domain and a first level, near that of the best flat grid. The first level
    depends on how close together the records lie: it is the finest at which half of them lie in
    cells with at least ``FULL_FACTOR``/ε records. Bisection asks at most three levels, for 1 % of ε
    each, and a noisy n costs 1 %: a level d counts if Σ g(w) + noise ≥ n/2 + 2/(0.01ε). A cell of w
    records adds g(w) = ⌊w²/T⌋, but w from T = ⌈FULL_FACTOR/ε·max(1, m)^1.5⌉ on; m = ``side``·2^d
    cells lie along a square's side. (Cells that are too fine cannot be merged later, and their
    noise grows with m: hence the factor.) All cells of that level are measured with the share
    ``FIRST_SHARE`` of the remaining budget. From there on every cell is a node of the ladder tree:
    it stops, with all of its path's unspent budget, as if not measured before, or splits. Dense
    cells are split deep; elsewhere the tree stays a grid.

    Leaves smaller than the query size are added up in an answer. With m leaves along its side,
    the standard deviation of their noise is proportional to m, and that of the error at its edge to
    √m times a leaf's count: so the stopping threshold is higher there, c·√m for m > 1. The rule is
    public.

    A look is used for the decision and for the estimate, and looks of cells that split are biased
    upwards. So inside a block of 8 × 8 cells of the first level least squares uses all
    measurements. For the total of a block, the look of a cell that split gets no more weight than
    if the cell had stopped (:func:`~dpviz.trees.shrinkage.subtree_estimates`): nearly
    unbiased; large sums add blocks.

    As in a flat grid, counts are not cut at zero: that would raise empty cells at the cost of full
    cells beside them, which are the ones queried. Slopes are gentler if noise is large.

    With a public prior (:func:`dpviz.prior`) leaves share their records out as it says, on levels
    where noisy families agree with it (:mod:`dpviz.trees.guided`): post-processing, and free.

    Privacy: each record is in the domain, which costs 0.01ε. It is in one cell of every level, and
    one record more moves that cell's g by at most 2: up to T by the difference of ⌊(w + 1)²/T⌋ and
    ⌊w²/T⌋, whose arguments differ by (2w + 1)/T < 2 as w < T, and above T by 1. So the geometric
    mechanism with sensitivity 2 answers each question for 0.01ε; which level is asked next is a
    function of earlier answers, and there are at most three questions, each paid for when it is
    asked (adaptive composition). The cells of the level that is found are disjoint. Inside a cell
    the theorem of the ladder tree holds word for word, with the unspent ε in place of ε: the
    rates of every path add up to at most that, exactly, for every transcript. The prices add up to
    ε (sequential composition). All later steps are post-processing.

    Do not use it for large rectangles: it measures nothing above its first level, so that the noise
    of cells adds up.

    >>> from dpviz.methods import method
    >>> method("hot_grid").coarsest(250_000, 0.1)
    6
    """

    name: ClassVar[str] = "hot_grid"
    title: ClassVar[str] = "Hot grid"
    dims: ClassVar[tuple[int, ...]] = (2,)
    advice: ClassVar[str] = "Large rectangles: the noise of thousands of leaves adds up."

    c: float = parameter(
        3.0, "Split a cell only if its count is above this many times its noise", 0.5, 50
    )
    side: float = parameter(
        0.0045, "Typical side of the squares asked for, as a share of the domain's", 1e-4, 1
    )

    reserve: float = RESERVE_LEVELS
    kappa: float = KAPPA
    first: float = FIRST_SHARE
    looks: int = FURTHER_LOOKS

    def build(self, index: PointIndex, budget: Budget, noise: Noise) -> Decomposition:
        """Build the decomposition as the class docstring describes."""
        price = QUESTION_SHARE * budget.epsilon
        share = budget.spend(price, "record count", mechanism="geometric", why=DISJOINT)
        total, spread = geometric(noise, share, [index.total])
        level = self.first_level(index, budget, noise, float(total[0]))
        share = budget.spend(
            budget.left,
            "measured path",
            mechanism="nested geometric",
            theorem="theorem of the ladder tree: the rates of a path add up to what is left of ε",
        )
        blind = replace(self, prior=None)  # nothing that is measured depends on the prior
        tree, noisy, paid, doubts = blind.grow(index, share, noise, level)
        variance = rate_variances(paid)
        noisy[0], variance[0] = total[0], spread[0]
        return self.finish(tree, noisy, variance, doubts)

    def finish(
        self, tree: CellTree, noisy: Float, variance: Float, doubts: Decisions
    ) -> Decomposition:
        """Estimate counts inside block totals, which are free of selection bias."""
        parent = tree.parent
        first = int(tree.depth[is_leaf(parent)].min())
        count, spread = downward(parent, *subtree_estimates(parent, noisy, variance, doubts, 1))
        block = tree.depth <= max(first - BLOCK_LEVELS, 0)
        wanted, weight = upward(parent, noisy, variance)
        count, _ = downward(parent, np.where(block, count, wanted), weight)
        nodes = tree.decomposition(count, spread)
        fits = level_fits(nodes, (wanted, weight), self.prior)[0] if self.prior is not None else []
        return self.detailed(nodes, fits, SLOPE_OFFSET)

    def first_level(self, index: PointIndex, budget: Budget, noise: Noise, total: float) -> int:
        """First measured level, found by a private bisection: see the class.

        ``total``: noisy number of records.
        """
        epsilon, price = budget.epsilon, QUESTION_SHARE * budget.epsilon
        low = self.coarsest(total, epsilon)
        high = min(low + CANDIDATE_LEVELS - 1, FINEST_LOOK, self.cap(CellTree(index, 2)))
        while low < high:
            level = (low + high + 1) // 2
            share = budget.spend(
                price,
                f"records in full cells of level {level}",
                mechanism="geometric",
                why="a record is in one cell and moves what it adds by at most 2",
            )
            full = min(math.ceil(FULL_FACTOR / epsilon * self.crowd(level) ** 3), MAX_FULL)
            seen, _ = geometric(noise, share, [in_full_cells(index, level, full)], 2)
            # One noise scale is added, so that an uncertain case gets the coarser level.
            if seen[0] >= total / 2 + 2 / price:
                low = level
            else:
                high = level - 1
        return low

    def coarsest(self, total: float, epsilon: float) -> int:
        """Coarsest first level, ⌊½ log₂(nε)⌋ − 1, 2 to 9: best if records are spread evenly."""
        even = math.floor(0.5 * math.log2(max(total * epsilon, 1.0))) - 1
        return min(max(2, even), FINEST_LOOK)

    def crowd(self, depth: int) -> float:
        """√m, at least 1, for m leaves of a level along the side of a square."""
        return math.sqrt(max(1.0, self.side * 2.0**depth))

    def at(self, dims: int, depth: int) -> Ladder:
        """Method with a higher threshold for levels where a query covers many leaves."""
        return replace(self, c=min(self.c * self.crowd(depth), 50.0))


def in_full_cells(index: PointIndex, level: int, full: int) -> int:
    """Sum over the 4^level cells: w records if w ≥ ``full``, else ⌊w²/full⌋; private.

    One record more or less moves it by at most 2, for ``full`` from 1 to 2^31.
    """
    cells = index.codes >> np.uint64(2 * (index.domain.bits - level))
    last = np.append(cells[1:] != cells[:-1], True)[: len(cells)]
    records = np.diff(index.cumulative[1:][last], prepend=0)
    capped = np.minimum(records, full)
    return int(np.where(records < full, capped * capped // full, records).sum())
