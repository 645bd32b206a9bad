"""A release with time as a film of windows, and the answer in each of them."""

from __future__ import annotations

import itertools
from typing import Any

import streamlit as st

from dpviz.releases.counts import PointRelease
from dpviz.releases.points.window import during, window_cuts
from dpviz.render import Camera, Scene
from dpviz.render.cells import domain_bounds
from dpviz.render.numbers import count_words
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.render.view import MOST, film_scene
from dpviz.ui.points.answers import LARGER
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.memory import remembered
from dpviz.ui.shared.panels import of_numbers
from dpviz.ui.shared.timeline import Window

LOOKS = {"window": "Window", "film": "Playback"}
"""Views of the period, and their titles on the page."""
LARGEST = 1_200_000
"""Cells that a browser takes at once."""

LOOK = permalink.choice("view", LOOKS, "window", "look")


def chosen_look(prefix: str) -> str:
    """The view of the period, by a control above the map."""
    permalink.present(LOOK.place(prefix), "window")
    chosen = st.segmented_control(
        "How to look at the period",
        list(LOOKS),
        format_func=LOOKS.__getitem__,
        required=True,
        key=LOOK.place(prefix),
        label_visibility="collapsed",
    )
    return str(chosen)


def steps_of(release: PointRelease) -> tuple[list[Window], list[str]]:
    """Time windows to step through, at most twelve, and their labels."""
    words = release.domain.calendar.words
    pairs = list(itertools.pairwise(window_cuts(release.domain, MOST)))
    return pairs, [words(start) for start, _ in pairs]


def film(prefix: str, release: PointRelease, source: PointSource) -> Scene | None:
    """The windows as frames that the map steps through; None where they have too many cells."""

    def make() -> Scene | None:
        pairs, labels = steps_of(release)
        maps = [during(release, each) for each in pairs]
        if sum(len(each.nodes) for each in maps) > LARGEST:
            return None
        camera = Camera(bounds=domain_bounds(maps[0].domain), key=source.key)
        return film_scene(maps, labels, camera=camera)

    return remembered(f"{prefix}.film", (release, source.key), make)


def windows_table(release: PointRelease, rect: Bounds | None) -> None:
    """The noisy count of every window: of the rectangle, or of the whole area."""
    pairs, labels = steps_of(release)
    domain = release.domain
    place: Any = domain.place.bounds if rect is None else from_degrees(rect, domain.crs)
    answers = [release.count(place, each) for each in pairs]
    rows = {"from": labels, "noisy count": list(map(count_words, answers))}
    st.markdown("**Every window**" if rect else "**Every window, the whole area**")
    st.dataframe(rows, hide_index=True, column_config=of_numbers("noisy count"))
    st.caption(f"{LARGER}.")
