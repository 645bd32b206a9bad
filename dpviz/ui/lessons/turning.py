"""The chapters in order, and the navigation between them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

import streamlit as st

import dpviz.ui.lessons


@cache
def chapters() -> dict[str, ModuleType]:
    """All chapters in order, by their names in the address."""
    lessons = pkgutil.iter_modules(dpviz.ui.lessons.__path__)
    modules = [importlib.import_module(f"dpviz.ui.lessons.{each.name}") for each in lessons]
    ordered = sorted((m for m in modules if hasattr(m, "body")), key=lambda each: each.ORDER)
    return {each.__name__.rsplit(".", 1)[-1]: each for each in ordered}


def headline(key: str, names: list[str], at: int) -> None:
    """Title and task of a chapter, with buttons to the previous and the next one."""
    chapter = chapters()[names[at]]
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.headline"):
        st.header(f"{at + 1}. {chapter.TITLE}", anchor=False, width="stretch")
        _turn(key, "Back", names, at, -1)
        _turn(key, "Next", names, at, 1)
    with st.container(key=f"{key}.do"):
        st.info(f"**Do this.** {chapter.DO}", icon=":material/touch_app:")


def _turn(key: str, label: str, names: list[str], at: int, by: int) -> None:
    there = 0 <= at + by < len(names)
    st.button(
        label,
        icon=":material/arrow_forward:" if by > 0 else ":material/arrow_back:",
        key=f"{key}.{label.lower()}",
        shortcut=label[0],
        disabled=not there,
        type="primary" if by > 0 else "secondary",
        on_click=_turn_page,
        args=(key, names, by),
        help=f"{at + by + 1}. {chapters()[names[at + by]].TITLE}" if there else None,
    )


def _turn_page(key: str, names: list[str], by: int) -> None:
    """Turn pages from the currently open chapter, so that two quick clicks turn two pages.

    A press that arrives after the page was left does nothing: no chapter is open.
    """
    if f"{key}.chapter" not in st.session_state:
        return
    at = names.index(st.session_state[f"{key}.chapter"]) + by
    st.session_state[f"{key}.chapter"] = names[min(max(at, 0), len(names) - 1)]
