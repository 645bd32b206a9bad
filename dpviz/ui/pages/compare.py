"""Compare: the truth and two or three configurations, one camera, one rectangle, one scale."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dpviz.render.numbers import count_words
from dpviz.ui.pages import publish
from dpviz.ui.points.accuracy import accuracy_panel
from dpviz.ui.points.answers import MARGIN, note_repeated
from dpviz.ui.points.compared_maps import (
    FIELDS,
    Comparison,
    badges,
    exact_cells,
    maps_and_answers,
)
from dpviz.ui.points.film import film_answers, film_series, film_strip
from dpviz.ui.points.map_answer import clear_distant_shape
from dpviz.ui.points.owners import owners_panel
from dpviz.ui.points.sides_form import (
    distinct_methods,
    presets,
    release_side,
    side_numbers,
    sides_form,
    sides_link,
    start,
)
from dpviz.ui.points.source_form import PointSource, source_form
from dpviz.ui.shared import permalink
from dpviz.ui.shared.domain_map import choose_domain
from dpviz.ui.shared.frame import PageFrame, Panels, share_button
from dpviz.ui.shared.memory import public_release
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.navigation import page_of
from dpviz.ui.shared.panels import ErrorsShown, refusals, show_refusals
from dpviz.ui.shared.presentation import counted_noun, words_of
from dpviz.ui.shared.releases import RELEASES, unlisted_note
from dpviz.ui.shared.skeleton import build_choice, describe
from dpviz.ui.shared.sources import NoRecords
from dpviz.ui.shared.text import guarantee_help, plain

TITLE, ORDER = "Compare", 1
KEY = "compare"


def page() -> None:
    """The page."""
    permalink.restore_address(KEY)
    if f"{KEY}.releases" not in st.session_state:
        permalink.restore(KEY, RELEASES)
        linked = any(st.session_state[field.place(KEY)] for field in RELEASES)
        st.session_state[f"{KEY}.releases"] = linked
    if f"{KEY}.mode" not in st.session_state:  # Streamlit deletes it on leaving the page
        permalink.restore(KEY, FIELDS)
    frame = PageFrame.of(KEY, setup=not st.session_state[f"{KEY}.releases"])
    with frame.tools:
        chosen = st.container(key="dpviz-presets")
        share_button(KEY)
    with ErrorsShown():
        if st.session_state[f"{KEY}.releases"]:
            with chosen:
                presets(KEY, [])
            _two_releases(frame)
        else:
            _built_from_data(frame, chosen)


def _built_from_data(frame: PageFrame, chosen: Any) -> None:
    """Configurations on public records, rebuilt whenever one changes."""
    explored = st.session_state.get("explore.link", {})
    start(KEY, explored)
    permalink.write(dict.fromkeys(field.name for field in RELEASES))
    with frame.setup, refusals() as refused:
        source = source_form(KEY, 2, permalink.parameter("data") or explored.get("data"))
    frame.describe("**Choose data**" if source is None else describe(source))
    choices: list[Choice] = []
    if source is not None and source.public:
        with frame.bar:
            choices = sides_form(KEY, source)
    with chosen:
        presets(KEY, choices)
    if source is None:
        show_refusals(*(each for each in refused if not each.asks))
        choose_domain(KEY)
        return
    if not choices:
        st.warning(
            "Compare shows exact counts, so it is for public records only. Declare these already "
            "public, choose a method and ε on a built-in city, or compare two releases.",
            icon=":material/lock:",
        )
        return
    titles = [choice.title for choice in choices]
    # A repeated choice gets other noise.
    seeds = [titles[:at].count(title) for at, title in enumerate(titles)]
    releases = [
        public_release(f"{KEY}.built.{at}", source, choice, seed, build_choice)
        for at, (choice, seed) in enumerate(zip(choices, seeds, strict=True))
    ]
    compared = Comparison(tuple(releases), tuple(titles), exact_cells(source))
    frame.describe(describe(source, badges(compared)))
    clear_distant_shape(KEY, source, source.data.domain)
    methods = distinct_methods(choices)
    series = {
        f"ε series of {side}": partial(film_series, source, choice, 0)
        for side, choice in zip("AB", choices, strict=False)
    }
    specified = [choice.described for choice in methods.values()]
    epsilons = {choice.epsilon for choice in choices}
    maps_and_answers(
        KEY,
        compared,
        source,
        series,
        lambda rect: {
            "Every ε": partial(film_answers, source, methods, rect),
            "Accuracy by ε": partial(accuracy_panel, f"{KEY}.errors", source, specified),
        },
        lambda: film_strip(KEY, *epsilons, show=_step) if len(epsilons) == 1 else None,
    )
    link = {"data": source.key if source.backdrop else None, **sides_link(choices)}
    permalink.write_address(KEY, FIELDS, {**link, "maps": permalink.parameter("maps")})


def _two_releases(frame: PageFrame) -> None:
    """Two opened releases: no exact counts, no rebuilding."""
    with frame.bar, refusals() as refused:
        first, second = (release_side(KEY, side) for side in "ab")
    permalink.write_address(KEY, RELEASES)
    if first is None or second is None:
        frame.describe("**Two releases**")
        if not refused:
            st.caption(
                f"Choose two releases of the same area: your own, or files. {unlisted_note()}"
            )
            st.page_link(page_of(publish), label="Publish one", icon=":material/publish:")
        return
    pair = first.map, second.map
    asked = tuple((each.release, each.period) for each in (first, second))
    compared = Comparison(pair, (first.title, second.title), asked=asked)
    noun = counted_noun(KEY, *pair)
    frame.describe(badges(compared), about=guarantee_help(words_of(KEY, *pair).noun, *pair))
    key = f"{first.key}|{second.key}"
    source = PointSource(data=NoRecords(), title="Two releases", key=key)
    clear_distant_shape(KEY, source, *(release.domain for release in compared.releases))
    differ = len({each.records for each in pair}) > 1
    totals = " · ".join(
        f"**{side}** {count_words(release.count(release.domain.bounds))}"
        + f" {release.records}" * differ
        for side, release in zip("AB", pair, strict=True)
    )
    panels: Panels = {}
    if not compared.of_periods:
        panels["Match their records"] = partial(owners_panel, f"{KEY}.releases", pair)

    def total() -> None:
        """Both noisy totals."""
        words = totals if differ else f"{totals} {plain(noun)}"
        st.markdown(words, width="content", help=MARGIN)
        note_repeated(*pair)

    maps_and_answers(KEY, compared, source, {}, lambda rect: panels, total)


def _step(epsilon: float) -> None:
    """Set the ε of every side, for a step of the film."""
    for side in side_numbers(KEY):
        st.session_state[f"{KEY}.{side}.epsilon"] = epsilon
