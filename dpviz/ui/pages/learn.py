"""Learn: nine short chapters on one city, each with one thing to do; about half an hour."""

from __future__ import annotations

import streamlit as st

from dpviz.datasets import DATASETS
from dpviz.ui.lessons.room import Room
from dpviz.ui.lessons.turning import chapters, headline
from dpviz.ui.shared import permalink
from dpviz.ui.shared.method_form import EPSILONS, nearest_epsilon
from dpviz.ui.shared.warm import warm

__all__ = ["chapters", "page"]

TITLE, ICON, ORDER = "Learn", ":material/school:", 6
KEY = "learn"
CHAPTER, DATA, EPSILON, SEED = (f"{KEY}.{word}" for word in ("chapter", "data", "epsilon", "seed"))
WRITTEN = f"{KEY}.written"
"""The chapter that this page last put into the address."""


def page() -> None:
    """The page."""
    permalink.bring_back(KEY)
    names = list(chapters())
    _restore(names)
    with st.sidebar:
        _controls(names)
    slug = st.session_state[CHAPTER]
    at, chapter = names.index(slug), chapters()[slug]
    headline(KEY, names, at)
    room = Room(
        f"{KEY}.{slug}", st.session_state[DATA], st.session_state[EPSILON], st.session_state[SEED]
    )
    with st.container(key=f"{KEY}.body"):
        chapter.body(room)
    with st.container(key=f"{KEY}.take"):
        st.success(f"**To take away.** {chapter.TAKEAWAY}", icon=":material/lightbulb:")
    if room.tables:
        with st.expander("The charts as tables", icon=":material/table:"):
            for caption, rows in room.tables.items():
                st.markdown(f"**{caption}**")
                st.dataframe(list(rows), hide_index=True, width="stretch", height=240)
    st.caption(f"{chapter.SOURCE} All data here are synthetic and PUBLIC; all noise is simulated.")
    _remember(room, slug)
    warm()


def _restore(names: list[str]) -> None:
    """When the page is entered, take chapter, data set, ε and seed from the address."""
    if EPSILON in st.session_state:
        _step_back(names)
        return
    asked = permalink.parameter("chapter") or names[0]
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        asked = names[int(asked) - 1]
    data = permalink.parameter("data")
    permalink.missing("chapter", asked, names, "the first")
    permalink.missing("data", data, _cities(), DATASETS[_cities()[0]].title)
    st.session_state[CHAPTER] = asked if asked in names else names[0]
    st.session_state[DATA] = data if data in _cities() else _cities()[0]
    st.session_state[EPSILON] = nearest_epsilon(permalink.number("epsilon"))
    st.session_state[SEED] = permalink.seed()


def _step_back(names: list[str]) -> None:
    """The browser's Back gives the address of the chapter before: show that chapter."""
    asked, written = permalink.parameter("chapter"), st.session_state.get(WRITTEN)
    if asked in names and written is not None and asked != written:
        st.session_state[CHAPTER] = asked
        st.session_state[WRITTEN] = asked


def _cities() -> list[str]:
    """Built-in data on one plane; the smallest first, because it is the fastest."""
    flat = [name for name, each in DATASETS.items() if each.domain.dims == 2]
    return sorted(flat, key=lambda name: DATASETS[name].size)


def _controls(names: list[str]) -> None:
    st.radio(
        "Chapter",
        names,
        key=CHAPTER,
        format_func=lambda name: f"{names.index(name) + 1}. {chapters()[name].TITLE}",
    )
    st.divider()
    st.selectbox("Data", _cities(), key=DATA, format_func=lambda name: DATASETS[name].title)
    st.select_slider(
        "ε (privacy loss budget)", EPSILONS, key=EPSILON, format_func=lambda value: f"{value:g}"
    )
    st.caption("The address of this page restores all that is chosen here: share it as it is.")


def _remember(room: Room, slug: str) -> None:
    st.session_state[WRITTEN] = slug
    permalink.write(
        {
            "chapter": slug,
            "data": room.data,
            "epsilon": f"{room.epsilon:g}",
            "seed": str(room.seed) if room.seed else None,
            "at": ";".join(f"{name}:{value}" for name, value in room.chosen.items()),
            "rect": None,
            "place": None,
            **room.link,
        }
    )
    permalink.keep(KEY)
