"""Sequences: movements between places; where people go next, frequent paths, synthetic trips."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.build import build
from dpviz.errors import DpvizError
from dpviz.methods import METHODS, names, of_kind
from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render import Mark, Scene
from dpviz.ui.map import map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.domain_map import choose_domain
from dpviz.ui.sequences.charts import follow_chart
from dpviz.ui.sequences.facts import release_facts
from dpviz.ui.sequences.panel import path_clicked, path_panel, place_panel, refused, trip_panel
from dpviz.ui.sequences.source import PLACES, SequenceSource, opened_sequences, sequence_source
from dpviz.ui.sequences.view import (
    MOVES,
    PATHS,
    VIEWS,
    View,
    cell_at,
    grid_scene,
    move_scene,
    path_scene,
    trip_scene,
)
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import Choice, choice_form
from dpviz.ui.shared.skeleton import Slots, run

TITLE, ICON, ORDER = "Sequences", ":material/timeline:", 3
KEY = "sequences"
MAP = f"{KEY}.map"
START = "markov"
ARROWS = (20, 40, 80, 160, 320)


def page() -> None:
    """The page."""
    run(
        Slots(
            key=KEY,
            records="sequences",
            restore=_restore,
            source=lambda: sequence_source(KEY),
            choose=_method_form,
            build=lambda source, choice, **how: build(
                source.data, choice.name, choice.epsilon, **choice.parameters, **how
            ),
            adopt=opened_sequences,
            empty=_empty,
            before=_before,
            show=_show,
            link=lambda source, choice: {
                **source.link,
                "method": choice.name,
                "set": ";".join(f"{name}:{value}" for name, value in choice.parameters.items()),
            },
        )
    )


def _restore() -> None:
    st.session_state[f"{KEY}.cell"] = permalink.parameter("cell")
    asked = permalink.parameter("view")
    st.session_state[f"{KEY}.show"] = asked if asked in VIEWS else MOVES


def _empty() -> None:
    if st.session_state.get(f"{KEY}.data") == PLACES:
        choose_domain(KEY)
    else:
        st.caption("Choose a file in the sidebar, or the built-in city to see it move.")


def _before(source: SequenceSource) -> None:
    if source.places is not None:
        map_view(grid_scene(source), key=f"{KEY}.grid")


def _show(release: SequenceRelease, source: SequenceSource, choice: Choice | None) -> None:
    view: View | None = st.session_state.get(f"{KEY}.view")
    if view is None or view.release is not release or view.key != (source.key,):
        view = st.session_state[f"{KEY}.view"] = View.of((source.key,), release)
    if view.below_noise:
        st.warning(
            "Most moves are within their noise, and so is what is drawn from them. Raise ε, choose "
            "fewer cells, or lower l_top among the parameters.",
            icon=":material/waves:",
        )
    _map_and_answer(view, source)
    release_facts(KEY, view, source, choice, seed=st.session_state[f"{KEY}.seed"])


def _method_form(source: SequenceSource) -> Choice:
    able = {
        alias: name
        for alias, (name, _) in names("sequences").items()
        if source.data.public or METHODS[name].guarantee != "none"
    }
    return choice_form(
        KEY,
        of_kind("sequences"),
        names("sequences"),
        able,
        start=permalink.parameter("method") or START,
        instead=START,
        saved=permalink.pairs("set"),
        reason="no guarantee",
        help="How contexts or strings are found, and what is released of them.",
    )


@st.fragment
def _map_and_answer(view: View, source: SequenceSource) -> None:
    """The map and its answer: a click reruns this part only."""
    show = st.segmented_control(
        "Show", VIEWS, key=f"{KEY}.show", required=True, label_visibility="collapsed"
    )
    placed = source.places is not None
    left, right = st.columns([7, 3] if placed else [1, 1], gap="medium")
    if placed and show == MOVES:
        with left:  # before the panel, whose tables are slow the first time
            _map(_moves(view, source), view, source, show)
    scene: Scene | None = None
    marks: list[Mark] = []
    with right:
        try:
            if show == MOVES:
                marks = place_panel(KEY, view, source)
                if placed:
                    st.select_slider("Arrows on the map", ARROWS, key=f"{KEY}.arrows")
            elif show == PATHS:
                strings, chosen = path_panel(KEY, view)
                scene = path_scene(view, source, strings, chosen) if placed else None
            else:
                number = trip_panel(KEY, view, source)
                scene = trip_scene(view, source, number) if placed else None
        except DpvizError as error:
            refused(error)
            scene = _moves(view, source) if placed else None
    with left:
        if scene is not None:
            _map(scene, view, source, show)
        if placed:
            map_overlay(MAP, marks=marks)
        else:
            follow_chart(view)
    permalink.write(
        {"cell": st.session_state.get(f"{KEY}.cell"), "view": None if show == MOVES else show}
    )
    permalink.keep(KEY)


def _map(scene: Scene, view: View, source: SequenceSource, show: str | None) -> None:
    map_view(scene, key=MAP, on_pick=partial(_picked, view, source, show))


def _moves(view: View, source: SequenceSource) -> Scene:
    """Moves, faded behind the arrows of a chosen place."""
    arrows = st.session_state.setdefault(f"{KEY}.arrows", 80)
    chosen = st.session_state.get(f"{KEY}.cell") in view.names and not view.refusal
    return move_scene(view, source, int(arrows), faded=chosen)


def _picked(view: View, source: SequenceSource, show: str | None) -> None:
    """A click chooses the cell around it, or a path; on the chosen one, it lets go."""
    pick = events(MAP).pick
    if not pick or source.places is None:
        return
    if show == PATHS:
        path_clicked(KEY, pick["layer"], pick["index"])
    if show != MOVES:
        return
    cell = cell_at(source.places, pick["lon"], pick["lat"])
    if cell is not None:
        chosen = view.names[cell]
        same = st.session_state.get(f"{KEY}.cell") == chosen
        st.session_state[f"{KEY}.cell"] = None if same else chosen
