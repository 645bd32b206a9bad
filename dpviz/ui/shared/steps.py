"""A page in steps: one is visible, all are drawn, so that typed input is never lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

STEPS = ("Data", "Area", "Budget", "Publish")
"""Titles of the steps of page Publish."""

TO_ITS_TOP = 'document.querySelector("[data-testid=stMain]").scrollTo(0, 0);'
"""Script that scrolls to the top of a new step."""

INTO_IT = """
const step = document.querySelector(".st-key-%s");
if (step) { // a newer run may have taken it away
  Object.assign(step, {tabIndex: -1, role: "group", ariaLabel: "%s"});
  step.style.outline = "none";
  step.focus({preventScroll: true});
}
"""
"""Script that moves the focus into a new step: the button that led there is hidden."""


def move_focus(place: str, label: str) -> None:
    """Move the keyboard's focus into the container with this key, and name it ``label``."""
    with st.container(key="dpviz-step"):
        st.html(f"<script>{{{INTO_IT % (place, label)}}}</script>", unsafe_allow_javascript=True)


def steps(prefix: str, titles: Sequence[str]) -> tuple[int, Callable[..., None], list[Any]]:
    """The visible step, a function that draws the navigation, and the steps' containers.

    The function takes, for each step, why it is not done: empty if it is. Of the steps before the
    visible one it shows the first reason, with a button that leads there. Call it last.
    """
    at = min(int(st.session_state.setdefault(f"{prefix}.step", 0)), len(titles) - 1)
    way = st.container(horizontal=True, gap="small", key=f"{prefix}-way")
    notice = st.container(horizontal=True, vertical_alignment="center")
    places = [st.container(key=f"{prefix}-step-{row}") for row in range(len(titles))]
    hidden = ", ".join(f".st-key-{prefix}-step-{row}" for row in range(len(titles)) if row != at)
    # Hide the wrapper's gap as well.
    place = f":is({hidden}, [data-testid=stLayoutWrapper]:has(> :is({hidden})))"
    style = f"<style>{place} {{display: none !important;}}</style>"
    script = TO_ITS_TOP
    if f"{prefix}.moved" in st.session_state:
        script += INTO_IT % (f"{prefix}-step-{at}", f"Step {at + 1}: {titles[at]}")
    with st.container(key="dpviz-step"):  # a script runs if its text changed: at a new step
        st.html(f"{style}<script>{{{script}}}</script>", unsafe_allow_javascript=True)

    def draw(*missing: str) -> None:
        for row, (title, why) in enumerate(zip(titles, missing, strict=True)):
            with way:
                st.button(
                    f"{row + 1} {title}{'' if why or row == at else ' ✓'}",
                    key=f"{prefix}.way.{row}",
                    type="primary" if row == at else "secondary",
                    disabled=row > at and any(missing[:row]),
                    on_click=go,
                    args=(prefix, row),
                )
        for row in [row for row in range(at) if missing[row]][:1]:
            with notice:
                st.warning(missing[row], icon=":material/rule:")
                to_it = f"Go to step {titles[row]}"
                st.button(to_it, key=f"{prefix}.back", on_click=go, args=(prefix, row))

    return at, draw, places


def step_bar(prefix: str, row: int) -> Any:
    """Container of a step's main button and price, at the bottom of the window."""
    key = f"{prefix}-bar-{row}"
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key=key)


def next_step(prefix: str, row: int, *, ready: bool, words: str = "") -> None:
    """Button below a step that leads to the next step, with words beside it."""
    with step_bar(prefix, row):
        st.button(
            "Continue",
            key=f"{prefix}.next.{row}",
            type="primary",
            icon=":material/arrow_forward:",
            disabled=not ready,
            on_click=go,
            args=(prefix, row + 1),
        )
        st.caption(words, width="content")


def go(prefix: str, row: int) -> None:
    """Go to a step."""
    st.session_state[f"{prefix}.step"] = row
    st.session_state[f"{prefix}.moved"] = True
