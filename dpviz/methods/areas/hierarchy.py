"""Counts of every area of a public hierarchy, made to add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from dpviz.domain.attributes import Values
from dpviz.methods.areas.base import AreaMethod, parameter, register
from dpviz.private.budget import DISJOINT, SUMS, Budget, Share, clip_words
from dpviz.private.mechanisms.noise import Noise, geometric, slot_counts
from dpviz.releases.areas.partition import Areas
from dpviz.trees.consistency import least_squares
from dpviz.trees.lattice import Float, Int
from dpviz.trees.wholes import exact_sums, whole_numbers

DISJOINT_PARTS = "disjoint cells (area, step, category), sensitivity 1"
"""Reason why one level of all steps and kinds costs its share once: a record is in one cell."""


@register
@dataclass(frozen=True, kw_only=True)
class AreaCounts(AreaMethod):
    """Noisy counts of districts or hexagons on every level of their hierarchy, which add up.

    M. Hay, V. Rastogi, G. Miklau, D. Suciu: Boosting the Accuracy of Differentially Private
    Histograms Through Consistency. VLDB 2010; the shares after G. Cormode, C. Procopiuc, D.
    Srivastava, E. Shen, T. Yu: Differentially Private Spatial Decompositions. ICDE 2012, §4.

    Privacy: the areas are public, and one record is in at most one area of a level, whose counts
    it moves by one; so a level costs its share, and the shares add up to ε. With steps of time or
    kinds a record is in one step and of one kind too, so the counts of a level in all of them are
    disjoint cells: the price is the same. Least squares, the grid of exact sums and whole numbers
    are post-processing.

    A level's share is in proportion to the cube root of its number of areas: that makes the sum of
    all areas' noise variances least, Σ n/ε² for shares that add up. It is the geometric budget of
    the paper, whose levels grow by one factor, for levels that grow as districts do.

    Sums of values are whole numbers, in steps of their grid. *Theorem: at ε per person, with up to
    K records of each and values of up to B steps, counts and sums together are ε-DP.* On each level
    one record moves one count by one and one sum by at most B, so the vector of sums has
    ℓ₁-sensitivity B, and two-sided geometric noise of rate e/B costs e. The shares e of all levels,
    of counts and of sums, add up to ε/K for one record; K records are K steps (group privacy). The
    noise of a sum so has the scale K·B/e′, where e′ = K·e is the person's ε for the level. Sums are
    made to add up by least squares as counts are, and stay numbers below zero where noise is.

    At (ε, δ) for persons of many records a slot is a finest area in a step and of a kind; a person
    moves a larger area by up to K, so that only the finest ones are measured and the others are
    their sums (:mod:`dpviz.private.slots`).

    Do not use it for queries that are not its areas: the app's trees follow the data, not borders.

    >>> from dpviz.methods import method
    >>> [round(share, 3) for share in method("areas").weights([1, 8, 1000])]
    [1.0, 2.0, 10.0]
    """

    name: ClassVar[str] = "areas"
    title: ClassVar[str] = "Counts of areas that add up"
    paper: ClassVar[str] = (
        "M. Hay, V. Rastogi, G. Miklau, D. Suciu: Boosting the Accuracy of Differentially Private "
        "Histograms Through Consistency. VLDB 2010"
    )
    advice: ClassVar[str] = "Rectangles and shapes that are not unions of its areas."

    budget: str = parameter(
        "geometric",
        "How ε is shared among levels: by the cube root of their areas, or equally",
        choices=("geometric", "uniform"),
    )
    whole: bool = parameter(
        False, "Whole counts from 0 that still add up; small areas get a bias upwards"
    )

    def slot_shares(self, dims: int) -> list[float]:
        """One level: with Gaussian noise only the finest areas are measured, others are sums."""
        return [1.0]

    def weights(self, sizes: list[int]) -> list[float]:
        """Relative shares of levels by their numbers of areas, coarsest first."""
        return [float(np.cbrt(size)) if self.budget == "geometric" else 1.0 for size in sizes]

    def build(self, areas: Areas, counts: Int, budget: Budget, noise: Noise) -> tuple[Float, Float]:
        """Build the release as the class docstring describes."""
        levels = areas.levels[-1:] if budget.one_draw else areas.levels
        shares = budget.split(
            self.weights(areas.sizes[-len(levels) :]),
            [f"level {name}" for name in levels],
            mechanism="geometric",
            why=DISJOINT if counts.ndim == 1 else DISJOINT_PARTS,
        )
        rounded = whole_numbers if self.whole else exact_sums
        return consistent(areas, counts, shares, partial(slot_counts, noise), rounded)

    def build_sums(
        self, areas: Areas, sums: Int, values: Values, budget: Budget, noise: Noise, share: float
    ) -> tuple[Float, Float]:
        """Build sums as the class docstring describes, with a share of the budget."""
        shares = budget.split(
            self.weights(areas.sizes),
            [f"{SUMS}, level {name}" for name in areas.levels],
            part=share,
            mechanism="geometric",
            why=clip_words(values),
        )

        def noisy(each: Share, exact: Int) -> tuple[Int, Float]:
            return geometric(noise, each, exact, values.reach)

        steps, variance = consistent(areas, sums, shares, noisy, exact_sums)
        return steps * values.grid, variance * values.grid**2

    def least_part(self, areas: Areas) -> float:
        """The smallest level's part."""
        weights = self.weights(areas.sizes)
        return min(weights) / math.fsum(weights)


def consistent(
    areas: Areas,
    leaves: Int,
    shares: Sequence[Share],
    noisy: Callable[[Share, Int], tuple[Int | Float, Float]],
    rounded: Callable[[Int, Float], Float],
) -> tuple[Float, Float]:
    """Estimates of all areas in all parts that add up, and the variance of each area's, (n,).

    Args:
        leaves: exact numbers of its finest areas, (leaves,) or (parts, leaves).
        shares: one for each measured level, of which the finest is the last.
        noisy: the mechanism: a share and exact numbers to noisy ones and their variances.
        rounded: parents and estimates to estimates that add up exactly.
    """
    exact = areas.totals(leaves)
    values, variance = np.zeros(exact.shape), np.full(exact.shape, np.inf)
    for part, share in zip(areas.slices[-len(shares) :], shares, strict=True):
        values[..., part], variance[..., part] = noisy(share, exact[..., part])
    parent, place = joined_trees(areas, math.prod(leaves.shape[:-1]))
    flat, loads = np.empty(place.size), np.empty(place.size)
    flat[place], loads[place] = values.reshape(place.shape), variance.reshape(place.shape)
    estimate, spread = least_squares(parent, flat, loads)
    return rounded(parent, estimate)[place].reshape(exact.shape), spread[place[0]]


def joined_trees(areas: Areas, parts: int) -> tuple[Int, Int]:
    """The trees of several parts as one breadth-first forest.

    Returns its parents, int64 (parts · n,), and the row in it of each area of each part (parts, n).
    """
    place = np.empty((parts, len(areas)), dtype=np.int64)
    for part in areas.slices:
        size = part.stop - part.start
        place[:, part] = parts * part.start + np.arange(parts * size).reshape(parts, size)
    parent = np.empty(place.size, dtype=np.int64)
    above = np.where(areas.parent < 0, -1, place[:, areas.parent])
    parent[place] = above
    return parent, place
