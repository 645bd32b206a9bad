"""Map of an area release by level, the answer to a rectangle, and a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.evaluation.truth import exact_by_area
from dpviz.exports.export import csv_bytes
from dpviz.exports.views import maps_of
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.areas.partition import Areas
from dpviz.releases.areas.table import area_sums, part_counts, rank_limits
from dpviz.releases.areas.window import step_windows
from dpviz.releases.counts import AreaRelease
from dpviz.render import Scene, with_noise
from dpviz.render.areas import areas_scene
from dpviz.render.nearby import area_choices, area_labels
from dpviz.ui.points.answers import note_repeated, window_total
from dpviz.ui.points.attributes import kinds_view
from dpviz.ui.points.comparing import compare_panel
from dpviz.ui.points.map_answer import WHOLE, ask_on_map, drawn_answer
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.downloads import MAX_ROWS, count_columns
from dpviz.ui.shared.frame import Panels
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import (
    file_button,
    level_control,
    rows_in_words,
    show_promises,
    sortable,
)
from dpviz.ui.shared.presentation import words_of
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.time_window import TimeWindow, chosen_window, steps_timeline, window_part
from dpviz.ui.shared.timeline import PERIOD


@fragment
def show_areas(
    prefix: str, release: AreaRelease, source: PointSource, panels: Panels, *, shown: bool = True
) -> None:
    """Map of a level, drawn while ``shown``, its answer, and tabs below.

    Of a table with categories or steps of time, the map shows one category and a window.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="dpviz-controls"):
        level, sums = level_control(prefix, release.frame.levels), _shows_sums(prefix, release)
        of_kind, records, _ = kinds_view(prefix, release, source, looks=False)
        window = chosen_window(prefix, of_kind)
        if window is not None:
            window_total(of_kind, window.ends)
    if not shown:
        return
    part = window_part(f"{prefix}.part", of_kind, window)

    def draw() -> Scene:
        whole = window is None or window.high - window.low == len(window.steps)
        steps = [release] if whole else step_windows(release)[0][1:]
        alike, _ = maps_of(steps, [""] * len(steps), in_time=True)
        return areas_scene(part, level, sums=sums, alike=alike)

    answer = partial(
        drawn_answer,
        prefix,
        of_kind,
        records,
        window=None if window is None else window.ends,
        then=". Areas that it cuts count by the share of their surface inside"
        + ("; larger areas are exact sums of smaller ones." if release.frame.levels[1:] else "."),
    )
    scene = cached(f"{prefix}.areas", (level, sums, part), draw)
    own: Panels = {
        "Summary": partial(_summary, prefix, part, source if part is release else None),
        "Table": partial(_table, prefix, part, level, release),
        "Compare counts": partial(_compare, prefix, release),
        **panels,
    }
    if window is not None:
        own["Timeline"] = partial(_timeline, prefix, of_kind, window)
    fields = (permalink.RECT, PERIOD)
    ask_on_map(prefix, part, source, answer, scene, fields=fields, panels=own)


def _shows_sums(prefix: str, release: AreaRelease) -> bool:
    """Return whether the map shows sums of values in place of counts."""
    if (values := release.domain.values) is None:
        return False
    return bool(st.toggle(f"Sum of {plain(values.column)}", key=f"{prefix}.sums"))


def _summary(prefix: str, release: AreaRelease, source: PointSource | None) -> None:
    """Show totals; of all records of public data, whose ``source`` is given, also the exact one."""
    areas = release.frame
    top = areas.slices[0]
    total = float(release.nodes.count[top].sum())
    half = release.header.interval_sds * float(np.sqrt(release.nodes.variance[top].sum()))
    with st.container(horizontal=True, gap="large"):
        st.metric("Noisy total", with_noise(total, half), width="content")
        if (values := release.domain.values) and (sums := area_sums(release)):
            error = INTERVAL_SDS * float(np.sqrt((sums.noise_sd[top] ** 2).sum()))
            words = with_noise(float(sums.sum[top].sum()), error)
            st.metric(f"Sum of {plain(values.column)}", words, width="content")
        if source is not None and source.public:
            exact = _exact_total(prefix, release, source)
            st.metric("Exact total (public data)", f"{exact:,}", width="content")
        st.metric(
            "Areas", f"{areas.leaves:,}", help=f"{len(areas):,} on all levels", width="content"
        )
        st.metric("Levels", len(areas.levels), width="content")
    note_repeated(release)
    show_promises(release)


