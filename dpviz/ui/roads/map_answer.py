"""Map of a trip release on its road network, and the answer for a path."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.errors import DataError
from dpviz.releases.counts import RoadRelease
from dpviz.render import Camera, Scene
from dpviz.render.roads import (
    bounds,
    domain_legend,
    domain_marks,
    graph_mark,
    ground,
    nearest_node,
    street_legend,
    street_marks,
    street_scale,
    streets_scene,
)
from dpviz.roads.graph import RoadGraph
from dpviz.ui.map import map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.roads.answer import Ends, ends_form, path_answer
from dpviz.ui.roads.source import RoadSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.frame import Panels, answer_card, map_container, show_card, tabs
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import title_of
from dpviz.ui.shared.presentation import counted_noun
from dpviz.ui.shared.time_window import TimeWindow, steps_timeline
from dpviz.ui.shared.timeline import PERIOD

VIEWS = ("Streets", "Sections")
FIELDS = tuple(permalink.Field(end, permalink.parameter) for end in ("from", "to"))
"""Address fields of a path's two end nodes; the second may be missing."""


def show_graph(prefix: str, source: RoadSource) -> None:
    """Show the public streets, before a release exists."""
    graph = source.data.graph

    def draw() -> Scene:
        area = bounds(graph)
        return Scene(
            marks=[*ground(graph, source.data.name), graph_mark(graph)],
            camera=Camera(bounds=area),
            domain=area,
            plane=not graph.crs,
            description="The public streets; no release has been built yet",
        )

    scene = cached(f"{prefix}.graph.scene", source.key, draw)
    map_view(scene, key=f"{prefix}.graph.map")


def _ends(prefix: str) -> Ends:
    ends = [st.session_state.get(field.place(prefix)) for field in FIELDS]
    return tuple(end for end in ends if end)


def _refuse_unknown(prefix: str, graph: RoadGraph) -> None:
    """Drop nodes that the graph does not have, and report those in the address."""
    for field in FIELDS:
        place = field.place(prefix)
        node, asked = st.session_state.get(place), permalink.came_from_address(place)
        try:
            _ = node and graph.node_row(node)
        except DataError:
            if asked:
                permalink.refused(field.name, node)
            permalink.clear_fields(prefix, [field])


def _choose_ends(prefix: str, ends: Ends) -> None:
    for field, end in zip(FIELDS, [*ends, None, None], strict=False):
        st.session_state[field.place(prefix)] = end


@fragment
def map_and_answer(
    prefix: str,
    release: RoadRelease,
    source: RoadSource,
    view: str,
    window: TimeWindow | None,
    panels: Panels,
) -> None:
    """Show the map and its answer, with time also the path's timeline; reruns as a fragment."""
    _refuse_unknown(prefix, source.data.graph)
    ends = _ends(prefix)
    with map_container():
        noun = counted_noun(prefix, release)
        draw = partial(_scene, release, source, view, noun)
        scene = cached(f"{prefix}.scene", (view, release, noun), draw)
        picked = partial(_picked, prefix, source.data.graph)
        map_view(scene, key=f"{prefix}.map", on_pick=picked)
        with answer_card():
            ends_form(prefix, ends, release, partial(_choose_ends, prefix))
            marks, edges = path_answer(ends, release, source.data, window)
    if ends:
        show_card(ends)
    legend = scene.legend and scene.legend.choosing("the chosen path")
    map_overlay(f"{prefix}.map", marks=marks, legend=None if edges is None else legend)
    timeline: Panels = {}
    if window is not None and edges is not None:
        line = partial(window.release.timeline, edges)
        timeline = {"Timeline": lambda: steps_timeline(line(), window, "the path")}
    tabs(prefix, {**timeline, **panels})
    permalink.write_address(prefix, (*FIELDS, PERIOD))


def _picked(prefix: str, graph: RoadGraph) -> None:
    """Choose the node nearest to a click on a street; the third click starts again."""
    pick = events(f"{prefix}.map").pick
    if not pick:
        return
    chosen, ends = nearest_node(graph, pick["lon"], pick["lat"]), _ends(prefix)
    if len(ends) != 1:
        _choose_ends(prefix, (chosen,))
    elif chosen != ends[0]:
        _choose_ends(prefix, (ends[0], chosen))


def _scene(release: RoadRelease, source: RoadSource, view: str, noun: str) -> Scene:
    if view == VIEWS[1]:
        marks, legend = domain_marks(release), domain_legend()
    else:
        scale = street_scale(release)
        marks, legend = street_marks(release, scale), street_legend(scale, noun)
    title = f"{noun[:1].upper()}{noun[1:]} on roads · {title_of(release.header.method)}"
    return streets_scene(release, marks, legend, picks=True, title=title)
