"""Lesson on noise: the geometric mechanism, and ε as a ratio of two histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import streamlit as st

from dpviz.evaluation.lesson import Worlds, two_worlds
from dpviz.evaluation.truth import exact_counts
from dpviz.ui.lessons.room import (
    LIMIT,
    WITH,
    WITHOUT,
    Room,
    axis,
    layer,
    named,
    rule,
)
from dpviz.ui.shared.charts import BLUE, ORANGE

TITLE, ORDER = "Noise", 2
DO = (
    "Raise the number of draws and watch two histograms fill up: the count of the rectangle, and "
    "the count if one more person were in it. Then change ε in the sidebar."
)
TAKEAWAY = (
    "ε is a promise about a ratio: whatever is published, it is at most $e^{\\varepsilon}$ "
    "times as likely with you in the data as without you."
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
    left, right = st.columns([5, 6], gap="medium")
    with left:
        rect = room.show_rect(
            release=room.release(METHOD),
            description="The city, and a rectangle whose count is published",
        )
        room.resample()
        count = int(exact_counts(room.handle, rect)[0])
        with room.aside():
            st.markdown(
                f"Exact count of the rectangle: **{count:,}** (public data). Its published count, "
                f"for all of ε = {room.epsilon:g}, is off by k with probability"
            )
            st.latex(r"P(k) = \frac{1-a}{1+a}\,a^{|k|},\qquad a = e^{-\varepsilon}")
    with right:
        draws = room.choose(
            st.select_slider, "Draws so far", "draws", DRAWS, 1_000, format_func="{:,}".format
        )
        worlds = _worlds(count, room.epsilon, draws, room.seed)
        _histograms(room, worlds, draws)
        _ratios(room, worlds, draws)


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
    colour = named("world", {WITHOUT: BLUE, WITH: ORANGE})
    x, y = _published(), axis("share of draws", "Share of draws")
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
    room.chart(caption, rows, 215, steps, lines)


def _ratios(room: Room, worlds: Worlds, draws: int) -> None:
    enough = np.minimum(worlds.without, worlds.with_one) >= ENOUGH
    ratio = worlds.with_one[enough] / worlds.without[enough]
    rows = [
        {
            "published count": float(value) + (worlds.width - 1) / 2,
            "ratio": round(float(each), 4),
        }
        for value, each in zip(worlds.value[enough], ratio, strict=True)
    ]
    if not rows:
        remedy = "lower ε" if draws == DRAWS[-1] else "draw more"
        st.info(f"A ratio needs {ENOUGH} draws in a bin of both histograms: {remedy}.")
        return
    low, high = math.exp(-room.epsilon), math.exp(room.epsilon)
    y = axis(
        "ratio",
        "With ÷ without",
        scale={"type": "log", "zero": False, "padding": 8},
        axis={"values": [low, 1.0, high], "format": ".3~g"},
    )
    limits = [
        {"ratio": low, "limit": f"e^−ε = {low:.3g}"},
        {"ratio": high, "limit": f"e^ε = {high:.3g}"},
    ]
    ends = rule(LIMIT, limits, y=y, tooltip={"field": "limit"})
    dots = layer(
        "point", {"filled": True, "size": 45, "color": ORANGE}, x=_published(padding=8), y=y
    )
    caption = f"The ratio stays between {low:.3g} and {high:.3g}, but for luck"
    room.chart(caption, rows, 170, ends, dots)


def _published(**scale: Any) -> dict[str, Any]:
    return axis(
        "published count",
        "Published count",
        axis={"grid": False, "tickMinStep": 1, "format": ",d"},
        scale={"zero": False, **scale},
    )
