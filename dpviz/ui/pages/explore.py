"""Explore: a data set, a method, ε; the private map; drawn rectangles and their answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpviz.build import Ledger, build
from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_total
from dpviz.progress import Progress
from dpviz.releases.points.range_count import INTERVAL_SDS
from dpviz.releases.points.release import PointRelease
from dpviz.render import Camera, Scene, with_noise
from dpviz.render.cells import domain_bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import answer_panel, history_table, rectangle_form
from dpviz.ui.points.domain_map import choose_domain, show_domain
from dpviz.ui.points.downloads import download_buttons, table_of_cells
from dpviz.ui.points.regions import districts_panel, polygon_panel
from dpviz.ui.points.source_form import Source, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.account import noise_seed, nothing_yet, paid_build
from dpviz.ui.shared.method_form import Choice, method_form, nearest_epsilon
from dpviz.ui.shared.prices import price_list
from dpviz.ui.shared.share import share_panel
from dpviz.ui.shared.text import badge, plain
from dpviz.ui.shared.tour import tour

TITLE, ICON, ORDER = "Explore", ":material/map:", 0
KEY = "explore"
MAP = f"{KEY}.map"


@dataclass(frozen=True)
class View:
    """A release and the picture of it; kept until the release changes."""

    key: tuple[Any, ...]
    release: PointRelease
    scene: Scene


def page() -> None:
    """The page."""
    permalink.bring_back(KEY)
    _restore()
    tour(KEY)
    with st.sidebar:
        source = source_form(
            KEY, 2, permalink.parameter("data"), sensitive=permalink.parameter("sensitive") == "1"
        )
        if source is None:
            choice = None
        else:
            st.divider()
            choice = method_form(
                KEY,
                source.handle.domain.dims,
                public=source.public,
                start=permalink.parameter("method") or "privtree",
                saved=permalink.pairs("set"),
            )
    if source is None or choice is None:
        choose_domain(KEY)
        return
    try:
        view = _public_view(source, choice) if source.public else _sensitive_view(source, choice)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if view is None:
        return
    view = _placed(view, source)
    st.markdown(badge(view.release.header))
    _map_and_answer(view, source)
    _below(view, source)
    _remember_choice(source, choice)


def _restore() -> None:
    """When the page is entered, take ε, the rectangle and the camera from the address."""
    if f"{KEY}.epsilon" in st.session_state:
        return  # the widget's own value, which is dropped when the page is left
    st.session_state[f"{KEY}.epsilon"] = nearest_epsilon(permalink.number("epsilon"))
    st.session_state[f"{KEY}.rect"] = permalink.number_list("rect", 4)
    st.session_state[f"{KEY}.ring"] = permalink.ring("ring")
    camera = permalink.number_list("camera", 3)
    st.session_state[f"{KEY}.place"] = camera and {"key": None, "camera": camera}
    st.session_state[f"{KEY}.seed"] = permalink.seed()


def _public_view(source: Source, choice: Choice) -> View:
    """Simulated noise, rebuilt at once whenever something changes."""
    seed = noise_seed(KEY)
    key = (source.key, choice.name, tuple(choice.parameters.items()), choice.epsilon, seed)
    return _kept(
        key,
        source,
        lambda: build(source.handle, choice.name, choice.epsilon, seed=seed, **choice.parameters),
    )


def _sensitive_view(source: Source, choice: Choice) -> View | None:
    """Secure noise: one release per press of the button; what is shown stays until the next."""

    def make(ledger: Ledger, progress: Progress) -> PointRelease:
        return build(
            source.handle,
            choice.name,
            choice.epsilon,
            ledger=ledger,
            purpose="page Explore",
            progress=progress,
            **choice.parameters,
        )

    release = paid_build(KEY, source.handle.name, choice.epsilon, make, subject=source.key)
    if release is not None:
        return _kept((source.key, release.header.extra["release_id"]), source, lambda: release)
    shown: View | None = st.session_state.get(f"{KEY}.view")
    if shown is None or shown.key[0] != source.key:
        nothing_yet("data")
        show_domain(KEY, source)
        return None
    return shown


def _kept(key: tuple[Any, ...], source: Source, make: Callable[[], PointRelease]) -> View:
    shown: View | None = st.session_state.get(f"{KEY}.view")
    if shown is None or shown.key != key:
        release = make()
        shown = View(key, release, _scene(release, source))
        st.session_state[f"{KEY}.view"] = shown
    return shown


def _scene(release: PointRelease, source: Source) -> Scene:
    camera = Camera(bounds=domain_bounds(release.domain), key=source.key)
    return replace(release_scene([release], camera=camera), tools=("rect", "polygon"))


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


def _below(view: View, source: Source) -> None:
    """Facts, price list, downloads and a table in place of the map."""
    release = view.release
    nodes = release.nodes
    total = release.count(release.domain.bounds)
    half = INTERVAL_SDS * float(total.noise_sd[0])
    with st.container(horizontal=True, gap="large"):
        st.metric("Noisy total", with_noise(float(total.count[0]), half), width="content")
        if source.public:
            exact = exact_total(source.handle)
            st.metric("Exact total (public data)", f"{exact:,}", width="content")
        inside = f"{len(nodes):,} nodes in all"
        st.metric("Leaves", f"{int(nodes.leaf.sum()):,}", help=inside, width="content")
        st.metric("Depth", nodes.depth, width="content")
    with st.expander("Where ε goes", icon=":material/payments:"):
        price_list(release.header)
    with st.expander("Download this release", icon=":material/download:"):
        download_buttons(KEY, release)
    with st.expander("The map as a table", icon=":material/table:"):
        table_of_cells(release)


def _remember_choice(source: Source, choice: Choice) -> None:
    permalink.write(
        {
            "data": source.name,
            "method": choice.name,
            "epsilon": f"{choice.epsilon:g}",
            "set": ";".join(f"{name}:{value}" for name, value in choice.parameters.items()),
            "seed": str(st.session_state[f"{KEY}.seed"]) if source.public else None,
            "sensitive": None if source.public else "1",
        }
    )
    permalink.keep(KEY)
