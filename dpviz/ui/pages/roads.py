"""Roads: noisy counts of trips or events per street, and of paths between two places."""

from __future__ import annotations

import streamlit as st

from dpviz.releases.counts import RoadRelease
from dpviz.releases.roads.beyond_noise import is_above_noise
from dpviz.render.flows import mostly_noise
from dpviz.render.roads import streets_above_noise
from dpviz.ui.roads.facts import ABOUT_ERROR, release_tabs, typical_error
from dpviz.ui.roads.map_answer import FIELDS, VIEWS, map_and_answer, show_graph
from dpviz.ui.roads.plan import (
    RoadChoice,
    link_of,
    plan_form,
    publish_plan,
    sample_queries,
)
from dpviz.ui.roads.source import RoadSource, opened_roads, road_source
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import title_of
from dpviz.ui.shared.skeleton import Slots, run
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.time_window import chosen_window, window_part
from dpviz.ui.shared.timeline import PERIOD

TITLE, ORDER = "Roads", 4
MENU = "Movement"
KEY = "roads"


def page() -> None:
    """The page."""
    run(
        Slots(
            key=KEY,
            title=TITLE,
            records="records",
            fields=(*FIELDS, PERIOD),
            source=lambda: road_source(KEY),
            choose=lambda source: plan_form(KEY, source.public),
            build=publish_plan,
            adopt=opened_roads,
            empty=lambda: st.caption(
                "Press **Change** to describe your files, or to take the built-in city."
            ),
            before=lambda source: show_graph(KEY, source),
            show=_show,
            error=_error,
            link=link_of,
        )
    )


def _error(release: RoadRelease, source: RoadSource, plan: RoadChoice | None) -> tuple[str, str]:
    """Error of a typical query over the whole period."""
    plan = plan or RoadChoice.of(release.header)
    queries = sample_queries(source.data.graph, plan.workload)
    words = cached(
        f"{KEY}.error", (release, plan.workload), lambda: typical_error(release, queries)
    )
    return f"**{words}** per typical query", ABOUT_ERROR


def _show(release: RoadRelease, source: RoadSource, plan: RoadChoice | None) -> None:
    plan = plan or RoadChoice.of(release.header)
    with st.container(horizontal=True, vertical_alignment="center", key="dpviz-controls"):
        view = st.segmented_control(
            "Show", VIEWS, default=VIEWS[0], key=f"{KEY}.view", label_visibility="collapsed"
        )
        window = chosen_window(KEY, release)
    part = window_part(f"{KEY}.part", release, window)
    with st.spinner("Comparing typical paths with the noise …"):  # the first run compiles
        workload = sample_queries(source.data.graph, plan.workload)
        useful = is_above_noise(part, workload)
    if not useful:
        st.warning(
            f"At ε = {plan.epsilon:g}, {plain(title_of(plan.name))} is no better than "
            "answering zero: the noise of a typical query is as large as its answer. Raise ε, "
            "choose longer queries, or lower Δ.",
            icon=":material/waves:",
        )
    elif mostly_noise(part.answers.count, streets_above_noise(part)):
        st.warning(
            "Most streets are within their noise: few stand out on the map. Raise ε, or lower Δ.",
            icon=":material/waves:",
        )
    panels = release_tabs(KEY, part, workload, release)
    map_and_answer(KEY, part, source, view or VIEWS[0], window, panels)
