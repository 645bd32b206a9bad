"""Lesson on the budget: repeated releases of the same data add up."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.evaluation.lesson import noisy_counts, suspicion
from dpviz.evaluation.truth import exact_counts
from dpviz.render.numbers import percent
from dpviz.trees.lattice import Int
from dpviz.ui.lessons.room import (
    WITH,
    WITHOUT,
    Room,
    axis,
    layer,
    ordinal,
)
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "Spending a budget", 4
QUESTION = (
    "The count of a square is published ten times, each time with new noise and the same ε. What "
    "does an attacker gain who collects all ten?"
)
CHOICES = (
    "Nothing: each of them is private",
    "Up to ten times the ε: privacy losses add up",
    "Everything: the average has no noise",
)
ANSWER = 1
REVEAL = "Each time, odds grow up to $e^{\\varepsilon}$-fold: exponents add."
DO = "Publish the count more than once: the two worlds move apart. Then lower ε."
TAKEAWAY = (
    "Privacy is spent: all releases about the same people share one budget, which is fixed before "
    "the first release and does not come back."
)
FORMULA = (
    "k releases at ε each count as one release at $k\\varepsilon$: the odds change by a factor of "
    "up to $e^{k\\varepsilon}$."
)
SOURCE = (
    "Composition: C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, "
    "§3.5."
)
ATTACKERS = 20_000


def body(room: Room) -> None:
    """Show the chapter: what attackers conclude from one release, and from many."""
    releases = room.choose(st.slider, "Releases of the same data", "releases", range(1, 11), 1)
    square = room.isolated.rect
    exact = int(exact_counts(room.handle, square)[0])
    room.show(
        room.one_more(),
        f"{exact} people are in the square, or {exact + 1} with the orange one.",
    )
    if not room.revealed:
        return
    seen_by = {
        name: suspicion(exact, room.epsilon, releases, ATTACKERS, room.seed, record)
        for name, record in ((WITHOUT, False), (WITH, True))
    }
    noise = noisy_counts(exact + 1, room.epsilon, releases, room.seed)
    listed = ", ".join(f"{count:.0f}" for count in noise).replace("-", "−")
    st.markdown(f"Published, with the person in the data: **{listed}**.")
    _chart(room, seen_by, releases, exact)
    _certainty(room.epsilon, releases)


def _chart(room: Room, seen: dict[str, Int], releases: int, exact: int) -> None:
    rows = [
        {"answers above": above, "share": round(float(count) / ATTACKERS, 5), "world": name}
        for name, counts in seen.items()
        for above, count in enumerate(counts)
    ]
    of_all = f"Published counts above {exact} (of {releases})"
    bars = layer(
        "bar",
        x=ordinal("answers above", of_all),
        xOffset={"field": "world", "sort": [WITHOUT, WITH]},
        y=axis("share", "Share of attackers", axis={"tickCount": 3}),
        color=room.named("world", {WITHOUT: BLUE, WITH: ORANGE}),
    )
    room.chart(f"What {ATTACKERS:,} attackers see in each world", rows, 225, bars)


def _certainty(epsilon: float, releases: int) -> None:
    """Show the bound on an attacker's certainty after these releases."""
    spent = releases * epsilon
    sure = math.exp(spent) / (1 + math.exp(spent))
    certainty = f"at most **{percent(sure, 1)}** sure" if sure < 0.9995 else "**all but certain**"
    st.markdown(
        f"Spent: {releases} × {epsilon:g} = **ε = {spent:g}**. An attacker who began at 50 % can "
        f"become {certainty}."
    )
