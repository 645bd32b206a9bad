"""Downloads on Explore and Compare: an offline map, a report, a picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.exports import map_page
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.render.scene import Bounds
from dpviz.ui.points.answers import overlaps
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.panels import file_button
from dpviz.ui.shared.presentation import camera_of, share_page

MAX_RECTANGLES = 12
"""Most rectangles listed in a file."""

Series = Callable[[], tuple[Sequence[PointRelease], Sequence[str]]]


def share_panel(
    prefix: str,
    releases: Sequence[PointRelease | AreaRelease],
    labels: Sequence[str] = (),
    series: Mapping[str, Series] | None = None,
    history: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Words, link and files with the answers of this session, its ``history``.

    ``series`` are functions, by label, that return the releases and labels of a further file.
    Other arguments: see :func:`~dpviz.ui.shared.presentation.share_page`.
    """
    st.caption(
        "An HTML file with the map: it opens from a USB stick, without network or server, and "
        "answers rectangles itself. Or a report to print. Both contain only the release, never a "
        "record or an exact count. The address of this page restores your choices; an uploaded "
        "file has to be chosen again."
    )
    rects = queried_rectangles(prefix, releases[0], history)
    words = share_page(prefix, releases, labels, rects)

    def page(steps: Series) -> str:
        maps, names = steps()
        camera = camera_of(f"{prefix}.map")
        return map_page(maps, labels=names, rects=rects, presentation=words, camera=camera)

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
