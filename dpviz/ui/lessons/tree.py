"""Lesson on trees: height of a quadtree, ε per level, and the gain by consistency."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.evaluation.lesson import ErrorParts, error_parts
from dpviz.queries.workloads import workload
from dpviz.ui.lessons.room import Room, axis, layer, ordinal
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "A tree", 6
QUESTION = (
    "A tree counts the city on several levels, from one cell to thousands of cells. Each person is "
    "in one cell of every level. What happens to the share of ε per level if there are more levels?"
)
CHOICES = (
    "Nothing: each level has all of ε",
    "It gets smaller: the levels share one ε",
    "Deep levels are free: their cells are small",
)
ANSWER = 1
REVEAL = "Each person is counted once on every level, so the shares of ε of all levels add up."
DO = "Raise the height: how is ε divided? Then compare the shares, with and without consistency."
TAKEAWAY = (
    "A tree answers large and small questions with few cells, but every level costs a share of ε: "
    "choose the height before you see the data."
)
FORMULA = (
    r"$\varepsilon = \varepsilon_0 + \dots + \varepsilon_h$; geometric shares: "
    r"$\varepsilon_i \propto 2^{i/3}$ (the root is level 0)."
)
SOURCE = (
    "G. Cormode, C. Procopiuc, D. Srivastava, E. Shen, T. Yu: Differentially Private Spatial "
    "Decompositions, ICDE 2012, §4 and 5."
)
METHOD = "quadtree"
BUDGETS = ("uniform", "geometric")
QUERIES, RESAMPLES = 200, 3
HIGHEST = 7


def body(room: Room) -> None:
    """Show the chapter: a quadtree whose height, shares and consistency can be changed."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        heights = range(1, HIGHEST + 1)
        height = room.choose(st.slider, "Height (levels)", "height", heights, 6, width=150)
        budget = room.choose(
            st.segmented_control, "Shares of ε", "budget", BUDGETS, "geometric", required=True
        )
        about = "Every cell becomes the sum of its children, at no cost."
        consistent = room.choose(
            st.toggle, "Consistency", "consistent", (True, False), True, help=about
        )
    release = room.release(METHOD, height=height, budget=budget, consistency=consistent, prune=0.0)
    words = f"A quadtree of height {height}: {4**height:,} leaves of one size"
    room.show(
        room.scene(release=release, raw=True, description=words),
        f"{words}, each as it was published.",
    )
    if not room.revealed:
        return
    variants = _variants(room.data, room.epsilon, room.seed, height)
    blur = next(iter(variants.values())).uniformity
    left, right = st.columns(2)
    with left:
        _shares(room, [float(row["epsilon"]) for row in release.header.budget])
    with right:
        _errors(room, variants, _label(budget, consistent))
    room.notes.append(
        f"Root mean square error over {QUERIES} rectangles of 1–10 % of the area; cut cells add "
        f"{blur:,.0f} records of error."
    )


def _label(budget: str, consistent: bool) -> str:
    return f"{budget} + consistency" if consistent else budget


@st.cache_data(max_entries=64, show_spinner="Measuring four trees …")
def _variants(data: str, epsilon: float, seed: int, height: int) -> dict[str, ErrorParts]:
    handle = built_in(data)
    rects = workload(handle.domain, "large", QUERIES).rects
    return {
        _label(budget, consistent): error_parts(
            handle,
            rects,
            METHOD,
            epsilon,
            seed,
            resamples=RESAMPLES,
            height=height,
            budget=budget,
            consistency=consistent,
            prune=0.0,
        )
        for budget in BUDGETS
        for consistent in (False, True)
    }


def _shares(room: Room, shares: list[float]) -> None:
    rows = [{"level": level, "ε": round(share, 4)} for level, share in enumerate(shares)]
    x, y = ordinal("level", "Level (root: 0)"), axis("ε", "ε", axis={"tickCount": 3})
    bars = layer("bar", {"color": BLUE}, x=x, y=y)
    room.chart(f"How ε = {room.epsilon:g} is shared", rows, 225, bars)


def _errors(room: Room, variants: dict[str, ErrorParts], chosen: str) -> None:
    rows: list[dict[str, Any]] = [
        {"tree": name, "error": round(options.noise_measured, 3), "chosen": name == chosen}
        for name, options in variants.items()
    ]
    look = {
        "title": None,
        "labelOverlap": False,
        "labelLimit": 220,
        "labelExpr": "split(replace(datum.label, ' + ', '|+ '), '|')",
    }
    bars = layer(
        "bar",
        y={"field": "tree", "type": "nominal", "sort": None, "axis": look},
        x=axis("error", "Noise error (records)", axis={"format": ",~r", "tickCount": 2}),
        color={"condition": {"test": "datum.chosen", "value": ORANGE}, "value": BLUE},
    )
    room.chart("Noise error of four such trees", rows, 225, bars, bars=2 * len(rows))
