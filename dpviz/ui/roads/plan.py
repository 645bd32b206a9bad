"""Plan of a release of trips on roads: the sidebar form, and the one call that spends ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpviz.build import NEIGHBOURS, build, workload_of
from dpviz.methods import METHODS, names
from dpviz.methods import method as find_method
from dpviz.methods.roads.base import COMBINATIONS
from dpviz.releases.counts import RoadRelease
from dpviz.releases.header import Header
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths
from dpviz.ui.roads.source import RoadSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import epsilon_slider, parameters_form

START = "event-histogram"
CORRIDORS = "Shortest paths"
WORKLOADS = ("2", "10", "20", "30", "40", "50", CORRIDORS)


TITLES = {
    "event-histogram": "Event histogram",
    "dwork": "Noise on every street",
    "basic": "Every street, cut for queries",
    "basic-paper": "Every street, cut as published",
    "boost": "Consistent trees (Boost)",
    "freqitem": "Every street, long trips cut",
    "hm": "Trees of one height (HM)",
    "min+opt+tru": "Fewest paths, trips cut",
    "ngram_truncation": "Trips cut at 20 streets",
    "random": "Random paths, best trees",
}
"""Titles of variants by their papers' names; shorter than a method's own title."""
FIRST = ("event-histogram", "gs", "dwork")
"""Recommended; the others follow."""


def title_of(name: str) -> str:
    """A method of roads, or a variant of one, by its title."""
    title = METHODS[name].title if name in METHODS else name
    return TITLES.get(name, title)


@dataclass(frozen=True)
class RoadChoice:
    """Plan of a road release: method with parameters, ε, workload, neighbouring relation."""

    method: str
    epsilon: float
    workload: str
    neighbours: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def price(self) -> float:
        """Epsilon in the ledger, which counts by adding or removing one unit."""
        return self.epsilon / NEIGHBOURS.get(self.neighbours, 1)

    @classmethod
    def of(cls, header: Header) -> RoadChoice:
        """Read the plan of an opened release from its header; its workload is unknown."""
        return cls(header.method, header.epsilon, WORKLOADS[1], header.neighbouring)


def plan_form(prefix: str) -> RoadChoice:
    """The form of the sidebar."""
    others = sorted({*names("roads"), *COMBINATIONS} - set(FIRST), key=title_of)
    options = [*FIRST, *others]
    start = permalink.one_of("method", permalink.parameter("method"), options, START)
    method = st.selectbox(
        "Method",
        options,
        index=options.index(start),
        format_func=title_of,
        key=f"{prefix}.method",
        help="How trips are cut, the network split and noise shared. The first chooses for "
        "the queries.",
    )
    epsilon = epsilon_slider(prefix)
    asked = permalink.parameter("workload")
    workload = st.selectbox(
        "Queries to serve (public)",
        WORKLOADS,
        index=WORKLOADS.index(permalink.one_of("workload", asked, WORKLOADS, WORKLOADS[1])),
        key=f"{prefix}.workload",
        format_func=lambda name: name if name == CORRIDORS else f"Paths of {name} streets",
        help="Cuts, trees and truncation are chosen for these sample queries. They are public: "
        "never drawn from the records.",
    )
    relations, asked = list(NEIGHBOURS), permalink.parameter("neighbours")
    neighbours = st.radio(
        "Neighbouring relation",
        relations,
        index=relations.index(permalink.one_of("neighbours", asked, relations, relations[0])),
        key=f"{prefix}.neighbours",
        help="Add or remove one unit, or replace one for twice the noise: a price to replace one "
        "counts half in the ledger.",
    )
    usual = find_method(method, "roads")
    saved = permalink.pairs("set") if method == start else {}  # of the method of the address
    form = f"{prefix}.{method}"
    parameters = parameters_form(form, type(usual), usual.parameters(), saved)
    return RoadChoice(method, epsilon, workload, neighbours, parameters)


def link_of(plan: RoadChoice) -> dict[str, str | None]:
    """Address parameters of a plan, besides its ε."""
    return {
        "method": plan.method,
        "set": permalink.paired(plan.parameters),
        "workload": plan.workload,
        "neighbours": plan.neighbours if plan.neighbours != next(iter(NEIGHBOURS)) else None,
    }


def sample_queries(graph: RoadGraph, name: str) -> Paths:
    """The public sample queries."""

    def make() -> Paths:
        return workload_of("corridor" if name == CORRIDORS else f"clustered:{name}", graph)

    return graph.remembered(("sample queries", name), make)


def publish_plan(source: RoadSource, plan: RoadChoice, **how: Any) -> RoadRelease:
    """Spend the plan's ε on one release; ``how`` as for ``build``."""
    chosen = find_method(plan.method, "roads", **plan.parameters)
    workload = sample_queries(source.data.graph, plan.workload)
    release: RoadRelease = build(
        source.data,
        chosen,
        plan.epsilon,
        workload=workload,
        neighbours=plan.neighbours,
        **how,
    )
    return release
