"""Lesson on grids: cell size against noise; the best size depends on ε."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.evaluation.lesson import ErrorParts, error_parts
from dpviz.evaluation.truth import exact_total
from dpviz.methods import method
from dpviz.queries.workloads import workload
from dpviz.ui.lessons.room import Room, axis, layer, rule
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared.charts import BLUE, GREY, ORANGE

TITLE, ORDER = "Why not a grid", 5
QUESTION = (
    "The city is counted on a grid, with noise on the count of every cell. Which grid answers "
    "questions about rectangles best?"
)
CHOICES = (
    "The finest: it shows most detail",
    "The coarsest: it has least noise",
    "One in between, which depends on ε",
)
ANSWER = 2
REVEAL = "With fine cells the noise adds up; coarse cells hide where the people inside them are."
DO = "Find the number of cells with the smallest error. Then divide ε by ten: is it smaller?"
TAKEAWAY = (
    "The noise of small cells adds up, large cells hide details, and the best size depends on ε: "
    "no grid is best for both a city centre and the sea."
)
FORMULA = (
    r"Error ≈ $\sqrt{\text{noise}^2 + \text{cut cells}^2}$; the published rule: "
    r"$m = \sqrt{n\varepsilon/10}$."
)
SOURCE = "W. Qardaji, W. Yang, N. Li: Differentially Private Grids for Geospatial Data, ICDE 2013."
METHOD = "ugrid"
SIDES = (4, 8, 16, 32, 64, 128, 256)
QUERIES = 300


def body(room: Room) -> None:
    """Show the chapter: a grid whose cell size can be changed, and its errors."""
    side = room.choose(st.select_slider, "Cells per side", "side", SIDES, 128)
    release = room.release(METHOD, cells=side)
    scene = room.scene(release=release, raw=True, description=f"A grid of {side} by {side} cells")
    room.show(
        scene,
        f"{side} by {side} cells as published: any specks in the empty sea are noise.",
    )
    if not room.revealed:
        return
    errors = _error_shares(room.data, room.epsilon, room.seed)
    best = min(errors, key=lambda each: errors[each].predicted)
    here, beyond = errors[side], ", or beyond" if best == SIDES[-1] else ""
    m = getattr(method(METHOD), "side")(exact_total(room.handle), room.epsilon, 2)  # noqa: B009
    st.markdown(
        f"Error: **{here.noise:,.0f}** from noise, **{here.uniformity:,.0f}** from cut cells, "
        f"together **{here.predicted:,.0f}** records. The smallest is at **{best}** cells per side"
        f"{beyond}; the published rule says {m}."
    )
    _chart(room, errors, side)
    room.notes.append(
        f"Root mean square error over {QUERIES} random rectangles of 0.1–1 % of the area. "
        "Cut cells: the error of the same grid without noise."
    )


@st.cache_data(max_entries=64, show_spinner="Measuring seven grids …")
def _error_shares(data: str, epsilon: float, seed: int) -> dict[int, ErrorParts]:
    handle = built_in(data)
    rects = workload(handle.domain, "medium", QUERIES).rects
    return {side: error_parts(handle, rects, METHOD, epsilon, seed, cells=side) for side in SIDES}


def _chart(room: Room, errors: dict[int, ErrorParts], side: int) -> None:
    names = {"noise": BLUE, "cut cells": ORANGE, "together": GREY}
    rows: list[dict[str, Any]] = [
        {"cells per side": m, "error": float(f"{value:.3g}"), "part": name}
        for m, each in errors.items()
        for name, value in (
            ("noise", each.noise),
            ("cut cells", each.uniformity),
            ("together", each.predicted),
            ("measured", each.measured),
        )
    ]
    x = axis(
        "cells per side",
        "Cells per side",
        scale={"type": "log", "base": 2, "nice": False},
        axis={"values": list(SIDES), "grid": False},
    )
    y = axis(
        "error",
        "Error (records)",
        scale={"type": "log", "nice": False},
        axis={"values": [10.0**power for power in range(-3, 7)], "format": "~g"},
    )
    room.chart(
        "Error against the size of the cells (dots: measured)",
        rows,
        230,
        rule({"strokeDash": [4, 4], "color": GREY}, [{"cells per side": side}], x=x),
        {
            "transform": [{"filter": "datum.part != 'measured'"}],
            **layer("line", {"strokeWidth": 2.5}, x=x, y=y, color=room.named("part", names)),
        },
        {
            "transform": [{"filter": "datum.part == 'measured'"}],
            **layer("point", {"filled": True, "size": 60, "color": GREY}, x=x, y=y),
        },
    )
