"""Sequences: movements between places; next places, frequent paths, synthetic trips."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.releases.sequences.release import SequenceRelease
from dpviz.render import half_width_words
from dpviz.ui.map import map_view
from dpviz.ui.sequences.facts import release_tabs
from dpviz.ui.sequences.map_answer import FIELDS, map_and_answer
from dpviz.ui.sequences.source import PLACES, SequenceSource, opened_sequences, sequence_source
from dpviz.ui.sequences.view import MoveView, grid_scene
from dpviz.ui.shared.domain_map import choose_domain
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.method_form import Choice, method_form
from dpviz.ui.shared.skeleton import Slots, build_choice, run

TITLE, ORDER = "Sequences", 3
ABOUT_ERROR = "Half of the 95 % interval of a frequent move, for the noise alone."
MENU = "Movement"
KEY = "sequences"


def page() -> None:
    """The page."""
    run(
        Slots(
            key=KEY,
            title=TITLE,
            records="sequences",
            fields=FIELDS,
            source=lambda: sequence_source(KEY),
            choose=lambda source: method_form(KEY, kind="sequences", public=source.public),
            build=build_choice,
            adopt=opened_sequences,
            empty=_empty,
            before=_before,
            show=_show,
            error=_error,
        )
    )


def _empty() -> None:
    if st.session_state.get(f"{KEY}.data") == PLACES:
        choose_domain(KEY)
    else:
        st.caption("Press **Change** to describe your file, or to take the built-in city.")


def _before(source: SequenceSource) -> None:
    if source.places is not None:
        map_view(grid_scene(source), key=f"{KEY}.grid")


def _view(release: SequenceRelease, source: SequenceSource) -> MoveView:
    return cached(f"{KEY}.view", (source.key, release), lambda: MoveView.of(release))


def _error(
    release: SequenceRelease, source: SequenceSource, choice: Choice | None
) -> tuple[str, str] | None:
    """Noise of a frequent move; None for a method that states none."""
    error = _view(release, source).typical_error
    return None if error is None else (f"**± {half_width_words(error)} moves**", ABOUT_ERROR)


def _show(release: SequenceRelease, source: SequenceSource, choice: Choice | None) -> None:
    view = _view(release, source)
    if view.below_noise:
        st.warning(
            "Most moves are within their noise, and so are synthetic trips. Raise ε, choose "
            f"{'a smaller alphabet' if source.places is None else 'fewer cells'}, or lower "
            "the bound on the events of a sequence.",
            icon=":material/waves:",
        )
    panels = release_tabs(KEY, view, source)
    panels = {"Summary": partial(_truncation_note, release, source), **panels}
    map_and_answer(KEY, view, source, panels)


def _truncation_note(release: SequenceRelease, source: SequenceSource) -> None:
    """Say that visits past the truncation are not counted (30 % in the built-in city)."""
    first = release.header.parameters.get("l_top")
    if isinstance(first, int):  # an opened file is untrusted
        what = "symbols" if source.places is None else "places"
        st.caption(
            f"Only the first {first:,} {what} of each sequence are counted; the rest of longer "
            "sequences is not."
        )