def _exact_total(prefix: str, release: AreaRelease, source: PointSource) -> int:
    """Number of public records in any of the areas, cached."""

    def count() -> int:
        return int(exact_by_area(source.data, release.frame)[release.frame.slices[0]].sum())

    return cached(f"{prefix}.areas.exact", (source.key, release), count)


def _compare(prefix: str, release: AreaRelease) -> None:
    """Compare two areas, at first the two with the most records."""
    labels = _labels(prefix, release, area_choices)
    finest = len(labels) - release.frame.leaves
    largest = np.argsort(-release.nodes.count[finest:], kind="stable")[:2] + finest
    places = {WHOLE: None} | dict(zip(labels, release.frame.labels, strict=True))
    compare_panel(prefix, release, places, [labels[row] for row in largest[[0, -1]]])


def _timeline(prefix: str, release: AreaRelease, window: TimeWindow) -> None:
    """Show the counts of one area, or of all, in every step."""
    places = dict(zip(_labels(prefix, release, area_choices), release.frame.labels, strict=True))
    choices = [WHOLE, *places]
    area = str(st.selectbox("Area", choices, key=f"{prefix}.timeline.area", format_func=plain))
    line = release.timeline() if area == WHOLE else release.timeline_of(places[area])
    steps_timeline(line, window, "all areas" if area == WHOLE else plain(area))


def _labels(
    prefix: str, release: AreaRelease, words: Callable[[Areas, str], list[str]]
) -> list[str]:
    """Labels of all areas in some words, cached."""
    areas, source = release.frame, release.header.source
    return cached(f"{prefix}.{words.__name__}", areas, lambda: words(areas, source))


def _table(prefix: str, release: AreaRelease, level: str, whole: AreaRelease) -> None:
    """Table of the areas with the most records on the level, with ranks and their timelines.

    The download is of the ``whole`` release, in all its steps and categories.
    """
    part = release.frame.rows_of(level)
    rows = np.arange(part.start, part.stop)
    every, sds = release.nodes.count[rows], release.header.interval_sds
    half = sds * np.sqrt(release.nodes.variance[rows])
    order = np.argsort(-every, kind="stable")[:MAX_ROWS]
    ranks = zip(*(each[order].tolist() for each in rank_limits(every, half)), strict=True)
    chosen, above = rows[order], release.frame.parent_names
    columns: dict[str, Any] = {"area": [release.frame.names[row] for row in chosen]}
    if release.frame.resolution is None:
        columns["in"] = [above[row] or "" for row in chosen]
    else:
        columns["area"] = [_labels(prefix, release, area_labels)[row] for row in chosen]
    counts = count_columns(every[order], half[order])
    if (values := release.domain.values) and (sums := area_sums(release)):
        of_value = sums.rows(chosen)
        shown = count_columns(of_value.count, of_value.half_width)
        counts |= dict(
            zip((f"sum of {values.column}", "± of the sum"), shown.values(), strict=True)
        )
    columns |= counts | {"rank": [f"{a}" if a == b else f"{a} to {b}" for a, b in ranks]}
    looks = sortable(*counts)
    if release.steps is not None:
        by_step = part_counts(release).sum(axis=0)[:, chosen]
        columns["step by step"] = by_step.T.round(1).tolist()
        looks["step by step"] = st.column_config.LineChartColumn()
    st.dataframe(pa.table(columns), hide_index=True, column_config=looks)
    words = rows_in_words(len(chosen), len(rows), "areas", "largest counts")
    st.caption(f"{words} A rank is a range where the 95 % intervals overlap.")
    label = f"Counts by area{'' if whole.steps is None else ' and time'} (CSV)"
    name = words_of(prefix, whole).file_name(".csv", "counts.csv")
    file_button(label, partial(csv_bytes, whole), name, f"{prefix}.areas.table.csv")
