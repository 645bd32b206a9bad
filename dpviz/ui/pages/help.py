"""Help: where to begin, keys, words, commands, and your duties for the guarantee."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dpviz.ui.shared.navigation import page_named
from dpviz.ui.shared.text import plain

TITLE, ORDER = "Help", 90

WISHES = {
    "explore": "see a private map, and ask it how many",
    "compare": "compare methods, ε, or my releases",
    "publish": "publish my own records",
    "sequences": "see movements between places",
    "roads": "count trips per street",
    "trips": "see trips from one area to another",
    "learn": "understand how it works, or teach it",
}
"""Wishes that a page fulfils, by the name of its module."""

WIDTH = 1080
"""Pixels of two columns, with at most 75 letters a line."""

KEYS = {
    "Drag, scroll": "move and zoom",
    "Arrow keys, + and −": "the same by keys; all keys work while the map has the focus",
    "D, or Shift and drag": "draw a rectangle: drag, or arrow keys and Enter at two corners",
    "P": "draw a polygon, where a page offers it",
    "/": "find a place by its name, where the map has names",
    "F": "the map alone on the whole screen; F or Esc leaves it",
    "Esc": "stop drawing",
    "Delete, Backspace": "remove the last corner, or clear the shape",
}
GLOSSARY = {
    "Release": "cells with noisy counts, which anyone may see, query and share.",
    "ε (epsilon)": "the limit on what releases reveal about one person: smaller is more private, "
    "and less accurate.",
    "Budget": "the ε that all releases of the same records may spend together.",
    "Noise": "a random number added to each count.",
    "Colour": "estimated records per km², in classes that come from the release. Blank: few, none, "
    "or a count within the noise.",
    "±": "half of a 95 % interval for two errors: the noise, and the uncertainty where the "
    "shape cuts cells, an ESTIMATE that takes records in a cell as evenly spread.",
    "Red badge": "NOT PRIVATE: the method's claim was refuted, or it makes none. Blue marks the "
    "demo, green a guarantee.",
}
DUTIES = (
    "**Choose the area and all parameters without looking at the records.** They are public.",
    "**Releases of the same records add up:** ε = 0.5 and ε = 0.3 are ε = 0.8 together.",
    "**Declare data public only if anyone may see every record.** Public data get fast simulated "
    "noise and exact answers beside the noisy ones.",
    "Queries, zooming, sharing and saving cost no further ε.",
)


def page() -> None:
    """The page."""
    from dpviz.cli import commands

    with st.container(width=WIDTH, key="help"):
        left, right = st.columns(2, gap="large")
    with left:
        st.markdown(
            "dpviz turns private locations into a map that anyone may see. Differential privacy "
            "limits what the map reveals about any one person."
        )
        st.header("I want to …", anchor=False)
        with st.container(gap=None):
            for name, wish in WISHES.items():
                st.page_link(page_named(name), label=f"… {wish}", width="content")
        _section("Keys on a map", _list(KEYS))
        with st.expander("Commands: the same in a terminal"):
            st.markdown(_list(commands()))
    with right:
        _section("What you must do", "\n".join(f"- {duty}" for duty in DUTIES))
        _section("Words", _list(GLOSSARY))


def _section(title: str, text: str) -> None:
    st.header(title, anchor=False)
    st.markdown(text)


def _list(entries: Mapping[str, str]) -> str:
    return "\n".join(f"- **{plain(name)}:** {plain(does)}" for name, does in entries.items())
