"""Compare: two configurations under one camera, one rectangle, one legend; accuracy by ε."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.ui.points.accuracy import accuracy_panel
from dpviz.ui.points.film import film_answers, film_series, film_strip
from dpviz.ui.points.map_answer import forget_elsewhere
from dpviz.ui.points.owners import owners_panel
from dpviz.ui.points.sides_form import STARTS, sides_form, sides_link
from dpviz.ui.points.source_form import PointSource, source_form
from dpviz.ui.points.two_maps import FIELDS, Comparison, badges, maps_and_answers
from dpviz.ui.shared import permalink
from dpviz.ui.shared.domain_map import choose_domain
from dpviz.ui.shared.frame import Frame, Panels, share_button
from dpviz.ui.shared.memory import public_release
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import ErrorsShown, refusals, say_refused
from dpviz.ui.shared.releases import RELEASES, release_choice
from dpviz.ui.shared.skeleton import build_choice, describe
from dpviz.ui.shared.sources import NoRecords
from dpviz.ui.shared.text import plain

TITLE, ORDER = "Compare", 1
KEY = "compare"
OF = ("Built from data", "Two releases")


def page() -> None:
    """The page."""
    permalink.bring_back(KEY)
    explored = st.session_state.get("explore.link", {})
    if f"{KEY}.of" not in st.session_state:  # Streamlit deletes it on leaving the page
        permalink.restore(KEY, (*FIELDS, *RELEASES))
        linked = any(st.session_state[field.place(KEY)] for field in RELEASES)
        st.session_state[f"{KEY}.of"] = OF[1] if linked else OF[0]
    frame = Frame.of(KEY)
    with frame.tools:
        share_button(KEY)
    with frame.setup:
        of = st.radio("Compare", OF, key=f"{KEY}.of")
    with ErrorsShown():
        if of == OF[0]:
            _built_from_data(frame, explored)
        else:
            _two_releases(frame)


def _built_from_data(frame: Frame, explored: dict[str, str]) -> None:
    """Two configurations on public records, rebuilt whenever one changes."""
    permalink.write(dict.fromkeys(field.name for field in RELEASES))
    with frame.setup, refusals() as refused:
        source = source_form(KEY, 2, permalink.parameter("data") or explored.get("data"))
    frame.describe("**Choose data**" if source is None else describe(source))
    choices: list[Choice] = []
    if source is not None and source.public:
        with frame.bar:
            choices = sides_form(KEY, source, explored)
    if source is None:
        say_refused(*refused)
        choose_domain(KEY)
        return
    if not choices:
        st.warning(
            "Compare rebuilds at will and shows exact answers, so it is for public records only. "
            "Declare these already public, use a built-in city to choose a method and ε, or "
            "compare two releases.",
            icon=":material/lock:",
        )
        return
    first, second = (
        public_release(f"{KEY}.built.{seed}", source, choice, seed, build_choice)
        for seed, choice in enumerate(choices)
    )
    compared = Comparison((first, second), (choices[0].title, choices[1].title))
    frame.describe(describe(source), badges(compared))
    forget_elsewhere(KEY, source, source.data.domain)
    series = {
        f"ε series of {side}": partial(film_series, source, choice, seed)
        for seed, (side, choice) in enumerate(zip("AB", choices, strict=True))
    }
    methods = [choice.described for choice in choices]
    maps_and_answers(
        KEY,
        compared,
        source,
        series,
        lambda rect: {
            "Every ε": partial(film_answers, source, choices, rect),
            "Accuracy by ε": partial(accuracy_panel, f"{KEY}.errors", source, methods),
        },
        partial(film_strip, KEY, choices[0].epsilon, _step),
    )
    link = {"data": source.key if source.backdrop else None, **sides_link(choices)}
    permalink.remember(KEY, FIELDS, link)


def _two_releases(frame: Frame) -> None:
    """Two opened releases: no exact counts, no rebuilding."""
    with frame.setup, refusals() as refused:
        first, second = (release_choice(KEY, side) for side in STARTS)
    permalink.remember(KEY, RELEASES)
    if first is None or second is None:
        say_refused(*refused)
        frame.describe("**Two releases**")
        st.caption("Press **Change** to choose two releases of the same area.")
        return
    compared = Comparison((first.release, second.release), (first.title, second.title))
    names = (f"**{side}** {plain(name)}" for side, name in zip("AB", compared.labels, strict=True))
    frame.describe(*names, badges(compared))
    key = f"{first.key}|{second.key}"
    source = PointSource(data=NoRecords(), title="Two releases", key=key)
    forget_elsewhere(KEY, source, *(release.domain for release in compared.releases))
    matching: Panels = {
        "Match their records": partial(owners_panel, f"{KEY}.releases", compared.releases)
    }
    maps_and_answers(KEY, compared, source, {}, lambda rect: matching)


def _step(epsilon: float) -> None:
    """A step of the film: both sides."""
    for side in STARTS:
        st.session_state[f"{KEY}.{side}.epsilon"] = epsilon
