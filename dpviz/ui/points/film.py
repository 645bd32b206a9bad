"""Film of a comparison: maps and answers at eight values of ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.counts import PointRelease
from dpviz.render.cells import domain_bounds
from dpviz.render.numbers import count_words, with_noise
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.ui.points.answers import middle
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.charts import deviation_chart
from dpviz.ui.shared.memory import public_release
from dpviz.ui.shared.method_form import Choice, title_of
from dpviz.ui.shared.parts import is_fragment_run
from dpviz.ui.shared.skeleton import build_choice
from dpviz.ui.shared.text import plain

FRAMES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MAX_CELLS = 100_000
"""Most cells of a release in the film's file: more take a minute to write and to open."""


def film_strip(prefix: str, current: float, *, show: Callable[[float], None]) -> None:
    """Step all maps through ε, in the fragment of the maps.

    Args:
        prefix: prefix of the widgets' keys.
        current: the ε of all sides.
        show: sets the ε of all before the page runs.
    """
    key = f"{prefix}.film"
    if not is_fragment_run():
        st.session_state[key] = current if current in FRAMES else None
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.markdown("All at ε", width="content")
        chosen = st.segmented_control(
            "All maps at ε",
            FRAMES,
            format_func=lambda value: f"{value:g}",
            key=key,
            on_change=lambda: show(st.session_state[key] or current),
            label_visibility="collapsed",
        )
    if is_fragment_run() and chosen not in (None, current):
        st.rerun()  # maps and sliders are outside this fragment


def film_answers(source: PointSource, methods: Mapping[str, Choice], rect: Bounds | None) -> None:
    """The answer to a rectangle less the exact count at every ε, as a chart and a table.

    Args:
        source: source of the public records.
        methods: by title; their ε is not used.
        rect: as drawn; by default the middle of the area.
    """
    asked = rect or middle(domain_bounds(source.data.domain))
    try:
        inside = from_degrees(asked, source.data.domain.crs)
        exact = int(exact_counts(source.data, inside)[0])
        rows = [
            _deviation(title, epsilon, _release(source, choice, epsilon, seed).count(inside), exact)
            for seed, (title, choice) in enumerate(methods.items())
            for epsilon in FRAMES
        ]
    except DpvizError as error:
        st.caption(plain(error))
        return
    where = "The drawn rectangle" if rect else "The middle of the area (or draw a rectangle)"
    st.markdown(f"**{where} holds {exact:,} records.** How far is the answer from that, by ε?")
    st.altair_chart(deviation_chart(rows))
    table = [
        {"ε": f"{epsilon:g}"}
        | {row["method"]: row["answer"] for row in rows if row["ε"] == epsilon}
        for epsilon in FRAMES
    ]
    st.dataframe(table, hide_index=True)
    st.caption(
        "One release per ε. In chart and table, ± is for 95 %: the noise, and the uncertainty "
        "where the rectangle cuts cells, together. The chart's scale grows tenfold per step."
    )


def _deviation(title: str, epsilon: float, answer: Any, exact: int) -> dict[str, Any]:
    """Row of the chart and the table: an answer of length one less the exact count.

    Both have its total error: beside noise alone, a coarse grid seemed sure of a wrong count.
    """
    error, half = float(answer.count[0]) - exact, float(answer.total_error[0])
    return {
        "method": title,
        "ε": epsilon,
        "error": error,
        "low": error - half,
        "high": error + half,
        "in words": with_noise(error, half),
        "answer": count_words(answer),
    }


def film_series(
    source: PointSource, choice: Choice, seed: int
) -> tuple[list[PointRelease], list[str]]:
    """Releases of the film and their labels, for a file with a slider.

    Returns:
        Releases of rising ε with labels; skips those that the method refuses to build and, after
        the first, those with more than :data:`MAX_CELLS` cells.
    """
    releases: list[PointRelease] = []
    labels: list[str] = []
    for epsilon in FRAMES:
        try:
            release = _release(source, choice, epsilon, seed)
        except DpvizError:
            continue
        if releases and len(release.nodes.count) > MAX_CELLS:
            continue
        releases.append(release)
        labels.append(f"{title_of(choice.name)}, ε = {epsilon:g}")
    return releases, labels


def _release(source: PointSource, choice: Choice, epsilon: float, seed: int) -> Any:
    frame = replace(choice, epsilon=epsilon)
    return public_release(f"film.{seed}.{epsilon:g}", source, frame, seed, build_choice)
