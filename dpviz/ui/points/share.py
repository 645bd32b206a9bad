"""Downloads on Explore and Compare: an offline map, a report, a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.exports import map_page, report_page
from dpviz.exports.html import labels_of
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.render.picture import comparison_png
from dpviz.render.scene import Bounds
from dpviz.ui.points.answers import overlaps
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.panels import file_button
from dpviz.ui.shared.presentation import (
    camera_of,
    note_place,
    page_button,
    presentation_form,
)

MOST = 12
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
        prefix: prefix of the widgets' keys.
        map_key: map key of the map whose camera the file takes.
        releases: one or two.
        labels: one each.
        series: by label, functions that return the releases and labels of a file with a slider;
            the last letter of a label becomes part of the file's name.
        history: answers of this session.
    """
    st.caption(
        "One file with the map inside: it opens from a USB stick, without network or server, "
        "and answers rectangles by itself; or a page to print. They hold the release only, "
        "never a record or an exact count. The address of this page restores your choices; an "
        "uploaded file has to be chosen again."
    )
    names = list(labels) or labels_of(releases)
    rects = queried_rectangles(prefix, releases[0], history)
    only = releases[0] if len(releases) == 1 else None
    place = note_place(map_key, releases[0], rects[0] if rects else None)
    words = presentation_form(prefix, only, place)
    camera = camera_of(map_key)

    def page(steps: Series) -> str:
        maps, labels = steps()
        return map_page(maps, labels=labels, rects=rects, presentation=words, camera=camera)

    def report() -> str:
        return report_page(releases, labels=names, rects=rects, presentation=words)

    def picture() -> bytes:
        return comparison_png(
            releases,
            names,
            rects[0] if rects else None,
            title=words.title,
            subtitle=words.subtitle,
            noun=words.noun,
            pins=words.pins,
        )

    files: dict[str, tuple[str, str, Callable[[], str | bytes]]] = {
        "Report (HTML)": ("report.html", "-report.html", report),
        "Picture (PNG)": ("map.png", ".png", picture),
    }
    for label, steps in (series or {}).items():
        ending = f"series-{label[-1].lower()}.html"
        files[f"{label} (HTML)"] = ending, f"-{ending}", partial(page, steps)
    with st.container(horizontal=True):
        page_button(prefix, words, lambda: page(lambda: (releases, names)))
        for label, (name, ending, make) in files.items():
            file_button(label, make, words.file_name(ending, name), f"{prefix}.share.{name}")


def queried_rectangles(
    prefix: str, release: PointRelease | AreaRelease, history: Sequence[Mapping[str, Any]]
) -> list[Bounds]:
    """Rectangles of a release's history inside its area, the current one first."""
    current = st.session_state.get(f"{prefix}.rect")
    boxes = [tuple(current)] if current else []
    boxes += [tuple(row[side] for side in SIDES) for row in history if "ring" not in row]
    return [rect for rect in dict.fromkeys(boxes) if overlaps(rect, release.domain)][:MOST]
