"""Frame of a page with a map: a line of chips, a bar that stays in sight, a stage, and tabs.

The form of the data is a popover, which opens like a dialog, and not ``st.dialog``: its widgets are
drawn at every run, open or not, so that their values, uploads among them, outlive it, and the
address restores a page without opening it. Streamlit drops the values of widgets that are not
drawn, and a dialog's are not once it is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.ui.shared.parts import is_fragment_run

Panels = dict[str, Callable[[], Any]]
"""Functions that draw the tabs below a map, by title."""

TABS = (
    *("Timeline", "Summary", "Table", "Compare counts", "Every ε", "Accuracy by ε", "History"),
    *("Districts", "Receipt", "Share", "How the budget was spent", "Code", "Match their records"),
)
"""Titles of all tabs, in order."""

INTO_VIEW = """<script>/* %s */
if (matchMedia("(max-width: 640px)").matches)
  document.querySelector("[class*=st-key-dpviz-answer]")?.scrollIntoView({block: "nearest"});
</script>"""
"""Script that shows a new answer on a phone; Streamlit runs it if its text has changed."""


TO_TABS = """<script>/* %s */
document.querySelector("[data-testid=stTabs]")?.scrollIntoView({block: "center"});
</script>"""
"""Script that scrolls to the tabs."""

TO_REFUSAL = """<script>/* %s */
document.querySelector("[data-testid=stForm] [data-testid=stAlert]")
  ?.scrollIntoView({block: "nearest"});
</script>"""
"""Script that scrolls to the message of a form that was refused."""


@dataclass(frozen=True)
class PageFrame:
    """Places above the map of a page.

    Attributes:
        chips: words on the data, in one line.
        setup: form of the data; it opens at a press of "Change".
        tools: right end of the line.
        bar: ε and the method.
        payment: price and its confirmation, below the bar.
        title: name of a page that a menu hides, before its chips.
    """

    chips: DeltaGenerator
    setup: DeltaGenerator
    tools: DeltaGenerator
    bar: DeltaGenerator
    payment: DeltaGenerator
    title: str = ""

    @classmethod
    def of(cls, page: str, *, setup: bool = True, title: str = "") -> PageFrame:
        """Draw the empty places of a page; without ``setup`` there is nothing to change."""
        with st.container(horizontal=True, vertical_alignment="center", key="dpviz-chips"):
            chips = st.empty()
            if setup:
                label, key = "Change", f"{page}.setup"
                opener = st.popover(label, icon=":material/tune:", type="tertiary", key=key)
                form = opener.container(key="dpviz-setup")
            else:
                form = st.container()
            tools = st.container(
                horizontal=True, horizontal_alignment="right", vertical_alignment="center"
            )
        bar = st.container(
            horizontal=True, vertical_alignment="center", gap="small", key="dpviz-bar"
        )
        payment = st.container(horizontal=True, vertical_alignment="center", key="dpviz-payment")
        return cls(chips, form, tools, bar, payment, title)

    def describe(self, *words: str, about: str | None = None) -> None:
        """Show words as chips, and ``about`` as their tooltip; both may hold Markdown."""
        line = " · ".join(filter(None, (self.title, "  ".join(words))))
        self.chips.markdown(line, width="content", help=about)

    def expect(self, error: str, about: str) -> None:
        """Show the expected error in the bar, with a note on what it is."""
        with self.bar.container(key="dpviz-error"):
            st.markdown(error, width="content", help=about)


def share_button(page: str) -> None:
    """Button that opens the tab with the files of a release, and scrolls to it."""

    def show() -> None:
        st.session_state[f"{page}.tab"] = "Share"
        st.session_state[f"{page}.scroll"] = uuid4().hex

    st.button("Share", icon=":material/share:", key=f"{page}.share", on_click=show)


def map_container() -> DeltaGenerator:
    """Container of a map at full width, on which an answer lies as a card."""
    return st.container(key="dpviz-stage", gap=None)


def answer_card() -> DeltaGenerator:
    """Container of the answer: a card on the map, or below it on a phone."""
    return st.container(key="dpviz-answer", gap="small")


def show_card(asked: Any) -> None:
    """Scroll a phone to the answer of a new question."""
    if is_fragment_run():
        st.html(INTO_VIEW % hash(repr(asked)), unsafe_allow_javascript=True)


def show_refusal() -> None:
    """Scroll to the message of the form that was sent just now, which its card may hide."""
    st.html(TO_REFUSAL % uuid4().hex, unsafe_allow_javascript=True)


def tabs(page: str, panels: Panels, always: Collection[str] = ()) -> dict[str, Any]:
    """Draw the tabs below the map in the order of :data:`TABS`, and the open panel.

    Args:
        page: prefix of the key.
        panels: function that draws each, by its title.
        always: titles of panels that are drawn while hidden too, because they hold input.

    Returns:
        Results of the panels that were drawn, by title.
    """
    results: dict[str, Any] = {}
    titles = [title for title in TABS if title in panels]
    for title, place in zip(
        titles, st.tabs(titles, key=f"{page}.tab", on_change="rerun"), strict=True
    ):
        if place.open or title in always:
            with place:
                results[title] = panels[title]()
    if scroll := st.session_state.get(f"{page}.scroll"):  # the same script runs once
        st.html(TO_TABS % scroll, unsafe_allow_javascript=True)
    return results
