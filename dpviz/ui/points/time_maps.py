"""A release with time in other ways: a film, small maps, the difference of two windows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.releases.counts import PointRelease
from dpviz.releases.points.window import during, window_cuts
from dpviz.render import Camera, Scene, difference_scene
from dpviz.render.cells import domain_bounds
from dpviz.render.colors import Theme
from dpviz.render.numbers import count_words
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.render.view import MOST, film_scene
from dpviz.ui.points.answers import CUT, LARGER, error_lines, numbers_of
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.memory import remembered
from dpviz.ui.shared.panels import of_numbers
from dpviz.ui.shared.timeline import Window

LOOKS = {
    "window": "Window",
    "film": "Playback",
    "small": "Small maps",
    "difference": "Difference",
}
"""Views of the period, and their titles on the page."""
LARGEST = 1_200_000
"""Cells that a browser takes at once."""

LOOK = permalink.choice("view", LOOKS, "window", "look")

WINDOWS = permalink.Field("windows", permalink.parameter)
"""The two of a difference."""


def chosen_look(prefix: str) -> str:
    """The way of looking, by a control above the map."""
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
    cuts = window_cuts(release.domain, MOST)
    pairs = list(itertools.pairwise(cuts))
    return pairs, [words(start) for start, _ in pairs]


def maps_of(prefix: str, release: PointRelease, pairs: Sequence[Window]) -> list[PointRelease]:
    """Maps of a release in each window, kept until the release or the windows change."""
    asked = (release, tuple(pairs))
    return remembered(f"{prefix}.frames", asked, lambda: [during(release, each) for each in pairs])


def film(prefix: str, release: PointRelease, source: PointSource) -> Scene | Callable[[], object]:
    """The windows as frames that the map steps through; a word where they are too many."""
    pairs, labels = steps_of(release)
    maps = maps_of(prefix, release, pairs)
    if sum(len(each.nodes) for each in maps) > LARGEST:
        words = "Too many cells to play: look at windows one by one."
        return partial(st.info, words, icon=":material/movie:")
    camera = Camera(bounds=domain_bounds(maps[0].domain), key=source.key)
    make = lambda: film_scene(maps, labels, camera=camera)  # noqa: E731
    return remembered(f"{prefix}.film", (release, source.key), make)


def difference_of(prefix: str, release: PointRelease, source: PointSource) -> Scene:
    """The map of one window less another, both chosen here; the two are kept for the answer.

    It begins with the middle less the first, such as July less January: their neighbours, and a
    year's last and first window, differ little.
    """
    pairs, labels = steps_of(release)
    chosen = [
        column.selectbox(
            f"{name}: from", range(len(labels)), format_func=labels.__getitem__, index=at,
            key=f"{prefix}.less.{name}.{release.domain.period}",
        )
        for column, name, at in zip(st.columns(2), "AB", _windows(prefix, labels), strict=True)
    ]  # fmt: skip
    st.session_state[WINDOWS.place(prefix)] = ",".join(labels[at] for at in chosen)
    a, b = (pairs[at] for at in chosen)
    st.session_state[f"{prefix}.window_pair"] = (a, b)
    names = [f"from {labels[at]}" for at in chosen]
    maps = maps_of(prefix, release, pairs)

    def make() -> Scene:
        camera = Camera(bounds=domain_bounds(maps[0].domain), key=source.key)
        return difference_scene([maps[at] for at in chosen], names, camera=camera, shared=True)

    return remembered(f"{prefix}.gap", (release, source.key, *chosen), make)


def _windows(prefix: str, labels: list[str]) -> list[int]:
    """Rows of the two windows whose labels the session or the address holds."""
    place = WINDOWS.place(prefix)
    asked: str | None = st.session_state.get(place)
    words = (asked or "").split(",")
    new = permalink.arrived(place)
    if len(words) == 2 and set(words) <= set(labels):
        return [labels.index(word) for word in words]
    if new:
        permalink.refused("the windows", asked)
    return [len(labels) // 2, 0]


def small_maps(prefix: str, release: PointRelease, theme: Any) -> None:
    """Every window as a small map, all on one scale, in one picture with words."""
    from dpviz.render.picture import small_multiples_png

    pairs, labels = steps_of(release)
    maps = maps_of(prefix, release, pairs)
    shade: Theme = "dark" if theme == "dark" else "light"
    make = lambda: small_multiples_png(maps, labels, theme=shade)  # noqa: E731
    picture = remembered(f"{prefix}.small", (release, shade), make)
    with st.container(key=f"{prefix}-small-maps"):  # where its words are read: see style.css
        st.image(picture, width="stretch", alt=f"{len(labels)} small maps, one for each window")
    st.caption(
        f"{len(labels)} windows of one release, from {labels[0]} on. The table beside has the same "
        "windows in numbers."
    )


def windows_table(release: PointRelease, rect: Bounds | None) -> None:
    """The noisy count of every window: of the rectangle, or of the whole area."""
    pairs, labels = steps_of(release)
    place = _place(release, rect)
    answers = [release.count(place, each) for each in pairs]
    rows = {"from": labels, "noisy count": list(map(count_words, answers))}
    st.markdown("**Every window**" if rect else "**Every window, the whole area**")
    st.dataframe(rows, hide_index=True, column_config=of_numbers("noisy count"))
    st.caption(f"{LARGER}.")


def difference_answer(prefix: str, release: PointRelease, rect: Bounds | None) -> None:
    """A − B of the rectangle, or of the whole area, with the errors of both."""
    a, b = st.session_state[f"{prefix}.window_pair"]
    answer = release.difference(_place(release, rect), a, b)
    where = "of the rectangle" if rect else "of the whole area"
    st.metric(f"A − B {where}", count_words(answer), help=LARGER)
    st.markdown(error_lines(numbers_of(answer)), help=CUT.format("cell"))
    st.caption(
        "The two windows are of one release: each error is at most that of both added up, which "
        "is what this is."
    )


def _place(release: PointRelease, rect: Bounds | None) -> Any:
    if rect is None:
        return release.domain.place.bounds
    return from_degrees(rect, release.domain.crs)
