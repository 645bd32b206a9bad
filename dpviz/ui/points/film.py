"""The ε of a comparison as a film: the maps stepped through eight ε, and the answer at each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import means
from dpviz.evaluation.tradeoff import epsilon_for
from dpviz.evaluation.truth import exact_counts
from dpviz.queries.workloads import workload
from dpviz.releases.counts import PointRelease
from dpviz.render import half_width_words
from dpviz.render.numbers import count_words, percent
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.ui.points.source_form import PointSource, built_in
from dpviz.ui.shared.charts import half_width_chart, interval_chart, lines_chart
from dpviz.ui.shared.memory import public_release
from dpviz.ui.shared.method_form import Choice, title_of
from dpviz.ui.shared.panels import of_numbers, table_panel
from dpviz.ui.shared.skeleton import build_choice
from dpviz.ui.shared.text import plain

FRAMES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MEASURED = (0.1, 0.4, 1.6, 6.4)
"""The ε at which built-in data are measured for everybody."""
QUERIES = 200
LARGEST = 100_000
"""Cells of a release in a file of the film: more take a minute to write and to open."""
LEAST = 0.01
"""± records that may be asked for; what is less counts as that."""


def film_strip(prefix: str, current: float, show: Callable[[float], None]) -> None:
    """Step both maps through ε.

    Args:
        prefix: of the widgets' keys.
        current: the ε of A.
        show: sets the ε of both before the page runs.
    """
    key = f"{prefix}.film"
    st.session_state[key] = current if current in FRAMES else None
    st.segmented_control(
        "ε film: step both maps",
        FRAMES,
        format_func=lambda value: f"{value:g}",
        key=key,
        on_change=lambda: show(st.session_state[key] or current),
        help="The same data, methods and noise seed at another ε. The data are public.",
    )


def film_answers(
    prefix: str, source: PointSource, choices: Sequence[Choice], rect: Bounds | None
) -> None:
    """The drawn rectangle at every ε of the film: answers, and the ε that a precision takes."""
    for label, icon, key, show in (
        ("The answer at every ε", "movie", "frames", _answers_panel),
        ("What ε gives this precision?", "target", "precision", partial(_precision_panel, prefix)),
    ):
        with st.expander(
            label, icon=f":material/{icon}:", key=f"{prefix}.{key}", on_change="rerun"
        ) as place:
            if not place.open:
                continue
            if rect is None:
                st.caption("Draw a rectangle: its answer at each ε is shown here.")
                continue
            try:
                inside = from_degrees(rect, source.data.domain.crs)
                exact = int(exact_counts(source.data, inside)[0])
                show(_frames(source, choices, inside), exact)
            except DpvizError as error:
                st.caption(plain(error))


def _frames(source: PointSource, choices: Sequence[Choice], inside: Bounds) -> list[dict[str, Any]]:
    """Both sides' answer to a rectangle, in the domain's own coordinates, at every ε."""
    rows: list[dict[str, Any]] = []
    for seed, (side, choice) in enumerate(zip("AB", choices, strict=True)):
        for epsilon in FRAMES:
            answer = _release(source, choice, epsilon, seed).count(inside)
            half = float(answer.half_width[0])
            rows.append(
                {
                    "side": side,
                    "ε": epsilon,
                    "answer": float(answer.count[0]),
                    "low": float(answer.low[0]),
                    "high": float(answer.high[0]),
                    "± records": max(half, LEAST),
                    "in words": count_words(answer),
                }
            )
    return rows


def _answers_panel(rows: Sequence[dict[str, Any]], exact: int) -> None:
    st.altair_chart(interval_chart(rows, exact))
    st.dataframe(_by_epsilon(rows, lambda row: str(row["in words"])), hide_index=True)
    st.caption(
        f"Exact (public data): {exact:,}, the dashed line. In the chart: the 95 % interval of the "
        "noise. ± in the table: the larger of it and the error from cut cells."
    )


def _precision_panel(prefix: str, rows: Sequence[dict[str, Any]], _exact: int) -> None:
    """The ε for a precision, wherever the film stands."""
    halves = {
        side: [row["± records"] for row in rows if row["side"] == side]
        for side in dict.fromkeys(row["side"] for row in rows)
    }
    usual = min(each[FRAMES.index(1.0)] for each in halves.values())
    wanted = st.number_input(
        "± records, 95 % (noise)",
        min_value=LEAST,
        value=max(float(f"{usual:.1g}"), LEAST),
        format="%g",
        key=f"{prefix}.wanted",
    )
    needed = {side: epsilon_for(FRAMES, each, wanted) for side, each in halves.items()}
    st.markdown("  \n".join(f"**{side}:** {_priced(each)}" for side, each in needed.items()))
    marks = [
        {"side": side, "ε": epsilon, "± records": wanted}
        for side, epsilon in needed.items()
        if 0 < epsilon < inf
    ]
    st.altair_chart(half_width_chart(rows, wanted, marks))
    st.caption(
        "An estimate: it lies between releases of the same records at the ε of the points, each "
        "with the cells that the method makes at that ε. The error from cut cells is not in it."
    )
    table_panel(
        "The curve as a table",
        _by_epsilon(rows, lambda row: f"± {half_width_words(row['± records'])}"),
    )


def _priced(epsilon: float) -> str:
    if epsilon == 0:
        return f"ε = less than **{FRAMES[0]:g}**"
    if epsilon == inf:
        return f"ε = more than **{FRAMES[-1]:g}**"
    return f"ε = about **{epsilon:.2g}**"


def _by_epsilon(
    rows: Sequence[dict[str, Any]], words: Callable[[dict[str, Any]], str]
) -> list[dict[str, str]]:
    """A row for each ε of the film, a column for each side."""
    return [
        {"ε": f"{epsilon:g}"} | {row["side"]: words(row) for row in rows if row["ε"] == epsilon}
        for epsilon in FRAMES
    ]


def film_series(
    source: PointSource, choice: Choice, seed: int
) -> tuple[list[PointRelease], list[str]]:
    """The releases of the film, for a file that steps through them.

    Returns:
        Releases of rising ε and a label each, without those that the method refuses to build and,
        after the first, without those of more than :data:`LARGEST` cells.
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


def known_accuracy(source: PointSource, methods: Sequence[tuple[str, str]]) -> None:
    """Accuracy by ε of the chosen methods on built-in data: measured once for all visitors.

    Args:
        source: built in.
        methods: described as experiments name them, and in words.
    """
    rows: list[dict[str, Any]] = [
        {"method": f"{side}: {words}", "ε": epsilon, "error": error}
        for side, (described, words) in zip("AB", methods, strict=True)
        for epsilon in MEASURED
        if (error := _error(str(source.name), described, epsilon)) is not None
    ]
    st.altair_chart(lines_chart(rows, "Median relative error"))
    table_panel(
        "The chart as a table",
        [{**row, "error": percent(row["error"], 2)} for row in rows],
        column_config=of_numbers("error"),
    )
    st.caption(
        f"Median relative error of {QUERIES} rectangles of 0.1–1 % of the area, one release each."
    )


@st.cache_data(show_spinner="Measuring accuracy by ε …", max_entries=512)
def _error(data: str, method: str, epsilon: float) -> float | None:
    """Of one release of a built-in data set; None where the method refuses."""
    handle = built_in(data)
    loads = (workload(handle.domain, "medium", QUERIES),)
    try:
        (rows,) = run(PointBench(handle, loads), Experiment((method,), (epsilon,), repeats=1))
    except DpvizError:
        return None
    return means(rows)[method, epsilon, "medium", "median_relative_error"]
