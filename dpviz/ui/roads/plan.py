"""Choices for a release of trips: their form, and the one call that spends ε."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.private.ledger.entries import NEIGHBOURS
from dpviz.releases.counts import RoadRelease
from dpviz.releases.header import Header
from dpviz.releases.roads.graph_file import workload_of
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import Choice, method_form, options
from dpviz.ui.shared.skeleton import build_choice
from dpviz.ui.shared.sources import DataSource

CORRIDORS = "Shortest paths"
WORKLOADS = ("2", "10", "20", "30", "40", "50", CORRIDORS)
DEFAULT_WORKLOAD = "10"
RELATIONS = tuple(NEIGHBOURS)


@dataclass(frozen=True)
class RoadChoice(Choice):
    """Chosen method with its workload and neighbouring relation."""

    workload: str = DEFAULT_WORKLOAD
    neighbours: str = RELATIONS[0]

    @property
    def price(self) -> float:
        """Epsilon charged in the ledger, for adding or removing one unit."""
        return self.epsilon / NEIGHBOURS.get(self.neighbours, 1)

    @classmethod
    def of(cls, header: Header) -> RoadChoice:
        """Choice read from the header of an opened release; its workload is unknown."""
        return cls(header.method, {}, header.epsilon, neighbours=header.neighbouring)


def plan_form(prefix: str, public: bool) -> RoadChoice:
    """Draw the form for ε, the method and its parameters."""
    choice = method_form(prefix, kind="roads", public=public)
    with options(f"{prefix}.queries", "Queries"):
        workload, neighbours = _queries(prefix)
    return RoadChoice(
        choice.name, choice.parameters, choice.epsilon, workload=workload, neighbours=neighbours
    )


def _queries(prefix: str) -> tuple[str, str]:
    """Ask for the queries to serve, and the neighbouring relation."""
    asked = permalink.parameter("workload")
    workload = st.selectbox(
        "Queries to serve (public)",
        WORKLOADS,
        index=WORKLOADS.index(permalink.one_of("workload", asked, WORKLOADS, DEFAULT_WORKLOAD)),
        key=f"{prefix}.workload",
        format_func=lambda name: name if name == CORRIDORS else f"Paths of {name} streets",
        help="Cuts, trees and truncation are chosen for these sample queries. They are public: "
        "never drawn from the records.",
    )
    asked = permalink.parameter("neighbours")
    neighbours = st.radio(
        "Neighbouring relation",
        RELATIONS,
        index=RELATIONS.index(permalink.one_of("neighbours", asked, RELATIONS, RELATIONS[0])),
        key=f"{prefix}.neighbours",
        help="What the guarantee hides: one trip or person more or less, or one replaced, with "
        "twice the noise. The ledger counts half of an ε for replacing.",
    )
    return workload, neighbours


def link_of(plan: RoadChoice) -> dict[str, str | None]:
    """Address parameters of a choice, other than its ε and method."""
    return {
        "workload": plan.workload,
        "neighbours": plan.neighbours if plan.neighbours != RELATIONS[0] else None,
    }


def sample_queries(graph: RoadGraph, name: str) -> Paths:
    """Public sample queries."""

    def make() -> Paths:
        return workload_of("corridor" if name == CORRIDORS else f"clustered:{name}", graph)

    return graph.cached(("sample queries", name), make)


def publish_plan(source: DataSource, plan: RoadChoice, **how: Any) -> RoadRelease:
    """Build one release with the choice's ε; ``how`` as for ``build``."""
    workload = sample_queries(source.data.graph, plan.workload)
    release: RoadRelease = build_choice(
        source, plan, workload=workload, neighbours=plan.neighbours, **how
    )
    return release
