"""Downloads on Explore and Compare: an offline map, a report, a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.exports import map_page, report_page
from dpviz.exports.html import labels_of
from dpviz.releases.counts import PointRelease
from dpviz.render import Camera
from dpviz.render.picture import comparison_png
from dpviz.render.scene import Bounds
from dpviz.ui.map.component import events
from dpviz.ui.points.answers import overlaps
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.panels import file_button

MOST = 12
"""Most rectangles listed in a file."""

Series = Callable[[], tuple[Sequence[PointRelease], Sequence[str]]]


def share_panel(
    prefix: str,
    map_key: str,
    releases: Sequence[PointRelease],
    labels: Sequence[str] = (),
    series: Mapping[str, Series] | None = None,
    history: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Downloads of the releases with this session's answers, made when a button is pressed.

    Args:
        prefix: of the widgets' keys.
        map_key: of the map whose camera the file takes.
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
    title = st.text_input("Title", key=f"{prefix}.share.title", max_chars=120)
    names = list(labels) or labels_of(releases)
    rects = asked(prefix, releases[0], history)
    camera = camera_of(map_key)

    def page(steps: Series) -> str:
        maps, labels = steps()
        return map_page(maps, labels=labels, rects=rects, title=title, camera=camera)

    def report() -> str:
        return report_page(releases, labels=names, rects=rects, title=title)

    def picture() -> bytes:
        return comparison_png(releases, names, rects[0] if rects else None, title=title)

    files: dict[str, tuple[str, Callable[[], str | bytes]]] = {
        "Map (HTML)": ("map.html", lambda: page(lambda: (releases, names))),
        "Report (HTML)": ("report.html", report),
        "Picture (PNG)": ("map.png", picture),
    }
    for label, steps in (series or {}).items():
        files[f"{label} (HTML)"] = f"series-{label[-1].lower()}.html", partial(page, steps)
    with st.container(horizontal=True):
        for label, (name, make) in files.items():
            file_button(label, make, name, f"{prefix}.share.{name}")


def asked(prefix: str, release: PointRelease, history: Sequence[Mapping[str, Any]]) -> list[Bounds]:
    """Rectangles of a release's history inside its area, the current one first."""
    current = st.session_state.get(f"{prefix}.rect")
    boxes = [tuple(current)] if current else []
    boxes += [tuple(row[side] for side in SIDES) for row in history if "ring" not in row]
    return [rect for rect in dict.fromkeys(boxes) if overlaps(rect, release.domain)][:MOST]


def camera_of(map_key: str) -> Camera | None:
    """Camera of the visitor; None if they have not moved the map."""
    seen = events(map_key).camera
    if not seen:
        return None
    return Camera(longitude=seen["longitude"], latitude=seen["latitude"], zoom=seen["zoom"])
