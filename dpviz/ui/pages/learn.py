"""Learn: short chapters on one city, each with a guess and one thing to do; half an hour."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.datasets import DATASETS
from dpviz.ui.lessons.chapter import chapters, foot, headline, open_chapter, show
from dpviz.ui.lessons.room import Room
from dpviz.ui.shared import method_form, permalink

TITLE, ORDER = "Learn", 6
KEY = "learn"
CHAPTER, DATA, EPSILON, SEED, PRESENTING = (
    f"{KEY}.{word}" for word in ("chapter", "data", "epsilon", "seed", "present")
)
OF_CHAPTER = ("at", "rect", "place")
"""Parameters of the address that belong to the open chapter."""

WRITTEN = f"{KEY}.written"
"""Key of the chapter that this page last wrote to the address."""


def page() -> None:
    """The page."""
    permalink.restore_address(KEY)
    names = list(chapters())
    entered = _restore(names)
    slug = st.session_state[CHAPTER]
    at, chapter = names.index(slug), chapters()[slug]
    with st.container(key=f"{KEY}.desk"):  # the same in both modes: another key would lose inputs
        noise = headline(KEY, names, at, partial(_menu, names))
        room = Room(
            f"{KEY}.{slug}",
            st.session_state[DATA],
            st.session_state[EPSILON],
            st.session_state[SEED],
            st.session_state[PRESENTING],
        )
        show(room, chapter, noise)
        if entered:
            _refuse_unknown(room)
        foot(room, chapter, last=slug == names[-1])
    st.session_state[WRITTEN] = slug
    chosen = ";".join(f"{name}:{value}" for name, value in room.chosen.items())
    permalink.write_address(KEY, FIELDS, {**dict.fromkeys(OF_CHAPTER), "at": chosen, **room.link})


def _restore(names: list[str]) -> bool:
    """Return whether the page was just entered; if so, restore its fields from the address."""
    if EPSILON not in st.session_state:
        permalink.restore(KEY, FIELDS)
        return True
    # The browser's Back gives the address of the chapter before: show that chapter.
    asked, written = permalink.parameter("chapter"), st.session_state.get(WRITTEN)
    if asked in names and written is not None and asked != written:
        st.session_state[CHAPTER] = st.session_state[WRITTEN] = asked
    if st.session_state[CHAPTER] != written and st.session_state[CHAPTER] != asked:
        permalink.write(dict.fromkeys(OF_CHAPTER))  # the address still names the last chapter
    return False


def _refuse_unknown(room: Room) -> None:
    """Warn about address parameters that the chapter does not have."""
    for name in permalink.pairs("at"):
        if name not in room.controls:
            permalink.refused("the control", name)
    for name in ("place", "rect"):
        if name not in room.link:
            permalink.refused(name, permalink.parameter(name))


def _chapter(name: str) -> str:
    names = list(chapters())
    asked = permalink.parameter(name) or names[0]
    asked = {str(at): slug for at, slug in enumerate(names, 1)}.get(asked, asked)
    return permalink.one_of("chapter", asked, names, names[0])


def _data(name: str) -> str:
    asked, cities = permalink.parameter(name), _cities()
    return permalink.one_of("data", asked, cities, cities[0])


FIELDS = (
    permalink.Field("chapter", _chapter),
    permalink.Field("data", _data),
    method_form.EPSILON,
    permalink.SEED,
    permalink.Field(
        "present",
        lambda name: permalink.parameter(name) == "1",
        lambda chosen: "1" if chosen else None,
    ),
)


def _cities() -> list[str]:
    """Built-in data on one plane; the smallest first, because it is the fastest.

    Not the registers, which come in pairs to be matched, and none with kinds or values.
    """
    plain = ((name, each.domain) for name, each in DATASETS.items())
    flat = (name for name, domain in plain if domain.dims == 2 and domain == domain.counts_only)
    cities = (name for name in flat if not name.startswith("register-"))
    return sorted(cities, key=lambda name: DATASETS[name].size)


def _menu(names: list[str]) -> None:
    """Chapters, and data."""
    # Buttons, no radio: a closed menu's radio would send its last value again with every press.
    with st.container(gap=None, key=f"{KEY}.chapters"):
        for at, slug in enumerate(names, 1):
            st.button(
                f"{at}. {chapters()[slug].TITLE}",
                key=f"{KEY}.open-{slug}",
                type="primary" if slug == st.session_state[CHAPTER] else "tertiary",
                width="stretch",
                on_click=open_chapter,
                args=(KEY, slug),
            )
    st.selectbox("Data", _cities(), key=DATA, format_func=lambda name: DATASETS[name].title)
    st.caption(
        "All data here are synthetic and public; all noise is simulated. Keys: B back, N next, P "
        "presenter mode, Ctrl P a sheet to print. The address of this page holds your choices: "
        "share it to show them."
    )
