"""One person more: neighbouring data by a click, and what repeated releases cost."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from dpviz.evaluation.lesson import records, suspicion
from dpviz.evaluation.truth import exact_counts
from dpviz.render import boxes, points
from dpviz.render.numbers import odds, percent
from dpviz.trees.lattice import Int
from dpviz.ui.lessons.room import (
    PERSON,
    WITH,
    WITHOUT,
    Rect,
    Room,
    around,
    axis,
    layer,
    named,
    ordinal,
)
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "One person more", 7
DO = (
    "Choose a person to take out, or an empty place to add one. Then publish the count of the "
    "square more than once, and watch the two worlds drift apart."
)
TAKEAWAY = (
    "Privacy is spent: k releases of the same data, each at ε, let the odds about one person move "
    "by up to $e^{k\\varepsilon}$."
)
SOURCE = (
    "Neighbouring data sets and composition: C. Dwork, F. McSherry, K. Nissim, A. Smith, TCC 2006; "
    "C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, §3.5."
)
ATTACKERS = 20_000


def body(room: Room) -> None:
    """See the page."""
    isolated = room.isolated
    seen = around(isolated, 40.0)
    people = records(room.handle, seen)
    edit = st.session_state.setdefault(f"{room.key}.edit", {"data": None})
    if edit["data"] != room.data:
        west, south, east, north = isolated.rect
        edit.update(data=room.data, kind="add", at=((west + east) / 2, (south + north) / 2))
    left, right = st.columns([5, 6], gap="medium")

    def clicked(pick: dict[str, Any]) -> None:
        taken = pick["layer"] == "people"
        at = tuple(people[pick["index"]].tolist()) if taken else (pick["lon"], pick["lat"])
        edit.update(kind="remove" if taken else "add", at=at)

    removed, at = edit["kind"] == "remove", edit["at"]
    with left:
        room.show_pick(
            clicked,
            boxes("square", [isolated.rect], color=(213, 94, 0), width=3),
            points("people", people, color=PERSON, radius=6, pickable=True),
            points("edit", [at], color=(42, 128, 196) if removed else (213, 94, 0), radius=9),
            camera=seen,
            description="The people around one square of 200 metres",
        )
        room.resample()
        with room.aside():
            st.caption("The square is 200 metres wide; the grey discs are people.")
    exact = int(exact_counts(room.handle, isolated.rect)[0])
    inside = _holds(isolated.rect, at)
    with right:
        releases = room.choose(st.slider, "Releases of the same data", "releases", range(1, 11), 1)
        disc = "less** (the blue disc)" if removed else "more** (the orange disc)"
        st.markdown(
            f"The neighbouring data set has **one record {disc}. Exact count of the square: "
            f"**{exact}**, in the neighbour **{exact + inside * (-1 if removed else 1)}** "
            "(public data)."
        )
        if not inside:
            st.info(
                "This record is outside the square, whose count is the same in both worlds: its "
                "release tells nothing at all about it. Choose a place inside it.",
                icon=":material/crop_free:",
            )
            return
        fewer = exact - removed
        seen_by = {
            name: suspicion(fewer, room.epsilon, releases, ATTACKERS, room.seed, record)
            for name, record in ((WITHOUT, False), (WITH, True))
        }
        _chart(room, seen_by, releases)
        _verdict(room.epsilon, releases)


def _chart(room: Room, seen: dict[str, Int], releases: int) -> None:
    rows = [
        {"answers above": above, "share": round(float(count) / ATTACKERS, 5), "world": name}
        for name, counts in seen.items()
        for above, count in enumerate(counts)
    ]
    of_all = f"of {releases} releases" if releases > 1 else "of 1 release"
    bars = layer(
        "bar",
        x=ordinal("answers above", f"Answers above the smaller count, {of_all}"),
        xOffset={"field": "world", "sort": [WITHOUT, WITH]},
        y=axis("share", "Share of attackers"),
        color=named("world", {WITHOUT: BLUE, WITH: ORANGE}),
    )
    room.chart(f"What {ATTACKERS:,} attackers see in each world", rows, 260, bars)


def _verdict(epsilon: float, releases: int) -> None:
    """How sure an attacker may become, at the most."""
    spent = releases * epsilon
    sure = math.exp(spent) / (1 + math.exp(spent))
    certainty = f"at most **{percent(sure, 1)}** sure" if sure < 0.9995 else "**all but certain**"
    st.markdown(
        f"Spent: {releases} × {epsilon:g} = **ε = {spent:g}**. No answer is more than "
        rf"$e^{{k\varepsilon}}$ = {odds(spent)} times as likely in one world as in the other: an "
        f"attacker who began at even odds may become {certainty}, whatever else they know."
    )


def _holds(rect: Rect, at: tuple[float, float]) -> bool:
    west, south, east, north = rect
    return west <= at[0] < east and south <= at[1] < north
