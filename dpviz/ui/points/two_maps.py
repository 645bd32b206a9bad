"""Two releases with one camera, one rectangle and one legend, and their answers beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.evaluation.truth import exact_counts
from dpviz.releases.counts import PointRelease
from dpviz.render import Camera, Scene, difference_scene, with_noise
from dpviz.render.cells import domain_bounds
from dpviz.render.numbers import NO_BREAK
from dpviz.render.scene import Bounds
from dpviz.render.view import release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.points.answers import (
    CUT,
    LARGER,
    as_csv,
    error_lines,
    errors_of,
    in_domain,
    off_by,
    rectangle_form,
    row_in_words,
    row_of,
)
from dpviz.ui.points.map_answer import CAMERA, ask, drawn, keep_camera, kept_scene
from dpviz.ui.points.share import share_panel
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.frame import Panels, stage, tabs
from dpviz.ui.shared.panels import draw_hint, file_button
from dpviz.ui.shared.text import badge, plain

MODES = {"side": "Side by side", "swipe": "Swipe", "difference": "Difference"}


FIELDS = (permalink.RECT, CAMERA, permalink.choice("mode", MODES, "side"))


@dataclass(frozen=True)
class Comparison:
    """Two releases, A and B, and what each is called."""

    releases: tuple[PointRelease, PointRelease]
    labels: tuple[str, str]


def badges(compared: Comparison) -> str:
    """Guarantees of both releases; one if they are the same."""
    first, second = (badge(release.header) for release in compared.releases)
    return first if first == second else f"**A** {first} **B** {second}"


@fragment
def maps_and_answers(
    prefix: str,
    compared: Comparison,
    source: PointSource,
    series: Mapping[str, Any],
    panels: Callable[[Bounds | None], Panels],
    controls: Callable[[], object] = lambda: None,
) -> None:
    """Show both maps, their answers, and tabs below; drawing reruns this fragment only.

    Args:
        prefix: of the widgets' keys.
        compared: the two releases.
        source: their data; if public, the exact answer is shown too.
        series: files with the same maps at other ε, see :func:`share_panel`.
        panels: tabs of the page for the drawn rectangle (or None).
        controls: draws more in the row above the maps.
    """
    rect = st.session_state[f"{prefix}.rect"]
    permalink.present(f"{prefix}.mode", "side")
    with st.container(horizontal=True, vertical_alignment="center", key="dpviz-controls"):
        mode = st.segmented_control(
            "View",
            list(MODES),
            format_func=MODES.__getitem__,
            key=f"{prefix}.mode",
            label_visibility="collapsed",
        )
        controls()
    with stage():
        map_view(
            _scene(prefix, compared, source, mode or "side"),
            key=f"{prefix}.map",
            on_shape=partial(drawn, prefix),
        )
        keep_camera(prefix, source)
    rows: list[dict[str, Any]] = []
    with st.container():  # keeps what is below it open
        if rect is None:
            draw_hint(prefix, ": both maps answer it.")
        else:
            rows = _answers(compared, source, rect)
    typed = rectangle_form(prefix, rect, domain_bounds(compared.releases[0].domain))
    share = partial(
        share_panel, prefix, f"{prefix}.map", compared.releases, compared.labels, series
    )
    table: Panels = {"Table": partial(_table, prefix, rows)} if rows else {}
    tabs(prefix, {**table, **panels(rect), "Share": share}, always=("Share",))
    map_overlay(f"{prefix}.map", shape=Shape(rect=rect) if rect else None)
    permalink.remember(prefix, FIELDS)
    if typed is not None:
        ask(prefix, typed)


def _table(prefix: str, rows: Sequence[dict[str, Any]]) -> None:
    """Show both answers as a table, with a download."""
    shown = [{"side": row["side"], **row_in_words(row)} for row in rows]
    st.dataframe(shown, hide_index=True)
    file_button("Answers (CSV)", partial(as_csv, rows), "comparison.csv", f"{prefix}.csv")


def _answers(compared: Comparison, source: PointSource, rect: Bounds) -> list[dict[str, Any]]:
    """Show both answers and, for public data, the exact one; return rows for the download."""
    rows = []
    for side, release, label in zip("AB", compared.releases, compared.labels, strict=True):
        inside = in_domain(rect, release.domain)
        if inside is None:
            return []
        exact = int(exact_counts(source.data, inside)[0]) if source.public else None
        answer = row_of(release, release.count(inside), exact)
        rows.append(dict(zip(SIDES, rect, strict=True)) | {"side": side} | answer)
        rows[-1]["method"] = label
    *sides, truth = st.columns(3)
    for place, row in zip(sides, rows, strict=True):
        with place:
            count = with_noise(row["count"], errors_of(row)[2]).replace(" ", NO_BREAK)
            off, share = off_by(row) if source.public else ("", "")
            st.metric(f"{row['side']} · noisy count", count, help=LARGER)
            words = off and f"**Error:** {plain(off)}{share and f' ({share})'}  \n"
            st.markdown(words + error_lines(row), help=CUT.format("cell"))
    if source.public:
        truth.metric("Exact count (public data)", f"{rows[0]['exact']:,}")
    return rows


def _scene(prefix: str, compared: Comparison, source: PointSource, mode: Any) -> Scene:
    """Scene of both maps, cached so that a query does not compute the cells again."""

    def make() -> Scene:
        camera = Camera(bounds=domain_bounds(compared.releases[0].domain), key=source.key)
        if mode == "difference":
            scene = difference_scene(compared.releases, compared.labels, camera=camera)
        else:
            labels = [f"{side}: {label}" for side, label in zip("AB", compared.labels, strict=True)]
            scene = release_scene(compared.releases, labels, mode=mode, camera=camera)
        return replace(scene, title=f"{source.title} · {' and '.join(compared.labels)}")

    return kept_scene(prefix, (compared, mode), make, source)
