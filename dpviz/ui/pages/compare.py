"""Compare: two configurations under one camera, one rectangle, one legend; accuracy by ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from dpviz.build import build
from dpviz.errors import DpvizError
from dpviz.releases.points.release import PointRelease
from dpviz.render import Camera, Scene, difference_scene
from dpviz.render.cells import domain_bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import as_csv, rectangle_form
from dpviz.ui.points.comparison import answer_columns
from dpviz.ui.points.error_panel import error_panel
from dpviz.ui.points.film import film_answers, film_series, film_strip, known_accuracy, title
from dpviz.ui.points.owners import owners_panel, owners_view
from dpviz.ui.points.source_form import Source, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import (
    Choice,
    linked_epsilon,
    method_form,
    nearest_epsilon,
    title_of,
)
from dpviz.ui.shared.releases import release_choice
from dpviz.ui.shared.share import share_panel
from dpviz.ui.shared.text import badge, plain

TITLE, ICON, ORDER = "Compare", ":material/compare:", 1
KEY = "compare"
MAP = f"{KEY}.map"
HEIGHT, WIDE = 560, 470
"""Pixels of the map beside the answers, and of two maps above them."""

MODES = {"side": "Side by side", "swipe": "Swipe", "difference": "Difference"}
OF = ("Built from data", "Two releases", "Two owners")
STARTS = {"a": "privtree", "b": "ugrid"}


@dataclass(frozen=True)
class View:
    """Two releases and the picture of them; kept until one of them changes."""

    key: tuple[Any, ...]
    releases: tuple[PointRelease, PointRelease]
    labels: tuple[str, str]


def page() -> None:
    """The page."""
    _restore()
    with st.sidebar:
        of = st.segmented_control(
            "Compare",
            OF,
            default=OF[0],
            required=True,
            key=f"{KEY}.of",
            label_visibility="collapsed",
        )
    if of == OF[1]:
        _two_releases()
        return
    if of == OF[2]:
        owners_view(f"{KEY}.owners")
        return
    explored = st.session_state.get("explore.link", {})
    with st.sidebar:
        source = source_form(KEY, 2, permalink.parameter("data") or explored.get("data"))
        choices = _choices(source, explored) if source is not None and source.public else None
    if source is None:
        st.caption("Choose a file in the sidebar, or a built-in city.")
        return
    if choices is None:
        st.warning(
            "Compare rebuilds at will and shows exact answers, so it is for public records only. "
            "Declare these already public, use a built-in city to choose a method and ε, or "
            "compare two releases.",
            icon=":material/lock:",
        )
        return
    try:
        view = _view(source, choices)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return
    _badges(view)
    film_strip(KEY, choices[0].epsilon, _step)
    _map_and_answers(view, source, choices)
    st.header("Accuracy by ε", anchor=False)
    described = [_described(choice) for choice in choices]
    if source.backdrop:
        titles = [title_of(choice.name) for choice in choices]
        known_accuracy(source, list(zip(described, titles, strict=True)))
    with st.expander("Measure your own choice", icon=":material/science:"):
        error_panel(f"{KEY}.errors", source, described)
    _remember(source, choices)


def _badges(view: View) -> None:
    first, second = (badge(release.header) for release in view.releases)
    if first == second:
        st.markdown(first)
        return
    left, right = st.columns(2)
    left.markdown(f"**A** {first}")
    right.markdown(f"**B** {second}")


def _two_releases() -> None:
    """Two releases that were opened: nothing exact, no rebuilding."""
    with st.sidebar:
        chosen = [release_choice(f"{KEY}.{side}", f"Release {side.upper()}") for side in STARTS]
    first, second = chosen
    if first is None or second is None:
        st.caption("Choose two releases of the same area in the sidebar.")
        return
    view = View(
        (first.key, second.key), (first.release, second.release), (first.title, second.title)
    )
    _badges(view)
    try:
        _map_and_answers(view, Source(None, "Two releases", f"{first.key}|{second.key}"), [])
        with st.expander("Two owners: match their records", icon=":material/join_inner:"):
            owners_panel(f"{KEY}.releases", view.releases)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")


def _restore() -> None:
    """At the first run of a visit, take the comparison from the address; A from Explore else."""
    if f"{KEY}.ready" in st.session_state:
        return
    st.session_state[f"{KEY}.ready"] = True
    for side in STARTS:
        st.session_state[f"{KEY}.{side}.epsilon"] = linked_epsilon(f"{side}.epsilon")
    explored = st.session_state.get("explore.link", {})
    if permalink.parameter("a.epsilon") is None and explored.get("epsilon"):
        first = nearest_epsilon(float(explored["epsilon"]))
        st.session_state[f"{KEY}.a.epsilon"] = st.session_state[f"{KEY}.b.epsilon"] = first
    apart = permalink.number("a.epsilon") != permalink.number("b.epsilon")
    st.session_state[f"{KEY}.linked"] = not apart
    st.session_state[f"{KEY}.rect"] = permalink.number_list("rect", 4)
    st.session_state[f"{KEY}.camera"] = permalink.number_list("camera", 3)
    mode = permalink.parameter("mode")
    st.session_state[f"{KEY}.mode"] = mode if mode in MODES else "side"


def _choices(source: Source, explored: Mapping[str, Any]) -> list[Choice]:
    choices: list[Choice] = []
    linked = bool(st.session_state.setdefault(f"{KEY}.linked", True))
    for side, start in STARTS.items():
        st.divider()
        st.markdown(f"**{side.upper()}**")
        wanted = explored.get("method") if side == "a" else None
        saved = permalink.pairs(f"{side}.set")
        if side == "b":
            linked = st.toggle("One ε for both", key=f"{KEY}.linked")
        choices.append(
            method_form(
                f"{KEY}.{side}",
                source.handle.domain.dims,
                public=source.public,
                start=permalink.parameter(f"{side}.method") or wanted or start,
                saved=saved,
                linked=choices[0].epsilon if side == "b" and linked else None,
            )
        )
    return choices


def _step(epsilon: float) -> None:
    """A step of the film: both sides."""
    for side in STARTS:
        st.session_state[f"{KEY}.{side}.epsilon"] = epsilon


def _view(source: Source, choices: list[Choice]) -> View:
    """Each side is rebuilt only where its own configuration changed."""
    built: dict[Any, PointRelease] = st.session_state.setdefault(f"{KEY}.built", {})
    keys = [
        (source.key, side, choice.name, tuple(choice.parameters.items()), choice.epsilon)
        for side, choice in zip("ab", choices, strict=True)
    ]
    for seed, (key, choice) in enumerate(zip(keys, choices, strict=True)):
        if key not in built:
            built[key] = build(
                source.handle, choice.name, choice.epsilon, seed=seed, **choice.parameters
            )
    for key in [key for key in built if key not in keys]:
        del built[key]
    first, second = (built[key] for key in keys)
    labels = (title(choices[0]), title(choices[1]))
    return View(tuple(keys), (first, second), labels)


def _scene(view: View, source: Source, mode: Any) -> Scene:
    """Kept, so that an answer does not make the cells again."""
    remembered = st.session_state.get(f"{KEY}.scene")
    if remembered is not None and remembered[0] == (view.key, mode):
        return remembered[1]  # type: ignore[no-any-return]
    saved = st.session_state.get(f"{KEY}.camera")
    camera = (
        Camera(longitude=saved[0], latitude=saved[1], zoom=saved[2], key=source.key)
        if saved
        else Camera(bounds=domain_bounds(view.releases[0].domain), key=source.key)
    )
    labels = [f"{side}: {label}" for side, label in zip("AB", view.labels, strict=True)]
    if mode == "difference":
        scene = difference_scene(view.releases, view.labels, camera=camera)
    else:
        scene = release_scene(view.releases, labels, mode=mode, camera=camera)
    st.session_state[f"{KEY}.scene"] = ((view.key, mode), scene)
    return scene


@st.fragment
def _map_and_answers(view: View, source: Source, choices: list[Choice]) -> None:
    """The maps and their answers: drawing reruns this part only."""
    rect = st.session_state[f"{KEY}.rect"]
    side_by_side = st.session_state.get(f"{KEY}.mode") == "side"
    stage = st.container(key=f"{KEY}.stage-{'wide' if side_by_side else 'beside'}")
    left, right = stage.columns([7, 3], gap="medium")
    with left:
        mode = st.segmented_control(
            "View",
            list(MODES),
            format_func=MODES.__getitem__,
            key=f"{KEY}.mode",
            label_visibility="collapsed",
        )
        map_view(
            _scene(view, source, mode or "side"),
            key=MAP,
            height=WIDE if side_by_side else HEIGHT,
            on_shape=_drawn,
            on_camera=_moved,
        )
        if choices:
            film_answers(KEY, source, choices, rect)
    with right:
        rows: list[dict[str, Any]] = []
        if rect is None:
            st.markdown("**Draw a rectangle**")
            st.caption(
                "Press ▭ on the map, or D, or hold Shift and drag: both maps answer it. "
                "Or type its four sides below."
            )
        else:
            rows = answer_columns(KEY, view.releases, view.labels, source, rect)
        typed = rectangle_form(KEY, rect, domain_bounds(view.releases[0].domain))
        _copy(rows)
        series = {
            f"ε series of {side}": partial(film_series, source, choice, seed)
            for seed, (side, choice) in enumerate(zip("AB", choices, strict=bool(choices)))
        }
        share_panel(KEY, MAP, view.releases, view.labels, series)
    map_overlay(MAP, shape=Shape(rect=rect) if rect else None)
    permalink.write({"rect": permalink.joined(rect), "mode": mode if mode != "side" else None})
    if typed is not None:
        st.session_state[f"{KEY}.rect"] = typed
        st.rerun(scope="fragment")


def _copy(rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    with st.expander("Both answers as a table", icon=":material/table:"):
        st.dataframe(rows, hide_index=True, width="stretch")
        st.download_button(
            "Answers (CSV)",
            as_csv(rows),
            "comparison.csv",
            "text/csv",
            icon=":material/download:",
            key=f"{KEY}.csv",
            on_click="ignore",
        )


def _drawn() -> None:
    shape = events(MAP).shape
    st.session_state[f"{KEY}.rect"] = shape.rect if shape else None


def _moved() -> None:
    camera = events(MAP).camera
    if camera:
        place = (camera["longitude"], camera["latitude"], camera["zoom"])
        permalink.write({"camera": permalink.joined(place, 5)})


def _described(choice: Choice) -> str:
    """As experiments name a method: ``name:key=value``."""
    return ":".join([choice.name, *(f"{key}={value}" for key, value in choice.parameters.items())])


def _remember(source: Source, choices: list[Choice]) -> None:
    values: dict[str, str | None] = {"data": source.key if source.backdrop else None}
    for side, choice in zip(STARTS, choices, strict=True):
        pairs = ";".join(f"{name}:{value}" for name, value in choice.parameters.items())
        values |= {
            f"{side}.method": choice.name,
            f"{side}.epsilon": f"{choice.epsilon:g}",
            f"{side}.set": pairs,
        }
    permalink.write(values)
