"""Lesson on choosing ε and a method: what both mean for privacy and for errors."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.lesson import posterior
from dpviz.evaluation.plots import COLOURS
from dpviz.evaluation.points import PointBench
from dpviz.exports.facts import strength
from dpviz.methods import METHODS, names
from dpviz.queries.workloads import workload
from dpviz.ui.lessons.room import LIMIT, Room, axis, layer, of_100, rule
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared.charts import DASHES, LINES

TITLE, ORDER = "Choosing ε", 11
QUESTION = (
    "You choose a better method at the same ε, and the errors of the map get smaller. What happens "
    "to the privacy of the people in the data?"
)
CHOICES = (
    "It shrinks, too: a more useful map is less private",
    "It stays the same: ε sets it, not the method",
    "It grows: the method is better",
)
ANSWER = 1
REVEAL = (
    "A more useful map is not less private, because a better method makes better use of the same ε."
)
DO = "Choose the largest error you can accept: at which ε does each method reach it?"
TAKEAWAY = (
    "Choose ε by what an attacker may learn about one person, and the method by its errors on "
    "public data that are like yours, never on your own data."
)
FORMULA = "Odds after ≤ $e^{\\varepsilon}$ · odds before, for every method."
SOURCE = (
    "M. Hay, A. Machanavajjhala, G. Miklau, Y. Chen, D. Zhang: Principled Evaluation of "
    "Differentially Private Algorithms using DPBench, SIGMOD 2016."
)
ON_OFFER = ("ladder_tree", "privtree", "ugrid", "agrid", "quad-opt")
EPSILONS = (0.05, 0.2, 0.8, 3.2)
SIZES = {
    "small": "0.01–0.1 %",
    "medium": "0.1–1 %",
    "large": "1–10 %",
}
QUERIES = 200
TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)


def body(room: Room) -> None:
    """Show the chapter: error curves of several methods, and what ε lets be believed."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        size = room.choose(
            st.segmented_control,
            "Size of the questions (share of the area)",
            "size",
            list(SIZES),
            "medium",
            required=True,
            format_func=SIZES.__getitem__,
        )
        name = room.choose(
            st.selectbox,
            "Method on the map",
            "map_of",
            ON_OFFER,
            ON_OFFER[0],
            format_func=_title,
            width=220,
        )
    room.show(
        room.scene(release=room.release(name), description=f"The city by {_title(name)}"),
        f"The city at ε = {room.epsilon:g}, by {_title(name)}.",
    )
    if not room.revealed:
        return
    believed = of_100(100 * posterior(0.1, room.epsilon))
    st.markdown(
        f"{strength(room.epsilon).capitalize()}: a belief of 10 in 100 can grow to **{believed}** "
        "at most."
    )
    _measure(room, size)


def _title(alias: str) -> str:
    """Method title without the part in brackets, short enough for a legend."""
    return METHODS[names("points")[alias][0]].title.partition(" (")[0]


def _measure(room: Room, size: str) -> None:
    """Error curves of the methods for queries of one size."""
    rows = [row for row in _errors(room.data, room.seed) if row["size"] == SIZES[size]]
    errors = [row["error"] for row in rows]
    titles = [_title(alias) for alias in ON_OFFER]
    method = room.named("method", dict(zip(titles, COLOURS, strict=False)), **LINES)
    ends = [min(errors) / 1.2, max(errors) * 1.2]
    x = axis("epsilon", "ε", scale={"type": "log"}, axis={"values": EPSILONS, "grid": False})
    lines = layer(
        "line",
        {"point": {"filled": True}},
        x=x,
        y=axis(
            "error",
            "Relative error",
            scale={"type": "log", "domain": ends, "nice": False},
            axis={"values": TICKS, "format": "~g"},
        ),
        color=method,
        strokeDash={
            **method,
            "scale": {"domain": titles, "range": DASHES[: len(titles)]},
            "legend": None,
        },
    )
    caption = f"Mean relative error of questions of {SIZES[size]} of the area"
    height = 267 if room.presenting else 250  # large letters: all ticks have labels
    room.chart(caption, rows, height, lines, rule(LIMIT, [{"epsilon": room.epsilon}], x=x))
    room.notes.append(
        f"One release each, {QUERIES} random rectangles; an error is divided by the exact count, "
        "or by 0.1 % of all records where that is more."
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
