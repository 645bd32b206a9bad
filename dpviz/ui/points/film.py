"""Film of a comparison: both maps and their answers at eight values of ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.counts import PointRelease
from dpviz.render.numbers import count_words
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.charts import interval_chart
from dpviz.ui.shared.memory import public_release
from dpviz.ui.shared.method_form import Choice, title_of
from dpviz.ui.shared.parts import in_part
from dpviz.ui.shared.skeleton import build_choice
from dpviz.ui.shared.text import plain

FRAMES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
LARGEST = 100_000
"""Most cells of a release in the film's file: more take a minute to write and to open."""


def film_strip(prefix: str, current: float, show: Callable[[float], None]) -> None:
    """Step both maps through ε, in the fragment of the maps.

    Args:
        prefix: of the widgets' keys.
        current: the ε of A.
        show: sets the ε of both before the page runs.
    """
    key = f"{prefix}.film"
    if not in_part():
        st.session_state[key] = current if current in FRAMES else None
    st.markdown("Both at ε", width="content")
    chosen = st.segmented_control(
        "Both maps at ε",
        FRAMES,
        format_func=lambda value: f"{value:g}",
        key=key,
        on_change=lambda: show(st.session_state[key] or current),
        label_visibility="collapsed",
    )
    if in_part() and chosen not in (None, current):
        st.rerun()  # the maps and the sliders are of the whole page


def film_answers(source: PointSource, choices: Sequence[Choice], rect: Bounds | None) -> None:
    """The drawn rectangle at every ε of the film, as a chart and a table."""
    if rect is None:
        st.caption("Draw a rectangle: its answer at each ε is shown here.")
        return
    try:
        inside = from_degrees(rect, source.data.domain.crs)
        exact = int(exact_counts(source.data, inside)[0])
        rows = _frames(source, choices, inside)
    except DpvizError as error:
        st.caption(plain(error))
        return
    st.altair_chart(interval_chart(rows, exact))
    table = [
        {"ε": f"{epsilon:g}"}
        | {row["side"]: row["in words"] for row in rows if row["ε"] == epsilon}
        for epsilon in FRAMES
    ]
    st.dataframe(table, hide_index=True)
    st.caption(
        f"Exact (public data): {exact:,}, the dashed line. In the chart: the 95 % interval of "
        "the noise. ± in the table: the larger of it and the uncertainty in cut cells."
    )


def _frames(source: PointSource, choices: Sequence[Choice], inside: Bounds) -> list[dict[str, Any]]:
    """Both sides' answer to a rectangle, in the domain's own coordinates, at every ε."""
    rows: list[dict[str, Any]] = []
    for seed, (side, choice) in enumerate(zip("AB", choices, strict=True)):
        for epsilon in FRAMES:
            answer = _release(source, choice, epsilon, seed).count(inside)
            rows.append(
                {
                    "side": side,
                    "ε": epsilon,
                    "answer": float(answer.count[0]),
                    "low": float(answer.low[0]),
                    "high": float(answer.high[0]),
                    "in words": count_words(answer),
                }
            )
    return rows


def film_series(
    source: PointSource, choice: Choice, seed: int
) -> tuple[list[PointRelease], list[str]]:
    """Releases of the film and their labels, for a file with a slider.

    Returns:
        Releases of rising ε with labels; skips those that the method refuses to build and, after
        the first, those with more than :data:`LARGEST` cells.
    """
    releases: list[PointRelease] = []
    labels: list[str] = []
    for epsilon in FRAMES:
        try:
            release = _release(source, choice, epsilon, seed)
        except DpvizError:
            continue
        if releases and len(release.nodes.count) > LARGEST:
            continue
        releases.append(release)
        labels.append(f"{title_of(choice.name)}, ε = {epsilon:g}")
    return releases, labels


def _release(source: PointSource, choice: Choice, epsilon: float, seed: int) -> Any:
    frame = replace(choice, epsilon=epsilon)
    return public_release(f"film.{seed}.{epsilon:g}", source, frame, seed, build_choice)
