"""Lesson on noise: the geometric mechanism, and ε as a ratio of two histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import streamlit as st

from dpviz.evaluation.lesson import Worlds, two_worlds
from dpviz.evaluation.truth import exact_counts
from dpviz.render.numbers import odds
from dpviz.ui.lessons.room import WITH, WITHOUT, Room, axis, factor_words, layer
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "Noise and ε", 3
QUESTION = (
    "A count is published with random noise. In one world you are counted, in the other world you "
    "are not. Can an attacker who sees the published number say which world it is?"
)
CHOICES = (
    "Yes: the larger number reveals it",
    "No: the number says nothing at all",
    "Only with some probability, which ε limits",
)
ANSWER = 2
REVEAL = "A number can be likelier in one world, by a factor."
at_epsilon = factor_words
DO = "Raise the number of draws and watch both histograms fill up. Then change ε."
TAKEAWAY = (
    "ε limits a ratio: how much likelier a published number can be with you than without you, or "
    "the reverse; a smaller ε allows less."
)
FORMULA = (
    "$e^{-\\varepsilon} \\le P(\\text{release with you}) / P(\\text{without}) \\le "
    "e^{\\varepsilon}$. Noise is k with probability $\\frac{1-a}{1+a}\\,a^{|k|}$, where "
    "$a = e^{-\\varepsilon}$."
)
SOURCE = (
    "The geometric mechanism: A. Ghosh, T. Roughgarden, M. Sundararajan, Universally "
    "Utility-Maximizing Privacy Mechanisms, STOC 2009."
)
METHOD = "privtree"
DRAWS = (1, 10, 100, 1_000, 10_000, 100_000)
ENOUGH = 50
"""Draws that a bin needs in both worlds before its ratio is shown."""


def body(room: Room) -> None:
    """Show the chapter: draw noise, and compare two histograms."""
    rect = room.show_rect(
        release=room.release(METHOD),
        description="The city, and a rectangle whose count is published",
        words="A private release of the city, and the rectangle whose count is published.",
    )
    draws = room.choose(
        st.select_slider, "Draws so far", "draws", DRAWS, 1_000, format_func="{:,}".format
    )
    if not room.revealed:
        return
    count = int(exact_counts(room.handle, rect)[0])
    worlds = _worlds(count, room.epsilon, draws, room.seed)
    _histograms(room, worlds, draws)
    _ratio(room, worlds, draws)


_worlds = st.cache_data(max_entries=64, show_spinner=False)(two_worlds)


def _histograms(room: Room, worlds: Worlds, draws: int) -> None:
    rows = [
        {
            "published count": float(value) + (worlds.width - 1) / 2,
            "share of draws": round(float(share) / draws, 6),
            "exact probability": round(float(likely), 6),
            "world": name,
        }
        for name, column, exact in (
            (WITHOUT, worlds.without, worlds.likely[0]),
            (WITH, worlds.with_one, worlds.likely[1]),
        )
        for value, share, likely in zip(worlds.value, column, exact, strict=True)
    ]
    colour = room.named("world", {WITHOUT: BLUE, WITH: ORANGE})
    x, y = _published(), axis("share of draws", "Share of draws", axis={"tickCount": 3})
    steps = layer(
        "area",
        {"interpolate": "step", "opacity": 0.4},
        x=x,
        y={**y, "stack": None},
        color=colour,
    )
    lines = layer(
        "line",
        {"interpolate": "step", "strokeWidth": 1.5},
        x=x,
        y={**y, "field": "exact probability"},
        color=colour,
    )
    wide = f", in bins of {worlds.width}" if worlds.width > 1 else ""
    times = "1 draw" if draws == 1 else f"{draws:,} draws"
    caption = f"{times} in each world{wide} (lines: exact)"
    room.chart(caption, rows, 228, steps, lines)


def _ratio(room: Room, worlds: Worlds, draws: int) -> None:
    """Compare the two frequencies of one count, and name the factor that ε allows."""
    fewest = np.minimum(worlds.without, worlds.with_one)
    at = int(np.argmax(fewest))
    if fewest[at] < ENOUGH:
        most = DRAWS[-1] * worlds.likely.min(axis=0).max()  # expected, however many are drawn
        remedy = "lower ε" if draws == DRAWS[-1] or most < ENOUGH else "draw more"
        st.markdown(f"A ratio needs {ENOUGH} draws in a bin of both histograms: **{remedy}**.")
        return
    first = int(worlds.value[at])
    counts = f"{first:,} to {first + worlds.width - 1:,}" if worlds.width > 1 else f"{first:,}"
    without, with_one = int(worlds.without[at]), int(worlds.with_one[at])
    more, fewer = max(without, with_one), min(without, with_one)
    exact = math.exp(abs(math.log(worlds.likely[1][at] / worlds.likely[0][at])))
    st.markdown(
        f"**{counts}** was drawn {without:,} times {WITHOUT} and {with_one:,} times {WITH}: "
        f"**{more / fewer:.3g}** times as often (exact: {exact:.3g}). ε allows at most "
        f"**{odds(room.epsilon)}**."
    )


def _published() -> dict[str, Any]:
    return axis(
        "published count",
        "Published count",
        axis={"grid": False, "tickMinStep": 1, "tickCount": 5, "format": ",d"},
        scale={"zero": False},
    )
