"""Lesson on one person more: two neighbouring worlds, and the cost of repeated releases."""

from __future__ import annotations

import math

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
    "Publish the count of the square more than once, and watch the two worlds drift apart. Then "
    "lower ε in the sidebar."
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
    """Show the chapter: answers in both worlds, and what attackers conclude."""
    isolated = room.isolated
    seen = around(isolated, 40.0)
    left, right = st.columns([5, 6], gap="medium")
    with right:
        releases = room.choose(st.slider, "Releases of the same data", "releases", range(1, 11), 1)
    west, south, east, north = isolated.rect
    with left:
        room.show(
            room.scene(
                boxes("square", [isolated.rect], color=(213, 94, 0), width=3),
                points("people", records(room.handle, seen), color=PERSON, radius=6),
                points(
                    "one", [((west + east) / 2, (south + north) / 2)], color=(213, 94, 0), radius=9
                ),
                camera=seen,
                description="The people around one square of 200 metres, and one more in it",
            )
        )
        room.resample()
        with room.aside():
            st.caption(
                "The square is 200 metres wide; the grey discs are people, the orange one is the "
                "person more."
            )
    exact = int(exact_counts(room.handle, isolated.rect)[0])
    with right:
        st.markdown(
            f"The neighbouring data set has **one record more** (the orange disc). Exact count of "
            f"the square: **{exact}**, in the neighbour **{exact + 1}** (public data)."
        )
        seen_by = {
            name: suspicion(exact, room.epsilon, releases, ATTACKERS, room.seed, record)
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
    """Show the bound on an attacker's certainty after these releases."""
    spent = releases * epsilon
    sure = math.exp(spent) / (1 + math.exp(spent))
    certainty = f"at most **{percent(sure, 1)}** sure" if sure < 0.9995 else "**all but certain**"
    st.markdown(
        f"Spent: {releases} × {epsilon:g} = **ε = {spent:g}**. No answer is more than "
        rf"$e^{{k\varepsilon}}$ = {odds(spent)} times as likely in one world as in the other: an "
        f"attacker who began at even odds may become {certainty}, whatever else they know."
    )
