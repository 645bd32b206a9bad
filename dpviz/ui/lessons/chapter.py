"""A chapter on the page: headline with ε, a prediction, what is revealed, take-away, sheet."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import streamlit as st

import dpviz.ui.lessons
from dpviz.ui.lessons.room import Room, trust_session
from dpviz.ui.shared import method_form, permalink
from dpviz.ui.shared.navigation import page_named
from dpviz.ui.shared.steps import move_focus

UNANSWERED, SHOWN = "", "shown"
"""Values of a prediction that is not made yet, and of a chapter that is shown without one."""

NEXT = {"compare": "Compare methods and ε", "publish": "Publish your own data"}
"""Pages to go to after the last chapter."""

MOVED = "learn.moved"
"""Session key set by a press that leads on: the focus moves to the question, or to the answer."""


@cache
def chapters() -> dict[str, ModuleType]:
    """All chapters in order, by their names in the address."""
    lessons = pkgutil.iter_modules(dpviz.ui.lessons.__path__)
    modules = [importlib.import_module(f"dpviz.ui.lessons.{each.name}") for each in lessons]
    ordered = sorted((m for m in modules if hasattr(m, "TITLE")), key=lambda each: each.ORDER)
    return {each.__name__.rsplit(".", 1)[-1]: each for each in ordered}


def headline(key: str, names: list[str], at: int, menu: Callable[[], None]) -> Any:
    """Title, ε, a menu, and buttons to other chapters: always in sight.

    Returns:
        The place of a button for new noise.
    """
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.headline"):
        st.header(f"{at + 1}. {chapters()[names[at]].TITLE}", anchor=False, width="stretch")
        noise = st.container(width="content")
        st.select_slider(
            "ε",
            method_form.epsilon_steps(f"{key}.epsilon"),
            key=f"{key}.epsilon",
            format_func="{:g}".format,
            width=220,
            on_change=trust_session,
            args=(key,),
        )
        with st.popover("Chapters", icon=":material/toc:", key=f"{key}.menu-{names[at]}"):
            menu()
        presenting = st.session_state[f"{key}.present"]
        st.button(
            "Leave presenter mode" if presenting else "Presenter mode",
            icon=":material/co_present:",
            key=f"{key}.presenter",
            shortcut="P",
            on_click=_present,
            args=(key,),
            help="Large letters for a lecture room: on, or off again",
        )
        _turn(key, "Back", names, at, -1)
        _turn(key, "Next", names, at, 1)
    return noise


def show(room: Room, chapter: ModuleType, noise: Any) -> None:
    """Ask for a prediction beside the chapter's map; once it is made, reveal the rest."""
    _restore_guess(room, chapter)
    _sheet(chapter)
    if room.revealed:
        if getattr(chapter, "NOISE", True):
            key = room.key.partition(".")[0]
            look = {"icon": ":material/casino:", "key": f"{key}.resample"}
            noise.button("New noise", **look, on_click=_resample, args=(key,))
        with st.container(key="learn.do"):
            st.info(f"**Do this.** {chapter.DO}", icon=":material/touch_app:")
    with st.container(key="learn.body"):
        words, room.map_side = st.columns([6, 5], gap="medium")
        with words:
            (_verdict if room.revealed else _ask)(room, chapter)
            chapter.body(room)
    if room.revealed:
        with st.container(key="learn.take"):
            st.success(f"**To take away.** {chapter.TAKEAWAY}", icon=":material/lightbulb:")
    if st.session_state.pop(MOVED, False):
        place, what = ("verdict", "Answer") if room.revealed else ("ask", "Question")
        move_focus(f"learn-{place}", f"{what}: {chapter.TITLE}")


