"""Downloads on Explore and Compare: an offline map, a report, a picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.exports import map_page, release_page
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.render.scene import Bounds
from dpviz.ui.points.answers import overlaps
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.panels import file_button
from dpviz.ui.shared.presentation import (
    camera_of,
    file_buttons,
    note_place,
    presentation_form,
)

MAX_RECTANGLES = 12
"""Most rectangles listed in a file."""

Series = Callable[[], tuple[Sequence[PointRelease | AreaRelease], Sequence[str]]]


def share_panel(
    prefix: str,
    map_key: str,
    releases: Sequence[PointRelease | AreaRelease],
    labels: Sequence[str] = (),
    series: Mapping[str, Series] | None = None,
    history: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Downloads of the releases with this session's answers, made when a button is pressed.

    Args:
        prefix: prefix of the keys of the widgets.
        map_key: key of the map whose camera the file takes.
        releases: one release of any form, with time the whole of it; or those that are compared.
        labels: one each.
        series: by label, functions that return the releases and labels of a further file, which
            is named after it.
        history: answers of this session.
    """
    st.caption(
        "An HTML file with the map: it opens from a USB stick, without network or server, and "
        "answers rectangles itself. Or a report to print. Both contain only the release, never a "
        "record or an exact count. The address of this page restores your choices; an uploaded "
        "file has to be chosen again."
    )
    rects = queried_rectangles(prefix, releases[0], history)
    only = releases[0] if len(releases) == 1 else None
    place = note_place(map_key, releases[0], rects[0] if rects else None)
    words = presentation_form(prefix, only, place)
    camera = camera_of(map_key)

    def page(steps: Series) -> str:
        maps, names = steps()
        return map_page(maps, labels=names, rects=rects, presentation=words, camera=camera)

    def whole() -> str:
        if only is not None and not labels:
            return release_page(only, words, rects, camera)
        return page(lambda: (releases, labels))

    with st.container(horizontal=True):
        file_buttons(prefix, words, whole, releases, labels, rects)
        for label, steps in (series or {}).items():
            ending = f"{re.sub('[^a-z0-9]+', '-', label.lower()).strip('-')}.html"
            name, make = words.file_name(f"-{ending}", ending), partial(page, steps)
            file_button(f"{label} (HTML)", make, name, f"{prefix}.share.{ending}")


def queried_rectangles(
    prefix: str, release: PointRelease | AreaRelease, history: Sequence[Mapping[str, Any]]
) -> list[Bounds]:
    """Rectangles of a release's history inside its area, the current one first."""
    current = st.session_state.get(f"{prefix}.rect")
    boxes = [tuple(current)] if current else []
    boxes += [tuple(row[side] for side in SIDES) for row in history if "ring" not in row]
    return [rect for rect in dict.fromkeys(boxes) if overlaps(rect, release.domain)][
        :MAX_RECTANGLES
    ]
