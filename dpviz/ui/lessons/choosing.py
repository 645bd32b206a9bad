"""Lesson on choosing a method: accuracy by ε on a city, without an overall winner."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.plots import COLOURS
from dpviz.evaluation.points import PointBench
from dpviz.methods import METHODS, names
from dpviz.queries.workloads import workload
from dpviz.ui.lessons.room import Room
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared.charts import error_chart

TITLE, ORDER = "Choosing", 9
DO = (
    "Change the size of the questions, and the data in the sidebar: which method wins, and at "
    "which ε?"
)
TAKEAWAY = (
    "No method wins everywhere: what is best depends on the size of the questions, on ε and on the "
    "data, so measure on public data that resemble yours, and never on yours."
)
SOURCE = (
    "M. Hay, A. Machanavajjhala, G. Miklau, Y. Chen, D. Zhang: Principled Evaluation of "
    "Differentially Private Algorithms using DPBench, SIGMOD 2016."
)
ON_OFFER = ("privtree", "ladder_tree", "ugrid", "agrid", "quad-opt")
EPSILONS = (0.05, 0.2, 0.8, 3.2)
SIZES = {
    "small": "0.01–0.1 %",
    "medium": "0.1–1 %",
    "large": "1–10 %",
}
QUERIES = 200


def body(room: Room) -> None:
    """Show the chapter: error curves of several methods."""
    left, right = st.columns([5, 6], gap="medium")
    with left:
        name = room.choose(
            st.selectbox, "Method on the map", "map_of", ON_OFFER, ON_OFFER[0], format_func=_title
        )
        release = room.release(name)
        room.show(room.scene(release=release, description=f"The city by {_title(name)}"))
        room.resample()
    with right:
        size = room.choose(
            st.segmented_control,
            "Size of the questions (share of the area)",
            "size",
            list(SIZES),
            "medium",
            required=True,
            format_func=SIZES.__getitem__,
        )
        _measure(room, size)


def _title(alias: str) -> str:
    """Method title without the part in brackets, short enough for a legend."""
    return METHODS[names("points")[alias][0]].title.partition(" (")[0]


def _measure(room: Room, size: str) -> None:
    """Error curves of the methods for queries of one size."""
    every = _errors(room.data, room.seed)
    rows = [row for row in every if row["size"] == SIZES[size]]
    caption = f"Mean relative error of questions of {SIZES[size]} of the area"
    st.markdown(f"**{caption}**")
    errors = [row["error"] for row in every]
    colours = dict(zip(map(_title, ON_OFFER), COLOURS, strict=False))
    ends = (min(errors) / 1.2, max(errors) * 1.2)
    points = [{**row, "low": row["error"], "high": row["error"]} for row in rows]
    st.altair_chart(error_chart(points, "Relative error", EPSILONS, ends, colours))
    room.tables[caption] = rows
    st.caption(
        f"One release each, {QUERIES} random rectangles; an error is divided by the exact count, "
        "or by 0.1 % of all records where that is more. Draw new noise to see how much of it is "
        "luck; page Compare measures with repetitions. Why: a tree pays to find out where people "
        "are, a grid does not; the larger ε and the more even the city, the less that buys."
    )


@st.cache_data(max_entries=32, show_spinner="Measuring the methods …")
def _errors(data: str, seed: int) -> list[dict[str, Any]]:
    """Mean relative error of each method, ε and size, from one release each."""
    handle = built_in(data)
    loads = tuple(workload(handle.domain, size, QUERIES) for size in SIZES)
    plan = Experiment(ON_OFFER, EPSILONS, repeats=1, seed=seed)
    return [
        {
            "method": _title(row.method),
            "epsilon": row.epsilon,
            "size": SIZES[row.size],
            "error": round(row.value, 5),
        }
        for results in run(PointBench(handle, loads), plan)
        for row in results
        if row.measure == "mean_relative_error"
    ]
