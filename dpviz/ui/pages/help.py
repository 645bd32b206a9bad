"""Help: pages, methods, keys, commands, and your duties for the guarantee."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

import streamlit as st

import dpviz
from dpviz.methods import of_kind
from dpviz.ui.shared.text import plain

TITLE, ORDER = "Help", 90

KEYS = {
    "Drag, scroll": "move and zoom",
    "Arrow keys, + and −": "the same by keys, while the map has the focus",
    "D, or Shift and drag": "draw a rectangle: drag, or arrow keys and Enter at two corners",
    "P": "draw a polygon, where a page offers it",
    "F": "the map alone on the whole screen; F or Esc leaves it",
    "Esc": "stop drawing",
    "Delete, Backspace": "remove the last corner, or clear the shape",
}
READING = (
    "**Colour** is the estimated number of records per km², in classes whose bounds come from the "
    "release. **Blank** means few, none, or a count within the noise.",
    "**±** after the count of a rectangle or a polygon is the larger of two errors: the 95 % "
    "interval of the noise, and the **uncertainty where it cuts cells**, an ESTIMATE of the error "
    "from the assumption that records are spread evenly in the cells that its edge cuts.",
    "**A red badge** says that a method is NOT PRIVATE: its claim was refuted, or it has none. "
    "A blue one marks the demo, a green one a guarantee.",
)
DUTIES = (
    "**Choose the rectangle and all parameters without looking at the records.** They are public.",
    "**Releases of the same records add up:** ε = 0.5 and ε = 0.3 are ε = 0.8 together.",
    "**Declare data public only if anyone may see every record.** Public data get fast simulated "
    "noise and exact answers beside the noisy ones.",
    "Queries, zooming, sharing and saving cost no further ε: a release is already public.",
)


def page() -> None:
    """The page."""
    from dpviz.cli import commands
    from dpviz.ui.shared.shell import summaries

    st.markdown(
        "dpviz turns private locations into a **release**: rectangles with noisy counts that "
        "anyone may look at, query and share, because ε-differential privacy bounds what they "
        "reveal about any one person."
    )
    _section("Pages", _table(("Page", "For"), summaries().items()))
    _section("On a map", _table(("Key", "Does"), KEYS.items()))
    _section("Reading a map", _list(READING))
    _section("What you must do for the guarantee to hold", _list(DUTIES))
    rows = [
        (cls.title, name, "NOT PRIVATE" if cls.guarantee == "none" else cls.guarantee, cls.paper)
        for name, cls in sorted(of_kind("points").items())
    ]
    with st.container(key="help-methods"):
        _section("Methods", _table(("Method", "Name", "Guarantee", "Paper"), rows))
    _section("Command line", _table(("Command", "Does"), commands().items()))
    st.header("Python", anchor=False)
    example = inspect.cleandoc(dpviz.__doc__ or "").split("\n\n")[1]
    st.code(example, language="pycon", wrap_lines=True)


def _section(title: str, text: str) -> None:
    st.header(title, anchor=False)
    st.markdown(text)


def _list(points: Iterable[str]) -> str:
    return "\n".join(f"- {point}" for point in points)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([plain(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
