"""Normalisation: every trip weighs one, however long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpviz.methods.roads.base import PAPER, Measured, RoadMethod, RoadTask, register
from dpviz.private.mechanisms.noise import geometric
from dpviz.private.roads import normalised_visits
from dpviz.roads.decompose import separate
from dpviz.roads.forest import consistent, flat

UNIT = 5040
"""Weight of one trip in integer steps: divisible by 1 … 10, so that short trips lose nothing."""


@register
@dataclass(frozen=True, kw_only=True)
class Normalization(RoadMethod):
    """Visits weighted by 1 / the number of edges of the trip.

    Privacy: a trip adds at most one in all (sensitivity 1), counted in whole steps of 1/5040.

    Biased: a long trip counts for less on every edge, and this is in no interval. A baseline.
    """

    name: ClassVar[str] = "normalization"
    title: ClassVar[str] = "Normalised trips"
    paper: ClassVar[str] = f"Baseline in: {PAPER}"
    advice: ClassVar[str] = "Totals are far too low where trips are long."

    def build(self, task: RoadTask) -> Measured:
        """Build the release as the class docstring describes."""
        forest = flat(separate(task.graph))
        share = task.budget.spend(
            task.budget.left,
            "normalised visits",
            mechanism="geometric",
            why="a trip's visits add up to at most 1: sensitivity 1 in L1",
        )
        exact = normalised_visits(task.trips, len(task.graph), UNIT)[forest.domains.order]
        noisy, variance = geometric(task.noise, share, exact, UNIT)
        variance = variance / UNIT**2
        return Measured(
            forest.domains, consistent(forest, noisy / UNIT, variance), variance, {"biased": True}
        )
