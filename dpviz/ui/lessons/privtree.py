"""Lesson on PrivTree: one path from the root to a leaf, step by step."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dpviz.evaluation.privtree_trace import Path, Step, steps, trace
from dpviz.render import boxes
from dpviz.ui.lessons.room import DASHED, Rect, Room, axis, layer, rule
from dpviz.ui.map.component import events
from dpviz.ui.points.source_form import built_in
from dpviz.ui.shared import permalink
from dpviz.ui.shared.charts import ORANGE, SHORT

TITLE, ORDER = "PrivTree, step by step", 7
QUESTION = (
    "PrivTree decides for every cell whether to split it, so the tree is deep only where there are "
    "many people. What does a deeper tree cost?"
)
CHOICES = (
    "A share of ε for every level",
    "Nothing more: all levels together have one fixed price",
    "It cannot be private: it looks at the counts",
)
ANSWER = 1
REVEAL = (
    "Each level down subtracts a constant: one person's influence at least quadruples, "
    "up to a limit."
)
DO = "Follow one path down with the slider. Then choose another place, and another ε."
TAKEAWAY = (
    "Each level down subtracts a constant: nearly all of a record's influence lies in the few "
    "levels near the threshold, and depth costs nothing."
)
FORMULA = (
    r"Split a cell of count $c$ at depth $i$ iff $\max(\theta-\delta,\, c - i\delta) + "
    r"\mathrm{Lap}(\lambda) > \theta = 0$; $\delta = \lambda \ln 4$, "
    r"$\lambda = (7/3)/(\varepsilon/2)$."
)
SOURCE = (
    "J. Zhang, X. Xiao, X. Xie: PrivTree: A Differentially Private Algorithm for Hierarchical "
    "Decompositions, SIGMOD 2016, algorithm 2 and theorem 3.1."
)
METHOD = "privtree"
TICKS = [-10_000, -100, 0, 100, 10_000, 1_000_000]
"""Ticks of a count's axis, evenly spaced where counts are large."""

START = (14.5477, -23.9714)


def body(room: Room) -> None:
    """Show the chapter: one split decision at a time, on the map and in numbers."""
    place = _place(room)
    path = _path(room.data, place, room.epsilon, room.seed)
    grown = steps(path, room.epsilon)
    last = len(grown) - 1
    steps_down = range(max(last, 1) + 1)  # a root that is not split is one step
    at = min(room.choose(st.slider, "Step (depth of the cell)", "step", steps_down, 0), last)
    _map(room, path, at)
    if not room.revealed:
        return
    _decision(grown[at], last=at == last)
    _levels(room, grown, at)
    room.notes.append(
        "Only the splits are published, not the counts, the bias or the noise. All splits together "
        "cost ε/2; the other half pays for the counts of the leaves."
    )


def _place(room: Room) -> tuple[float, float]:
    """Target of the path: last click, else the address, else a place with a long path."""
    key = f"{room.key}.place"
    if key not in st.session_state:
        asked = permalink.number_list("place", 2) or (math.inf, math.inf)
        west, south, east, north = room.bounds
        inside = west <= asked[0] <= east and south <= asked[1] <= north
        st.session_state[key] = (asked[0], asked[1]) if inside else START
        if not inside:
            permalink.refused("place", permalink.parameter("place"))
    place: tuple[float, float] = st.session_state[key]
    room.link["place"] = permalink.joined(place)
    return place


def _signed(value: float, plus: str = "") -> str:
    return f"{value:{plus},.1f}".replace("-", "−")


def _decision(step: Step, *, last: bool) -> None:
    """Show one decision in words and numbers."""
    verdict = ":orange-badge[split]" if step.split else ":blue-badge[leaf]"
    clamp = " (not below θ − δ)" if step.biased > step.exact - step.bias + 1e-9 else ""
    compare = ">" if step.split else "≤"
    st.markdown(
        f"**Depth {step.depth}.** Exact count {step.exact:,} minus the bias {step.bias:.1f}: "
        f"**{_signed(step.biased)}**{clamp}. With the noise {_signed(step.noise, '+')}: "
        f"**{_signed(step.biased + step.noise)} {compare} θ = {step.threshold:g}** → {verdict}"
        + (" The path ends here." if last and not step.split else "")
    )


def _map(room: Room, path: Path, at: int) -> None:
    """Show the release, the cells of the path so far, and the current cell."""
    domain = room.handle.domain
    rects: list[Rect] = []
    for depth in range(at + 1):
        corners = (domain.to_coordinates(side[depth]).tolist() for side in (path.lo, path.hi))
        (west, south), (east, north) = corners
        rects.append((west, south, east, north))
    key = f"{room.key}.place"

    def picked() -> None:
        if pick := events(room.map_key).pick:
            st.session_state[key] = (pick["lon"], pick["lat"])

    marks = [boxes("now", [rects[-1]], color=(213, 94, 0), width=4)]
    if at:
        marks.insert(0, boxes("path", rects[:-1], color=(240, 150, 60), width=1.5))
    scene = room.scene(
        *marks,
        picks=True,
        release=room.release(METHOD),
        camera=rects[max(0, at - 2)],
        description=f"The tree, and the path to one place down to depth {at}",
    )
    room.show(
        scene,
        f"Orange: the cells of one path, to depth {at}. A click chooses another.",
        on_pick=picked,
    )


def _levels(room: Room, grown: list[Step], at: int) -> None:
    rows: list[dict[str, Any]] = [
        {
            "depth": step.depth,
            "exact": step.exact,
            "bias": round(step.bias, 2),
            "noise": round(step.noise, 2),
            "biased + noise": round(step.biased + step.noise, 2),
            "decision": "split" if step.split else "leaf",
        }
        for step in grown
    ]
    x = axis(
        "depth",
        "Depth",
        scale={"padding": 6, "nice": False},
        axis={"tickMinStep": 1, "grid": False, "format": "d"},
    )
    y = axis(
        "biased + noise",
        "Biased count + noise",
        scale={"type": "symlog", "constant": 10, "nice": False},
        axis={"values": TICKS, "labelExpr": SHORT},
    )
    shape = {
        "field": "decision",
        "scale": {"domain": ["split", "leaf"], "range": ["circle", "square"]},
        "legend": None,
    }
    tooltip = [{"field": name} for name in rows[0]]
    look = {"color": ORANGE}
    room.chart(
        f"Decisions down the path (square: the leaf at depth {len(grown) - 1})",
        rows,
        215,
        rule(DASHED, [{"biased + noise": grown[0].threshold}], y=y),
        rule({**look, "opacity": 0.25, "strokeWidth": 12}, [{"depth": at}], x=x),
        layer("line", look, x=x, y=y),
        layer(
            "point", {**look, "filled": True, "size": 60}, x=x, y=y, shape=shape, tooltip=tooltip
        ),
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _path(data: str, place: tuple[float, float], epsilon: float, seed: int) -> Path:
    return trace(built_in(data), place, epsilon, seed)[0]
