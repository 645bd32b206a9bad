"""Counts of every area of a public hierarchy, made to add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.areas.base import AreaMethod, parameter, register
from dpviz.private.budget import DISJOINT, Budget
from dpviz.private.mechanisms.noise import Noise, slot_counts
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
        False, "Whole numbers from 0 that still add up; small areas get a bias upwards"
    )

    @property
    def counts_slots(self) -> bool:
        """True: with Gaussian noise only the finest areas are measured; others are their sums."""
        return True

    def weights(self, sizes: list[int]) -> list[float]:
        """Relative shares of levels by their numbers of areas, coarsest first."""
        return [float(np.cbrt(size)) if self.budget == "geometric" else 1.0 for size in sizes]

    def build(self, areas: Areas, counts: Int, budget: Budget, noise: Noise) -> tuple[Float, Float]:
        """Build the release as the class docstring describes."""
        exact = areas.totals(counts)
        noisy, variance = np.zeros(exact.shape), np.full(exact.shape, np.inf)
        levels = list(zip(areas.slices, areas.levels, strict=True))
        levels = levels[-1:] if budget.one_draw else levels
        cells = DISJOINT if counts.ndim == 1 else DISJOINT_PARTS
        shares = budget.split(
            self.weights([part.stop - part.start for part, _ in levels]),
            [f"level {name}" for _, name in levels],
            mechanism="geometric",
            why=cells,
        )
        for (part, _), share in zip(levels, shares, strict=True):
            noisy[..., part], variance[..., part] = slot_counts(noise, share, exact[..., part])
        parent, place = joined_trees(areas, math.prod(counts.shape[:-1]))
        flat, loads = np.empty(place.size), np.empty(place.size)
        flat[place], loads[place] = noisy.reshape(place.shape), variance.reshape(place.shape)
        estimate, spread = least_squares(parent, flat, loads)
        rounded = whole_numbers if self.whole else exact_sums
        return rounded(parent, estimate)[place].reshape(exact.shape), spread[place[0]]


def joined_trees(areas: Areas, parts: int) -> tuple[Int, Int]:
    """The trees of several parts as one breadth-first forest.

    Returns:
        Its parents, int64 (parts · n,), and the row in it of each area of each part (parts, n).
    """
    place = np.empty((parts, len(areas)), dtype=np.int64)
    for part in areas.slices:
        size = part.stop - part.start
        place[:, part] = parts * part.start + np.arange(parts * size).reshape(parts, size)
    parent = np.empty(place.size, dtype=np.int64)
    above = np.where(areas.parent < 0, -1, place[:, areas.parent])
    parent[place] = above
    return parent, place
