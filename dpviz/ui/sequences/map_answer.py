"""Map of a sequence release: moves, paths and synthetic trips; handle clicks."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.render import Mark, Scene
from dpviz.ui.map import map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.sequences.panel import follow_table, path_panel, place_panel, refused, trip_panel
from dpviz.ui.sequences.source import SequenceSource
from dpviz.ui.sequences.view import (
    MOVES,
    PATHS,
    TRIPS,
    VIEWS,
    MoveView,
    cell_at,
    move_scene,
    path_scene,
    trip_scene,
)
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.frame import Panels, answer_card, map_container, show_card, tabs

FIELDS = (
    permalink.Field("cell", permalink.parameter),
    permalink.choice("view", {view: view for view in VIEWS}, MOVES, "show"),
)


@fragment
def map_and_answer(
    prefix: str,
    view: MoveView,
    source: SequenceSource,
    panels: Panels,
) -> None:
    """Show the map with its answer, and tabs below; a click reruns this fragment only."""
    grid = None if source.places is None else hash(source.places.tobytes())
    shown = f"{prefix}.cell.of"
    if st.session_state.setdefault(shown, grid) != grid:  # cell 3-5 lies elsewhere in another grid
        st.session_state[shown], st.session_state[f"{prefix}.cell"] = grid, None
    placed = source.places is not None
    st.session_state.setdefault(f"{prefix}.show", MOVES)
    with st.container(horizontal=True, vertical_alignment="center", key="dpviz-controls"):
        show = st.segmented_control(
            "Show", VIEWS, key=f"{prefix}.show", required=True, label_visibility="collapsed"
        )
    with map_container() if placed else st.container():
        scene_place = st.container()
        with answer_card() if placed else st.container():
            scene, marks = _answer(prefix, view, source, str(show))
        with scene_place:
            if scene is None:
                follow_table(view)
            else:
                picked = partial(_picked, prefix, view, source) if show == MOVES else None
                map_view(scene, key=f"{prefix}.map", on_pick=picked)
                map_overlay(f"{prefix}.map", marks=marks)
    if cell := st.session_state.get(f"{prefix}.cell"):
        show_card(cell)
    tabs(prefix, panels)
    permalink.write_address(prefix, FIELDS)


def _answer(
    prefix: str, view: MoveView, source: SequenceSource, show: str
) -> tuple[Scene | None, list[Mark]]:
    """Show the answer of a view; return its scene, without places None, and marks above it."""
    placed = source.places is not None
    try:
        if show == PATHS:
            strings, chosen = path_panel(prefix, view)
            return path_scene(view, source, strings, chosen) if placed else None, []
        if show == TRIPS:
            number = trip_panel(prefix, view, source)
            return trip_scene(view, source, number) if placed else None, []
        marks = place_panel(prefix, view, source)
    except DpvizError as error:
        refused(error)
        marks = []
    if not placed:
        return None, marks
    chosen = st.session_state.get(f"{prefix}.cell") in view.symbols and not view.refusal
    return move_scene(view, source, faded=chosen), marks


def _picked(prefix: str, view: MoveView, source: SequenceSource) -> None:
    """Choose the cell that was clicked; clear the choice if it was already chosen."""
    pick = events(f"{prefix}.map").pick
    if not pick or source.places is None:
        return
    cell = cell_at(source.places, pick["lon"], pick["lat"])
    if cell is not None:
        chosen = view.symbols[cell]
        same = st.session_state.get(f"{prefix}.cell") == chosen
        st.session_state[f"{prefix}.cell"] = None if same else chosen
