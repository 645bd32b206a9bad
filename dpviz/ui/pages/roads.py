"""Roads: trips on a road network; noisy counts per street, and paths between two places."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.releases.roads.path_count import beats_zero
from dpviz.releases.roads.release import RoadRelease
from dpviz.render import Camera, Scene
from dpviz.render.basemap import city_ground, outlines
from dpviz.render.roads import (
    bounds,
    domain_legend,
    domain_marks,
    node_degrees,
    street_legend,
    street_marks,
    top_count,
)
from dpviz.roads.graph import RoadGraph
from dpviz.roads.paths import Paths
from dpviz.ui.map import map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.roads.answer import Ends, ends_form, path_answer
from dpviz.ui.roads.facts import release_facts
from dpviz.ui.roads.plan import Plan, plan_form, publish_plan, sample_queries, title_of
from dpviz.ui.roads.source import RoadSource, opened_roads, road_source
from dpviz.ui.shared import permalink
from dpviz.ui.shared.skeleton import Slots, run
from dpviz.ui.shared.text import plain

TITLE, ICON, ORDER = "Roads", ":material/route:", 4
KEY = "roads"
MAP = f"{KEY}.map"
VIEWS = ("Trips", "Sub-domains")


def page() -> None:
    """The page."""
    run(
        Slots(
            key=KEY,
            records="trips",
            restore=_restore,
            source=lambda: road_source(KEY, permalink.parameter("data")),
            choose=lambda source: plan_form(KEY, source),
            build=lambda source, plan, **how: publish_plan(source, plan, plan.methods[0], **how),
            adopt=lambda opened: opened_roads(opened),
            empty=lambda: st.caption("Choose your files in the sidebar, or the built-in city."),
            before=lambda source: None,
            show=_show,
            link=lambda source, plan: {
                "data": source.key if source.backdrop else None,
                "method": plan.methods[0],
                "with": plan.methods[1] if len(plan.methods) > 1 else None,
                "workload": plan.workload,
            },
        )
    )


def _restore() -> None:
    ends = [permalink.parameter(name) for name in ("from", "to")]
    st.session_state[f"{KEY}.ends"] = tuple(each for each in ends if each)


def _show(release: RoadRelease, source: RoadSource, plan: Plan | None) -> None:
    plan = plan or Plan.of(release.header)
    releases = [release, *_second(source, plan)]
    workload = sample_queries(source.data.graph, plan.workload)
    _warn(releases, plan, workload)
    view = st.segmented_control(
        "Show", VIEWS, default=VIEWS[0], key=f"{KEY}.view", label_visibility="collapsed"
    )
    _map_and_answer(releases, source, plan, view or VIEWS[0])
    release_facts(KEY, releases, plan, workload)


def _second(source: RoadSource, plan: Plan) -> list[RoadRelease]:
    """The release to compare with, of public trips only; kept until something changes."""
    if len(plan.methods) < 2:
        return []
    seed = st.session_state[f"{KEY}.seed"]
    asked = (source.key, repr(plan), seed)
    remembered = st.session_state.get(f"{KEY}.second")
    if remembered is None or remembered[0] != asked:
        with st.spinner("Cutting the network and drawing noise …"):
            remembered = (asked, publish_plan(source, plan, plan.methods[1], seed=seed))
        st.session_state[f"{KEY}.second"] = remembered
    return [remembered[1]]


def _warn(releases: list[RoadRelease], plan: Plan, workload: Paths) -> None:
    """Say plainly where a release is worth nothing for the queries it is meant to serve."""
    useless = [
        method
        for method, release in zip(plan.methods, releases, strict=False)
        if not beats_zero(release, workload)
    ]
    if useless:
        listed = " and ".join(plain(title_of(name)) for name in useless)
        verb = "does" if len(useless) == 1 else "do"
        st.warning(
            f"At ε = {plan.epsilon:g}, {listed} {verb} not beat answering zero: the noise of a "
            "typical query is as large as its answer. Raise ε, choose longer queries, or lower Δ.",
            icon=":material/waves:",
        )


@st.fragment
def _map_and_answer(releases: list[RoadRelease], source: RoadSource, plan: Plan, view: str) -> None:
    """The map and its answer: a click reruns this part only."""
    labels = [""] if len(releases) == 1 else [f"· {title_of(method)}" for method in plan.methods]
    left, right = st.columns([7, 3], gap="medium")
    ends: Ends = st.session_state[f"{KEY}.ends"]
    with left:
        map_view(
            _scene(releases, source, plan, view),
            key=MAP,
            on_pick=partial(_picked, source.data.graph),
        )
    with right:
        marks = path_answer(ends, releases, labels, source.data)
        typed = ends_form(KEY, ends, source.data)
        if ends and st.button("Clear the places", icon=":material/close:", key=f"{KEY}.forget"):
            typed = ()
    map_overlay(MAP, marks=marks)
    permalink.write(dict(zip(("from", "to"), [*ends, None, None], strict=False)))
    if typed is not None:
        st.session_state[f"{KEY}.ends"] = typed
        st.rerun(scope="fragment")


def _picked(graph: RoadGraph) -> None:
    """A click on a street chooses the node nearest to it; the third click starts anew."""
    pick = events(MAP).pick
    if not pick:
        return
    place = node_degrees(graph)
    across = np.cos(np.radians(pick["lat"]))
    away = np.hypot((place[:, 0] - pick["lon"]) * across, place[:, 1] - pick["lat"])
    chosen = str(graph.node_id[int(np.argmin(away))])
    ends: Ends = st.session_state[f"{KEY}.ends"]
    if len(ends) != 1:
        st.session_state[f"{KEY}.ends"] = (chosen,)
    elif chosen != ends[0]:
        st.session_state[f"{KEY}.ends"] = (ends[0], chosen)


def _scene(releases: list[RoadRelease], source: RoadSource, plan: Plan, view: str) -> Scene:
    """The picture; kept until a release or the view changes."""
    remembered = st.session_state.get(f"{KEY}.scene")  # holds the releases: no id is given twice
    if remembered is not None and (remembered[0], _ids(remembered[1])) == (view, _ids(releases)):
        drawing: Scene = remembered[2]
        return drawing
    graph = source.data.graph
    area = bounds(graph)
    backdrop = [*(city_ground() if source.backdrop else outlines(area))]
    top = max(top_count(release) for release in releases)
    mode: Any = "single"
    labels: tuple[str, ...] = ()
    if view == VIEWS[1]:
        marks = [*backdrop, *domain_marks(releases[0])]
        legend = domain_legend()
    elif len(releases) == 2:
        mode, labels = "side", plan.methods
        first = street_marks(releases[0], top, side="left")
        second = street_marks(releases[1], top, side="right")
        marks, legend = [*backdrop, *first, *second], street_legend(top)
    else:
        marks, legend = [*backdrop, *street_marks(releases[0], top)], street_legend(top)
    scene = Scene(
        marks=marks,
        camera=Camera(bounds=area, key=source.key),
        legend=legend,
        mode=mode,
        labels=labels,
        picks=True,
        domain=area,
        description=f"Road network with noisy counts: {releases[0].header.guarantee}",
    )
    st.session_state[f"{KEY}.scene"] = (view, releases, scene)
    return scene


def _ids(releases: list[RoadRelease]) -> list[int]:
    return [id(release) for release in releases]
