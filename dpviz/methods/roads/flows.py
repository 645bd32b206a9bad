"""Streets between crossings as one flow each, with measured losses and smoothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.methods.roads.base import PAPER, Measured, RoadMethod, RoadTask, parameter, register
from dpviz.methods.roads.truncation import NoisyLengths, break_even, lengths_part
from dpviz.private.mechanisms.noise import geometric
from dpviz.private.roads import truncated, visits
from dpviz.roads.decompose import Subdomains, chains
from dpviz.roads.graph import Float
from dpviz.roads.paths import Paths
from dpviz.roads.smoothing import neighbours, smoothed
from dpviz.roads.streets import StreetCosts, street_costs, streets, use_classes
from dpviz.trees.decomposition import Decomposition

CLASSES = 3
"""Number of classes of edges by use in the workload, each with its own factor for losses."""

LENGTH_SHARE = 0.5
"""Part of the ε that an event histogram spends on lengths: losses are measured besides."""

LOSS_SHARE = 0.05
"""Share of ε for what truncation loses."""

USUAL_LOSS, LOSS_DEVIATION = 0.1, 0.15
"""Loss by truncation as a share of the visits that stay, and its standard deviation: a public
guess, to which an uncertain measured loss is shrunk."""

MAX_GROWTH = 3.0
"""Largest factor that corrects a count for losses."""

STEP_FACTOR = 2.0
"""Factor of the step from an edge to the next over (2 · trips / nodes)², the square of the mean
number of ends at a node: a public guess."""


@register
@dataclass(frozen=True, kw_only=True)
class Flows(RoadMethod):
    """One noisy count for each street between crossings, where it saves more than it hides.

    Ours, on the truncation of the paper. A trip that passes a node where only two edges meet passes
    both: their visits differ by trips that begin or end there, so that the edges of a street are
    measured as one flow. Trips are cut to L edges; what that loses is measured in few classes of
    edges and made good for by a factor each; then counts are weighed against those of neighbouring
    streets, as far as it helps the workload.

    Privacy: lengths are a histogram in which a trip is in one bin, so sensitivity 1, for ε₁. They,
    the public graph and the public workload choose L, a reach R ≥ L and the streets that get one
    count. A trip is cut to a window of R edges and in it to a window of L. It adds one to each edge
    of the inner window, and every edge is in one street or alone, so all counts together move by at
    most L, for ε₂. Edges of the outer window that are not in the inner one are at most R − L, so
    the losses by class move by at most R − L, for ε₃. ε₁ + ε₂ + ε₃ = ε by sequential composition:
    each is ε-DP whatever the noisy numbers before it were. What follows sees noisy numbers only.

    Do not use it for how the edges of one street differ: that is in no interval.
    """

    name: ClassVar[str] = "flows"
    title: ClassVar[str] = "Flows of streets between crossings"
    paper: ClassVar[str] = f"dpviz: a method of this project; truncation after: {PAPER}"
    advice: ClassVar[str] = "How segments of one street differ is hidden while the noise is larger."
    tiny: ClassVar[dict[str, object]] = {"max_length": 4}

    max_length: int = parameter(
        100, "Δ: public bound on the segments of a trip; longer are cut", 1, 10_000
    )

    def build(self, task: RoadTask) -> Measured:
        """Build the release as the class docstring describes."""
        graph, budget, noise, workload = task.graph, task.budget, task.noise, task.workload
        domains, costs = graph.cached(("streets", workload), lambda: _planned(task))
        cap = task.cap(self.max_length)
        trips = truncated(task.trips, cap, noise)
        loss = LOSS_SHARE * budget.epsilon
        together = float(costs.noise_per_street.sum()) / len(workload)
        c = break_even(len(graph), len(workload.edge) / len(workload), together)
        lengths = NoisyLengths.measure(task, trips, cap, LENGTH_SHARE * lengths_part(c))
        left = budget.left - loss
        limit = lengths.limit(left, c)
        # Beyond the reach, trips cannot be distinguished from noise.
        reach = min(max(lengths.limit(left, 0.0), limit + 1), cap)
        step = STEP_FACTOR * (2 * max(float(lengths.counts.sum()), 0.0) / len(graph.node_id)) ** 2
        forest = streets(domains, costs.worth_merging(2 * (limit / left) ** 2, step))
        outer = truncated(trips, reach, noise)
        inner = visits(truncated(outer, limit, noise), len(graph))
        use_class = use_classes(workload, len(graph), CLASSES)
        lost, lost_variance = np.zeros(CLASSES), 0.0
        if reach > limit:
            share = budget.spend(
                loss,
                "visits lost, by class of segments",
                mechanism="geometric",
                theorem=f"at most {reach - limit} segments of a trip are lost, each in one class",
            )
            beyond = visits(outer, len(graph)) - inner
            exact = np.bincount(use_class, beyond, minlength=CLASSES).astype(np.int64)
            noisy, variances = geometric(noise, share, exact, reach - limit)
            lost, lost_variance = noisy.astype(np.float64), float(variances[0])
        share = budget.spend(
            budget.left,
            "visits of streets and their segments",
            mechanism="geometric",
            theorem=f"L = {limit} segments per trip, each in one count",
        )
        noisy, variance = geometric(noise, share, forest.totals(inner), limit)

        size = (forest.hi - forest.lo).astype(np.float64)
        street = np.empty(len(graph), dtype=np.int64)
        street[domains.order] = forest.leaf_at
        retained = np.bincount(use_class, (noisy / size)[street], minlength=CLASSES).astype(
            np.float64
        )
        grown, lossy = factors(lost, lost_variance, retained)
        of_classes = grown, lossy, shrunk_deviation(lossy) / grown
        factor, unsure, off = (np.bincount(street, each[use_class]) / size for each in of_classes)
        variance = variance * factor**2
        near = graph.cached("neighbours", lambda: neighbours(graph)).between(street)
        by_street = Paths(workload.start, street[workload.edge])
        counts, smoothing = smoothed(
            noisy * factor / size,
            variance / size**2,
            near,
            by_street,
            1 / (1 + unsure),
            use_classes(by_street, len(size), CLASSES),
        )
        counts = np.maximum(counts, 0.0) * size
        nodes = Decomposition(
            forest.lo[:, None],
            forest.hi[:, None],
            forest.parent,
            counts,
            variance + (counts * off) ** 2,
        )
        extra = {
            "limit": limit,
            "reach": reach,
            "factors": [round(each, 4) for each in grown.tolist()],
            "smoothing": round(smoothing, 4),
            "groups": True,
        }
        return Measured(domains, nodes, variance, extra)


def factors(lost: Float, variance: float, visits: Float) -> tuple[Float, Float]:
    """Growth factor of the counts of each class, and its uncertainty: float64 (classes,) each.

    A factor is 1 or more; the uncertainty is one standard deviation of the share that is lost.
    ``lost`` are noisy visits that truncation loses, up to the reach, ``visits`` estimates of the
    others.
    """
    deviation = variance**0.5
    visited = np.maximum(visits, deviation + 1.0)
    unsure = np.asarray(deviation / visited)
    return np.minimum(
        1.0 + shrunk_loss(np.maximum(lost, 0.0) / visited, unsure), MAX_GROWTH
    ), unsure


def shrunk_deviation(unsure: Float) -> Float:
    """One standard deviation of a factor that is shrunk to :data:`USUAL_LOSS`."""
    return np.asarray(unsure * LOSS_DEVIATION / np.hypot(unsure, LOSS_DEVIATION))


def shrunk_loss(share: Float, unsure: Float) -> Float:
    """Loss of a class as a share of its visits, shrunk to :data:`USUAL_LOSS` by uncertainty."""
    return np.asarray(
        USUAL_LOSS + (share - USUAL_LOSS) * LOSS_DEVIATION**2 / (LOSS_DEVIATION**2 + unsure**2)
    )


def _planned(task: RoadTask) -> tuple[Subdomains, StreetCosts]:
    """Public plan, the same for every ε: cached for later releases on the same graph."""
    domains = chains(task.graph)
    return domains, street_costs(domains, task.workload)
