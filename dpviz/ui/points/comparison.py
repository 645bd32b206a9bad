"""Two answers to one rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.counts import PointRelease
from dpviz.render import with_noise
from dpviz.render.numbers import NO_BREAK
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.ui.points.answers import (
    CUT,
    LARGER,
    answerable,
    error_lines,
    errors_of,
    numbers_of,
    off_by,
)
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.text import plain

NUMBERS = ("count", "noise_sd", "half_width", "uniformity_sd", "nodes")
"""Columns of each answer in the download."""


def answer_columns(
    releases: Sequence[PointRelease],
    labels: Sequence[str],
    source: PointSource,
    rect: Bounds,
) -> list[dict[str, Any]]:
    """Show both answers beside the exact one; rows for the download."""
    if not answerable(rect, *(release.domain for release in releases)):
        return []
    asked = dict(zip(SIDES, rect, strict=True))
    rows = []
    try:
        inside = from_degrees(rect, releases[0].domain.crs)
        for side, release, label in zip("AB", releases, labels, strict=True):
            answer = release.count(from_degrees(rect, release.domain.crs))
            whose = {"side": side, "method": label, "epsilon": release.header.epsilon}
            rows.append({**asked, **whose, **numbers_of(answer, names=NUMBERS)})
    except DpvizError as error:
        st.warning(plain(error), icon=":material/crop_free:")
        return []
    exact = int(exact_counts(source.data, inside)[0]) if source.public else None
    for place, row in zip(st.columns(2), rows, strict=True):
        with place:
            count, (_, _, larger) = row["count"], errors_of(row)
            apart = ""
            if exact is not None:
                off, share = off_by(count, larger, exact)
                apart = f"**Error:** {plain(off)}{share and f' ({share})'}  \n"
                row |= {"exact": exact, "error": count - exact}
            st.caption(f"{row['side']} · noisy count", help=LARGER)
            st.markdown(f"**{plain(with_noise(count, larger).replace(' ', NO_BREAK))}**")
            st.markdown(apart + error_lines(row), help=CUT.format("cell"))
    if exact is not None:
        st.markdown(f"**Exact count (public data):** {exact:,}")
    return rows
