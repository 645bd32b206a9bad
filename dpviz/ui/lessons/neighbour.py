"""Lesson on one person: two neighbouring worlds, and their odds as people out of a hundred."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.evaluation.lesson import posterior
from dpviz.evaluation.truth import exact_counts
from dpviz.render.numbers import odds
from dpviz.ui.lessons.room import Room, factor_words, layer, of_100
from dpviz.ui.shared.charts import BLUE, GREY, ORANGE

TITLE, ORDER = "One person, two worlds", 2
QUESTION = (
    "Think of 100 people who are all equally likely to be in the data; 10 of them are. A private "
    "release is published. How many of the 100 may an attacker now believe to be in the data?"
)
CHOICES = (
    "Still 10: the release says nothing about one person",
    "More or fewer, and ε limits how many",
    "All or none: a clever attacker can find out",
)
ANSWER = 1
REVEAL = "A release changes the odds by a factor that ε limits."
at_epsilon = factor_words
DO = "Change ε, and what the attacker believed before: how much can one release change this belief?"
TAKEAWAY = (
    "ε is a promise to every single person: a release changes the odds that this person is in the "
    "data by a limited factor, whatever else an attacker knows."
)
FORMULA = (
    "Odds after ≤ $e^{\\varepsilon}$ · odds before; from $p$ before, at most "
    "$p\\,e^{\\varepsilon} / (1 - p + p\\,e^{\\varepsilon})$ after."
)
SOURCE = (
    "Neighbouring data sets: C. Dwork, F. McSherry, K. Nissim, A. Smith, TCC 2006; what an "
    "attacker may conclude: S. Kasiviswanathan, A. Smith, J. Privacy and Confidentiality 2014."
)
NOISE = False
PRIORS = (1, 5, 10, 25, 50, 75, 90)


def body(room: Room) -> None:
    """Show the chapter: the two worlds on the map, and beliefs as people out of a hundred."""
    before = room.choose(st.select_slider, "Believed before, of 100 people", "before", PRIORS, 10)
    _map(room)
    if not room.revealed:
        return
    most, least = (posterior(before / 100, sign * room.epsilon) * 100 for sign in (1, -1))
    with st.container(horizontal=True, gap="medium"):
        st.metric("Before", f"{before} of 100", width="content")
        st.metric("After: at most", f"{of_100(most)} of 100", width="content")
        st.metric("After: at least", f"{of_100(least)} of 100", width="content")
        st.metric("Factor of the odds", odds(room.epsilon), width="content")
    _chart(room, before, most)


def _map(room: Room) -> None:
    """Show the people around one square, and the person who is in one of the worlds only."""
    exact = int(exact_counts(room.handle, room.isolated.rect)[0])
    room.show(
        room.one_more(),
        f"Two worlds: {exact} people are in the square, or {exact + 1} with the orange one.",
    )


def _chart(room: Room, before: int, most: float) -> None:
    names = {
        "believed before": ORANGE,
        "after, at most these, too": BLUE,
        "not believed": GREY,
    }
    first, second, third = names
    rows: list[dict[str, Any]] = [
        {
            "person": person + 1,
            "column": person % 20,
            "row": person // 20,
            "belief": first if person < before else second if person < round(most) else third,
        }
        for person in range(100)
    ]
    place = {"type": "ordinal", "axis": None}
    people = layer(
        "point",
        {"filled": True, "size": 170},
        x={"field": "column", **place},
        y={"field": "row", **place},
        color=room.named("belief", names),
        shape={
            "field": "belief",
            "scale": {"domain": list(names), "range": ["circle", "square", "circle"]},
            "legend": None,
        },
    )
    room.chart(f"100 people, ε = {room.epsilon:g}", rows, 200, people)
