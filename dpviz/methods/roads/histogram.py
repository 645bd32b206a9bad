"""The three-step framework of the paper: truncate the trips, cut the graph, measure trees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.errors import ParameterError
from dpviz.methods.roads.base import PAPER, Measured, RoadMethod, RoadTask, parameter, register
from dpviz.methods.roads.truncation import (
    NoisyLengths,
    break_even,
    length_share,
    lengths_part,
    paper_length,
    private_quantile,
    retained_share,
)
from dpviz.private.mechanisms.noise import geometric
from dpviz.private.roads import truncated, visits
from dpviz.roads import trees
from dpviz.roads.decompose import Subdomains, min_cut, random_pairs, separate
from dpviz.roads.forest import Forest, consistent, flat
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths
from dpviz.roads.prepared import prepared_plan

QUANTILE_SHARE = 0.05
"""Part of ε for a private quantile of the lengths, as in the paper."""

DECOMPOSITIONS: dict[str, Callable[[RoadGraph, Paths], Subdomains]] = {
    "min": min_cut,
    "random": lambda graph, _: random_pairs(graph),
    "edges": lambda graph, _: separate(graph),
}
"""Sub-domains, from the public graph and workload."""

INDEXES: dict[str, Callable[[Subdomains, Paths], Forest]] = {
    "best": trees.best,
    "opt": trees.optimised,
    "boost": lambda domains, _: trees.boost(domains),
    "hm": trees.weighted_binary,
    "flat": lambda domains, _: flat(domains),
}
"""Trees over them, for the workload."""

STEPS: dict[str, dict[str, Any]] = {
    "tru": {"truncation": "workload"},
    "min": {"decomposition": "min"},
    "random": {"decomposition": "random"},
    "opt": {"index": "opt"},
    "best": {"index": "best"},
    "boost": {"index": "boost"},
    "hm": {"index": "hm"},
}
"""Words of combined names, one for each step; a step that is not named is left out."""


@register
@dataclass(frozen=True, kw_only=True)
class EventHistogram(RoadMethod):
    """Noisy visits of every edge, after truncation, on trees over path sub-domains.

    Privacy: a trip cut to L edges moves at most L edge counts by one. A node of a tree is noised
    with scale s·L/ε₂ (discrete Laplace), and Σ 1/s along every root path is at most 1, which
    :class:`dpviz.roads.forest.Forest` asserts; so each visited edge costs at most ε₂/L and the
    trip ε₂. Decomposition, trees, bins of lengths, ε₁ and ε₂ see only the public graph and
    workload. L costs ε₁: a trip is in one bin of lengths, so that adding or removing it changes one
    of these counts by one, and with noise of scale 1/ε₁ all of them are ε₁-DP; L is a function of
    the noisy counts and of public numbers (post-processing). A trip is cut at random by itself,
    and whatever L is, the counts are ε₂-DP; so both together are (ε₁ + ε₂)-DP by adaptive
    composition. A quantile is an exponential mechanism, of its own ε.

    Do not use trees for short queries: a tree of height H pays H times the noise on every edge.
    """

    name: ClassVar[str] = "event-histogram"
    title: ClassVar[str] = "Event histogram"
    paper: ClassVar[str] = PAPER
    advice: ClassVar[str] = "ε near 0.01: the noise exceeds the answers, whatever the setting."
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "dwork": {"truncation": "off", "decomposition": "edges", "index": "flat"},
        "basic": {"truncation": "workload", "decomposition": "edges", "index": "flat"},
        "basic-paper": {"truncation": "paper", "decomposition": "edges", "index": "flat"},
        "random": {"truncation": "workload", "decomposition": "random", "index": "opt"},
        "boost": {"truncation": "workload", "decomposition": "min", "index": "boost"},
        "freqitem": {
            "truncation": "quantile",
            "pick": "random",
            "decomposition": "edges",
            "index": "flat",
        },
        "ngram_truncation": {
            "truncation": "fixed",
            "limit": 20,
            "decomposition": "edges",
            "index": "flat",
        },
        "hm": {"truncation": "off", "decomposition": "min", "index": "hm"},
    }
    tiny: ClassVar[dict[str, object]] = {"max_length": 4}

    truncation: str = parameter(
        "workload",
        "How L is chosen: noisy lengths and the workload, the paper's bound, a private quantile, "
        "a fixed limit, or off (L = Δ)",
        choices=("workload", "paper", "quantile", "fixed", "off"),
    )
    max_length: int = parameter(
        100, "Δ: public bound on the streets of a trip; longer are cut", 1, 10_000
    )
    limit: int = parameter(20, "L where truncation=fixed: streets kept of one trip", 1, 10_000)
    quantile: float = parameter(
        0.85, "Quantile of the lengths where truncation=quantile", 0.01, 0.999
    )
    pick: str = parameter(
        "window", "What is kept of a long trip: a window, or streets", choices=("window", "random")
    )
    decomposition: str = parameter(
        "min",
        "Sub-domains: min-cut for the workload, random pairs, or every street on its own",
        choices=tuple(DECOMPOSITIONS),
    )
    index: str = parameter(
        "best",
        "Trees: per path the best for the workload, the paper's search, uniform, weighted levels, "
        "or flat",
        choices=tuple(INDEXES),
    )

    @classmethod
    def preset(cls, name: str) -> dict[str, Any] | None:
        """Also combinations, in any order: ``min+opt+tru`` is min-cut, paper's trees, truncation.

        Raises ParameterError: an unknown word in a combination, or two for the same step.
        """
        if "+" not in name:
            return super().preset(name)
        chosen: dict[str, Any] = {}
        for word in (step.strip().lower() for step in name.split("+")):
            if word not in STEPS:
                raise ParameterError(
                    f"unknown part {word!r} of road method {name!r}: use {', '.join(STEPS)}"
                )
            (step, value), *_ = STEPS[word].items()
            if step in chosen:
                raise ParameterError(
                    f"road method {name!r} names {step} twice: keep {chosen[step]} or {value}"
                )
            chosen[step] = value
        return {"truncation": "off", "decomposition": "min", "index": "flat", **chosen}

    def build(self, task: RoadTask) -> Measured:
        """Build the release as the class docstring describes."""
        graph, budget, noise = task.graph, task.budget, task.noise
        forest = self.forest(task)
        extra: dict[str, Any] = {}
        cap = task.cap(self.max_length)
        trips = truncated(task.trips, cap, noise, self.pick)
        limit = cap
        if self.truncation == "fixed":
            limit = min(self.limit, cap)
        elif self.truncation == "quantile" and cap > 1:
            limit = self._quantile(task, cap)
        elif self.truncation in {"workload", "paper"} and cap > 1:
            limit = self._from_lengths(task, forest, trips, cap, extra)
        counts = forest.totals(visits(truncated(trips, limit, noise, self.pick), len(graph)))
        share = budget.spend(
            budget.left,
            "visits of streets and tree nodes",
            mechanism="geometric",
            theorem=f"L = {limit} streets per trip, Σ 1/s ≤ 1 on every root path",
        )
        estimate, variance = np.empty(len(forest)), np.empty(len(forest))
        for relative_scale in np.unique(forest.relative_scale):
            part = forest.relative_scale == relative_scale
            scale = math.nextafter(limit * float(relative_scale), math.inf)
            estimate[part], variance[part] = geometric(noise, share, counts[part], scale)
        extra["limit"] = limit
        nodes = consistent(forest, estimate, variance)
        return Measured(forest.domains, nodes, variance, extra)

    def forest(self, task: RoadTask) -> Forest:
        """The trees: a function of the public graph and workload alone."""
        if task.progress is not None:
            task.progress(0.0, "cutting the graph and choosing trees")
        chosen = (task.graph, task.workload, self.decomposition, self.index)
        return task.graph.cached(chosen[1:], lambda: _planned(*chosen))

    def _from_lengths(
        self, task: RoadTask, forest: Forest, trips: Paths, cap: int, extra: dict[str, Any]
    ) -> int:
        """L from noisy lengths, which the release states."""
        graph, workload, budget = task.graph, task.workload, task.budget
        if self.truncation == "paper":
            lengths = NoisyLengths.measure(task, trips, cap, length_share(cap, len(graph)), 1.0)
            limit = paper_length(lengths.counts, len(graph), budget.left)
        else:
            # Cached with the graph, like the trees themselves.
            variance = graph.cached(
                (forest, workload), lambda: trees.workload_variance(forest, workload)
            )
            c = break_even(len(graph), len(workload.edge) / len(workload), variance)
            lengths = NoisyLengths.measure(task, trips, cap, lengths_part(c))
            limit = lengths.limit(budget.left, c)
        width = np.diff(lengths.bins)
        extra["lengths"] = np.repeat(np.round(lengths.counts / width, 2), width).tolist()
        retained = retained_share(lengths.counts, lengths.middle, limit, lengths.variance)
        if retained is not None:
            extra["kept"] = round(retained, 4)
        return limit

    def _quantile(self, task: RoadTask, cap: int) -> int:
        share = task.budget.spend(
            QUANTILE_SHARE * task.budget.epsilon,
            "quantile of the lengths",
            mechanism="exponential",
            why="sensitivity 1 of a rank",
        )
        return private_quantile(task.noise, share, task.trips.length, cap, self.quantile)


def _planned(graph: RoadGraph, workload: Paths, decomposition: str, index: str) -> Forest:
    """Public plan, the same for every ε: cached for later releases on the same graph."""
    plan = prepared_plan(graph, workload, decomposition, index)
    if plan is None:
        return INDEXES[index](DECOMPOSITIONS[decomposition](graph, workload), workload)
    graph.cached((plan.forest, workload), lambda: plan.variance)
    return plan.forest
