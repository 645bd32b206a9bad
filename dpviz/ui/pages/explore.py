"""Explore: a data set, a method, ε; the private map; drawn rectangles and their answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from dpviz.build import build
from dpviz.releases.points.release import PointRelease
from dpviz.render import Camera, Scene
from dpviz.render.cells import domain_bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import answer_panel, history_table, rectangle_form
from dpviz.ui.points.domain_map import choose_domain, show_domain
from dpviz.ui.points.facts import empty_area, release_facts
from dpviz.ui.points.regions import districts_panel, polygon_panel
from dpviz.ui.points.source_form import Source, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import Choice, method_form
from dpviz.ui.shared.share import share_panel
from dpviz.ui.shared.skeleton import Slots, run
from dpviz.ui.shared.tour import tour

TITLE, ICON, ORDER = "Explore", ":material/map:", 0
KEY = "explore"
MAP = f"{KEY}.map"


@dataclass(frozen=True)
class View:
    """A release and the picture of it; kept until the release changes."""

    key: str
    release: PointRelease
    scene: Scene


def page() -> None:
    """The page."""
    tour(KEY)
    run(
        Slots(
            key=KEY,
            records="records",
            restore=_restore,
            source=lambda: source_form(
                KEY,
                2,
                permalink.parameter("data"),
                sensitive=permalink.parameter("sensitive") == "1",
            ),
            choose=lambda source: method_form(
                KEY,
                source.handle.domain.dims,
                public=source.public,
                start=permalink.parameter("method") or "privtree",
                saved=permalink.pairs("set"),
            ),
            build=lambda source, choice, **how: build(
                source.handle, choice.name, choice.epsilon, **choice.parameters, **how
            ),
            adopt=lambda opened: Source(None, opened.title, opened.key),
            empty=lambda: choose_domain(KEY),
            before=lambda source: show_domain(KEY, source),
            show=_show,
            link=lambda source, choice: {
                "data": source.name,
                "method": choice.name,
                "set": ";".join(f"{name}:{value}" for name, value in choice.parameters.items()),
            },
        )
    )


def _restore() -> None:
    """The rectangle or polygon and the camera of the address."""
    st.session_state[f"{KEY}.rect"] = permalink.number_list("rect", 4)
    st.session_state[f"{KEY}.ring"] = permalink.ring("ring")
    camera = permalink.number_list("camera", 3)
    st.session_state[f"{KEY}.place"] = camera and {"key": None, "camera": camera}


def _show(release: PointRelease, source: Source, choice: Choice | None) -> None:
    if release.domain.dims != 2:
        st.info(
            f"This release has {release.domain.dims} dimensions: a map needs 2. Its cells are "
            "below; `dpviz query` answers boxes.",
            icon=":material/view_in_ar:",
        )
    else:
        empty_area(source)
        _map_and_answer(_placed(_view(release, source), source), source)
    release_facts(KEY, release, source)


def _view(release: PointRelease, source: Source) -> View:
    """The picture, kept until the release changes."""
    shown: View | None = st.session_state.get(f"{KEY}.view")
    if shown is None or shown.release is not release or shown.key != source.key:
        camera = Camera(bounds=domain_bounds(release.domain), key=source.key)
        scene = replace(release_scene([release], camera=camera), tools=("rect", "polygon"))
        shown = st.session_state[f"{KEY}.view"] = View(source.key, release, scene)
    return shown


def _placed(view: View, source: Source) -> View:
    """The view as the visitor left it: a map that is new on the page begins where it last stood."""
    place = st.session_state.get(f"{KEY}.place")
    if place is None or events(MAP).camera is not None:
        return view
    if place["key"] not in (None, source.key):
        st.session_state[f"{KEY}.place"] = None  # of other data
        permalink.write({"camera": None})
        return view
    place["key"] = source.key
    longitude, latitude, zoom = place["camera"]
    camera = Camera(longitude=longitude, latitude=latitude, zoom=zoom, key=source.key)
    if view.scene.camera == camera:
        return view
    moved = replace(view, scene=replace(view.scene, camera=camera))
    st.session_state[f"{KEY}.view"] = moved
    return moved


@st.fragment
def _map_and_answer(view: View, source: Source) -> None:
    """The map and its answer: drawing reruns this part only."""
    left, right = st.columns([7, 3], gap="medium")
    rect, ring = st.session_state[f"{KEY}.rect"], st.session_state.get(f"{KEY}.ring")
    with left:
        map_view(view.scene, key=MAP, on_shape=_shape_drawn)
        _keep_camera(source)
    with right:
        if ring:
            marks = polygon_panel(KEY, view.release, source, ring)
        else:
            marks = answer_panel(KEY, view.release, source, rect)
        typed = rectangle_form(KEY, rect, domain_bounds(view.release.domain))
        history_table(KEY)
        share_panel(KEY, MAP, [view.release])
        districts, legend = districts_panel(KEY, view.release)
    shape = Shape(rect=rect, ring=None if rect else ring) if rect or ring else None
    map_overlay(MAP, marks=[*districts, *marks], shape=shape, legend=legend)
    flat = tuple(value for corner in ring for value in corner) if ring else None
    permalink.write({"rect": permalink.joined(rect), "ring": permalink.joined(flat)})
    permalink.keep(KEY)
    if typed is not None:
        st.session_state[f"{KEY}.rect"], st.session_state[f"{KEY}.ring"] = typed, None
        st.rerun(scope="fragment")


def _shape_drawn() -> None:
    shape = events(MAP).shape
    st.session_state[f"{KEY}.rect"] = shape.rect if shape else None
    st.session_state[f"{KEY}.ring"] = shape.ring if shape else None


def _keep_camera(source: Source) -> None:
    camera = events(MAP).camera
    if camera:
        place = (camera["longitude"], camera["latitude"], camera["zoom"])
        st.session_state[f"{KEY}.place"] = {"key": source.key, "camera": place}
        permalink.write({"camera": permalink.joined(place, 5)})
