"""Roads: trips on a road network; noisy counts per street, and paths between two places."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.build import Ledger
from dpviz.errors import DpvizError
from dpviz.progress import Progress
from dpviz.releases.roads.path_count import beats_zero
from dpviz.releases.roads.release import RoadRelease
from dpviz.render import Camera, Scene
from dpviz.render.basemap import river
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
from dpviz.ui.roads.plan import Plan, plan_form, publish_plan, sample_queries
from dpviz.ui.roads.source import RoadSource, road_source
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import noise_seed, nothing_yet, paid_build
from dpviz.ui.shared.method_form import nearest_epsilon
from dpviz.ui.shared.text import badge, plain

TITLE, ICON, ORDER = "Roads", ":material/route:", 4
KEY = "roads"
MAP = f"{KEY}.map"
VIEWS = ("Trips", "Sub-domains")


def page() -> None:
    """The page."""
    _restore()
    with st.sidebar:
        source = road_source(KEY, permalink.parameter("data"))
        plan = plan_form(KEY, source) if source is not None else None
    if source is None or plan is None:
        st.caption("Choose your files in the sidebar, or the built-in city to see its roads.")
        return
    try:
        releases = _public(source, plan) if source.data.public else _sensitive(source, plan)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if not releases:
        return
    st.markdown(badge(releases[0].header))
    _warn(releases, plan, sample_queries(source.data.graph, plan.workload))
    view = st.segmented_control(
        "Show", VIEWS, default=VIEWS[0], key=f"{KEY}.view", label_visibility="collapsed"
    )
    _map_and_answer(releases, source, plan, view or VIEWS[0])
    release_facts(KEY, releases, plan, sample_queries(source.data.graph, plan.workload))
    _remember(source, plan)


def _restore() -> None:
    """At the first run of a visit, take the choices from the address."""
    if f"{KEY}.ready" in st.session_state:
        return
    st.session_state[f"{KEY}.ready"] = True
    st.session_state[f"{KEY}.epsilon"] = nearest_epsilon(permalink.number("epsilon"))
    ends = [permalink.parameter(name) for name in ("from", "to")]
    st.session_state[f"{KEY}.ends"] = tuple(each for each in ends if each)
    st.session_state[f"{KEY}.seed"] = permalink.seed()


def _public(source: RoadSource, plan: Plan) -> list[RoadRelease]:
    """Simulated noise, rebuilt at once whenever something changes."""
    kept: dict[Any, RoadRelease] = st.session_state.setdefault(f"{KEY}.built", {})
    seed = noise_seed(KEY)
    facts = (source.key, plan.epsilon, plan.workload, plan.neighbours, plan.max_length, seed)
    keys = [(method, *facts) for method in plan.methods]
    for key in keys:
        if key not in kept:
            with st.spinner("Cutting the network and drawing noise …"):
                kept[key] = publish_plan(source, plan, key[0], seed=seed)
    for key in [key for key in kept if key not in keys]:
        del kept[key]
    return [kept[key] for key in keys]


def _sensitive(source: RoadSource, plan: Plan) -> list[RoadRelease]:
    """Secure noise: one release per press of the button; what is shown stays until the next."""

    def make(ledger: Ledger, progress: Progress) -> RoadRelease:
        return publish_plan(
            source, plan, plan.methods[0], ledger=ledger, purpose="page Roads", progress=progress
        )

    release = paid_build(KEY, source.data.name, plan.epsilon, make, subject=source.key)
    if release is not None:
        st.session_state[f"{KEY}.shown"] = (source.key, release)
    shown = st.session_state.get(f"{KEY}.shown")
    if shown is None or shown[0] != source.key:
        nothing_yet("trips")
        return []
    return [shown[1]]


def _warn(releases: list[RoadRelease], plan: Plan, workload: Paths) -> None:
    """Say plainly where a release is worth nothing for the queries it is meant to serve."""
    useless = [
        method
        for method, release in zip(plan.methods, releases, strict=False)
        if not beats_zero(release, workload)
    ]
    if useless:
        listed = " and ".join(plain(name) for name in useless)
        verb = "does" if len(useless) == 1 else "do"
        st.warning(
            f"At ε = {plan.epsilon:g}, {listed} {verb} not beat answering zero: the noise of a "
            "typical query is as large as its answer. Raise ε, choose longer queries, or lower Δ.",
            icon=":material/waves:",
        )


@st.fragment
def _map_and_answer(releases: list[RoadRelease], source: RoadSource, plan: Plan, view: str) -> None:
    """The map and its answer: a click reruns this part only."""
    labels = [""] if len(releases) == 1 else [f"· {method}" for method in plan.methods]
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
        if ends and st.button("Forget the places", icon=":material/close:", key=f"{KEY}.forget"):
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
    key = (view, *(id(release) for release in releases))
    kept = st.session_state.get(f"{KEY}.scene")
    if kept is not None and kept[0] == key:
        found: Scene = kept[1]
        return found
    graph = source.data.graph
    area = bounds(graph)
    backdrop = [river()] if source.backdrop else []
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
        camera=Camera(bounds=_centre(graph), key=source.key),
        legend=legend,
        mode=mode,
        labels=labels,
        picks=True,
        domain=area,
        description=f"Road network with noisy counts: {releases[0].header.guarantee}",
    )
    st.session_state[f"{KEY}.scene"] = (key, scene)
    return scene


def _centre(graph: RoadGraph) -> tuple[float, float, float, float]:
    """The box of the middle 80 % of the streets' ends: towns, not the roads between them."""
    place = node_degrees(graph)
    (west, south), (east, north) = np.quantile(place, [0.1, 0.9], axis=0).tolist()
    return west, south, east, north


def _remember(source: RoadSource, plan: Plan) -> None:
    permalink.write(
        {
            "data": source.key if source.backdrop else None,
            "method": plan.methods[0],
            "with": plan.methods[1] if len(plan.methods) > 1 else None,
            "epsilon": f"{plan.epsilon:g}",
            "workload": plan.workload,
            "seed": str(st.session_state[f"{KEY}.seed"]) if source.data.public else None,
        }
    )