def _restore_guess(room: Room, chapter: ModuleType) -> None:
    """Set the room's prediction: from this visit, else from the address, else none yet."""
    key = f"{room.key}.guess"
    if key not in st.session_state:
        numbers = map(str, range(len(chapter.CHOICES)))
        offered, asked = (UNANSWERED, SHOWN, *numbers), permalink.pairs("at").get("guess")
        st.session_state[key] = permalink.one_of("guess =", asked or "", offered, UNANSWERED)
    room.controls.append("guess")
    room.guess = st.session_state[key]
    if room.guess:
        room.chosen["guess"] = room.guess


def _ask(room: Room, chapter: ModuleType) -> None:
    """The question, and a button for each answer to it."""
    with st.container(key="learn.ask", gap="small"):
        st.markdown(f"**What do you think?** {chapter.QUESTION}")
        for number, choice in enumerate(chapter.CHOICES):
            _answer_button(room, choice, str(number))
        _answer_button(room, "Show it without a guess", SHOWN, type="tertiary")


def _answer_button(room: Room, label: str, guess: str, **look: Any) -> None:
    st.button(
        label,
        key=f"{room.key}.guess-{guess}",
        on_click=_give,
        args=(room.key, guess),
        width="stretch",
        **look,
    )


def _give(key: str, guess: str) -> None:
    st.session_state[f"{key}.guess"] = guess
    st.session_state[MOVED] = True
    trust_session(key.partition(".")[0])


def _verdict(room: Room, chapter: ModuleType) -> None:
    """Compare the prediction with the right answer, and say why that one is right."""
    right = f"**{chapter.CHOICES[chapter.ANSWER]}.**"
    if room.guess == str(chapter.ANSWER):
        words = f":green-badge[:material/check: Right:] {right}"
    elif room.guess == SHOWN:
        words = right
    else:
        said = chapter.CHOICES[int(room.guess)].partition(":")[0]  # its reason would take a line
        words = f":orange-badge[:material/close:] You said “{said}”: not so. The answer: {right}"
    at_epsilon = getattr(chapter, "at_epsilon", None)
    reveal = f"{chapter.REVEAL} {at_epsilon(room.epsilon) if at_epsilon else ''}"
    with st.container(key="learn.verdict"):
        st.markdown(f"{words} {reveal}")


def _sheet(chapter: ModuleType) -> None:
    """The question to be answered with a pencil; ``style.css`` shows it in print only."""
    with st.container(key="learn.sheet"):
        choices = "".join(f"\n- ☐ {choice}" for choice in chapter.CHOICES)
        st.markdown(f"**What do you think?** {chapter.QUESTION}\n{choices}\n\nWhy: " + "_ " * 40)


def foot(room: Room, chapter: ModuleType, *, last: bool) -> None:
    """The formula, where to go after the last chapter, and details in a popover."""
    place = "presenting" if room.presenting else "foot"
    with st.container(horizontal=True, vertical_alignment="center", key=f"learn.{place}"):
        if room.revealed:
            st.markdown(f"**In symbols.** {chapter.FORMULA}", width="stretch")
        if room.revealed and last:
            st.markdown("**What next?**", width="content")
            for name, label in NEXT.items():
                st.page_link(page_named(name), label=label, width="content")
        with st.popover("Details", icon=":material/info:", key="learn.details"):
            st.caption("\n\n".join([*room.notes, chapter.SOURCE]))
            for caption, rows in room.tables.items():
                st.markdown(f"**{caption}**")
                st.dataframe(list(rows), hide_index=True, height=240)
    with st.container(key="learn.source"):
        st.caption(chapter.SOURCE)


def _present(key: str) -> None:
    st.session_state[f"{key}.present"] ^= True
    trust_session(key)


def _resample(key: str) -> None:
    st.session_state[f"{key}.seed"] += 1
    trust_session(key)


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
    if f"{key}.chapter" in st.session_state:
        at = names.index(st.session_state[f"{key}.chapter"]) + by
        open_chapter(key, names[min(max(at, 0), len(names) - 1)])


def open_chapter(key: str, name: str) -> None:
    """Open a chapter at its question."""
    st.session_state[f"{key}.chapter"] = name
    st.session_state[MOVED] = True
    trust_session(key)
