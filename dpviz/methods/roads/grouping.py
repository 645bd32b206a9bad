"""GS: group edges of similar counts and measure the groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.roads.base import Measured, RoadMethod, RoadTask, parameter, register
from dpviz.private.mechanisms.noise import geometric
from dpviz.private.roads import sampled_visits, truncated, visits
from dpviz.roads.decompose import Subdomains
from dpviz.roads.forest import consistent, grouped


@register
@dataclass(frozen=True, kw_only=True)
class GroupSmoothing(RoadMethod):
    """Edges sorted by a noisy sample, then noisy sums of groups, spread evenly over their edges.

    G. Kellaris, S. Papadopoulos: Practical Differential Privacy via Grouping and Smoothing. VLDB
    2013 (PVLDB 6(5)), adapted to trips.

    Privacy: one random edge per trip is a histogram of sensitivity 1, for ε/2; groups are made of
    its noisy counts. A trip cut to Δ edges moves the sums of the groups by at most Δ, for ε/2.

    Do not use it where single edges matter: a group hides the differences within it, and this bias
    is in no interval.
    """

    name: ClassVar[str] = "gs"
    title: ClassVar[str] = "Grouping and smoothing (GS)"
    paper: ClassVar[str] = (
        "G. Kellaris, S. Papadopoulos: Practical Differential Privacy via Grouping and Smoothing. "
        "PVLDB 6(5), 2013"
    )
    advice: ClassVar[str] = "Counts that differ within a group are biased towards its mean."
    tiny: ClassVar[dict[str, object]] = {"max_length": 4}

    max_length: int = parameter(
        100, "Δ: public bound on the streets of a trip; longer are cut", 1, 10_000
    )
    width: int = parameter(50, "Edges of one group", 1, 10_000)

    def build(self, task: RoadTask) -> Measured:
        """Build the release as the class docstring describes."""
        budget, noise, m = task.budget, task.noise, len(task.graph)
        cap = task.cap(self.max_length)
        trips = truncated(task.trips, cap, noise)
        half = budget.spend(
            budget.epsilon / 2,
            "one street of each trip",
            mechanism="geometric",
            why="sensitivity 1 of the histogram in L1",
        )
        sample, _ = geometric(noise, half, sampled_visits(trips, m, noise))
        order = np.argsort(sample, kind="stable")
        # Groups are sub-domains here: edges with similar counts, not paths.
        start = np.append(np.arange(0, m, self.width), m)
        forest = grouped(Subdomains(order, start), self.width)
        scale = cap
        share = budget.spend(
            budget.left,
            "sums of groups",
            mechanism="geometric",
            why=f"sensitivity {scale} of all sums together, in L1",
        )
        exact = forest.totals(visits(trips, m))
        noisy, variance = geometric(noise, share, exact, scale)
        nodes = consistent(forest, noisy, variance)
        return Measured(forest.domains, nodes, variance, {"limit": cap, "groups": True})
