"""A release of points on its map, and the answer to what is drawn on it: Explore and Publish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import streamlit as st

from dpviz.releases.points.release import PointRelease
from dpviz.render import Camera, Scene
from dpviz.render.cells import domain_bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import answer_panel, history_table, rectangle_form
from dpviz.ui.points.regions import districts_panel, polygon_panel
from dpviz.ui.points.source_form import Source
from dpviz.ui.shared import permalink
from dpviz.ui.shared.share import share_panel


@dataclass(frozen=True)
class View:
    """A release and the picture of it; kept until the release changes."""

    key: str
    release: PointRelease
    scene: Scene


def restore(prefix: str) -> None:
    """The rectangle or polygon and the camera of the address."""
    st.session_state[f"{prefix}.rect"] = permalink.number_list("rect", 4)
    st.session_state[f"{prefix}.ring"] = permalink.ring("ring")
    camera = permalink.number_list("camera", 3)
    st.session_state[f"{prefix}.place"] = camera and {"key": None, "camera": camera}


def map_and_answer(prefix: str, release: PointRelease, source: Source) -> None:
    """The map, the answer beside it, and what can be done with it."""
    _drawing(prefix, placed(prefix, view_of(prefix, release, source), source), source)


def view_of(
    prefix: str,
    release: PointRelease,
    source: Source,
    tools: tuple[Literal["rect", "polygon"], ...] = ("rect", "polygon"),
) -> View:
    """The picture of a 2-D release, made anew when the release changes."""
    shown: View | None = st.session_state.get(f"{prefix}.view")
    if shown is None or shown.release is not release or shown.key != source.key:
        camera = Camera(bounds=domain_bounds(release.domain), key=source.key)
        scene = replace(release_scene([release], camera=camera), tools=tools)
        shown = st.session_state[f"{prefix}.view"] = View(source.key, release, scene)
    return shown


def placed(prefix: str, view: View, source: Source) -> View:
    """The view as the visitor left it: a map that is new on the page begins where it last stood."""
    place = st.session_state.get(f"{prefix}.place")
    if place is None or events(f"{prefix}.map").camera is not None:
        return view
    if place["key"] not in (None, source.key):
        st.session_state[f"{prefix}.place"] = None  # of other data
        permalink.write({"camera": None})
        return view
    place["key"] = source.key
    longitude, latitude, zoom = place["camera"]
    camera = Camera(longitude=longitude, latitude=latitude, zoom=zoom, key=source.key)
    if view.scene.camera == camera:
        return view
    moved = replace(view, scene=replace(view.scene, camera=camera))
    st.session_state[f"{prefix}.view"] = moved
    return moved


@st.fragment
def _drawing(prefix: str, view: View, source: Source) -> None:
    """Drawing reruns this part only."""
    name = f"{prefix}.map"
    left, right = st.columns([7, 3], gap="medium")
    rect, ring = st.session_state.get(f"{prefix}.rect"), st.session_state.get(f"{prefix}.ring")
    with left:
        map_view(view.scene, key=name, on_shape=partial(drawn, prefix))
        keep_camera(prefix, source)
    with right:
        if ring:
            marks = polygon_panel(prefix, view.release, source, ring)
        else:
            marks = answer_panel(prefix, view.release, source, rect)
        typed = rectangle_form(prefix, rect, domain_bounds(view.release.domain))
        history_table(prefix)
        share_panel(prefix, name, [view.release])
        districts, legend = districts_panel(prefix, view.release)
    shape = Shape(rect=rect, ring=None if rect else ring) if rect or ring else None
    map_overlay(name, marks=[*districts, *marks], shape=shape, legend=legend)
    flat = tuple(value for corner in ring for value in corner) if ring else None
    permalink.write({"rect": permalink.joined(rect), "ring": permalink.joined(flat)})
    permalink.keep(prefix)
    if typed is not None:
        st.session_state[f"{prefix}.rect"], st.session_state[f"{prefix}.ring"] = typed, None
        st.rerun(scope="fragment")


def drawn(prefix: str) -> None:
    """What was drawn on the map is the question from now on."""
    shape = events(f"{prefix}.map").shape
    st.session_state[f"{prefix}.rect"] = shape.rect if shape else None
    st.session_state[f"{prefix}.ring"] = shape.ring if shape else None


def keep_camera(prefix: str, source: Source) -> None:
    """The map comes back where the visitor left it."""
    camera = events(f"{prefix}.map").camera
    if camera:
        place = (camera["longitude"], camera["latitude"], camera["zoom"])
        st.session_state[f"{prefix}.place"] = {"key": source.key, "camera": place}
        permalink.write({"camera": permalink.joined(place, 5)})
