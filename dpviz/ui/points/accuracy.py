"""Accuracy by ε on public data: any methods, as charts, a table, CSV and PNG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.plots import COLOURS, METRICS, error_figure
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import Key, MeasureRow, grouped, rows_csv, summary
from dpviz.methods import METHODS, names
from dpviz.queries.workloads import SIZES, workload
from dpviz.render.colors import PAIR
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.charts import error_chart
from dpviz.ui.shared.panels import ErrorsShown, file_button, table_panel

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
QUICK = 16
"""Measurements of built-in data that are made unasked."""


def accuracy_panel(prefix: str, source: PointSource, suggested: Sequence[str]) -> None:
    """Show charts of the errors, and the form that chooses what is measured.

    A touch of the page ends a measurement under way; what is measured by then is kept.

    Args:
        prefix: of the widgets' keys.
        source: a public data set.
        suggested: methods to begin with, as ``name:key=value``.
    """
    place = st.container()
    with st.expander("Choose what is measured", icon=":material/science:"):
        plan, sizes, queries, metric = _form(prefix, source, suggested)
        pressed = st.button("Measure", icon=":material/play_arrow:", key=f"{prefix}.run")
    if plan is None:
        place.warning("Choose at least one method, one ε and one size.", icon=":material/tune:")
        return
    rows = _shared(source.key, queries)
    if not source.backdrop:
        kept = st.session_state.setdefault(f"{prefix}.rows", {})
        rows = kept.setdefault((source.key, queries), {})
    wanted = plan.keys(sizes)
    missing = sum(key not in rows for key in wanted)
    with place:
        if missing and (pressed or (source.backdrop and missing <= QUICK)):
            bar = st.progress(0.0, "exact answers")
            with ErrorsShown():
                loads = tuple(workload(source.data.domain, size, queries) for size in sizes)
                bench = PointBench(source.data, loads)
                report: Any = bar.progress
                for block in run(bench, plan, done=set(rows), progress=report):
                    for row in block:
                        rows.setdefault(row.key, []).append(row)
            bar.empty()
        measured = [key for key in wanted if key in rows]
        shown = [row for key in measured for row in rows[key]]
        if len(measured) < len(wanted):
            st.caption(
                f"{len(measured)} of {len(wanted)} measurements so far: press **Measure** below. "
                "Every method is built with fresh simulated noise, and its answers are compared "
                "with the exact ones."
            )
        if shown:
            _charts(shown, plan, sizes, metric)
            _downloads(prefix, shown, metric)


@st.cache_resource(max_entries=64)
def _shared(key: str, queries: int) -> dict[Key, list[MeasureRow]]:
    """Measurements of a built-in data set, for all visitors."""
    return {}


def _form(
    prefix: str, source: PointSource, suggested: Sequence[str]
) -> tuple[Experiment | None, list[str], int, str]:
    """The plan (None: a choice is missing), sizes, rectangles per size, and the metric shown."""
    dims = source.data.domain.dims
    able = sorted(
        alias for alias, (name, _) in names("points").items() if dims in METHODS[name].dims
    )
    first, second = st.columns([3, 2])
    methods = first.multiselect(
        "Methods",
        list(dict.fromkeys([*suggested, *able])),
        default=list(dict.fromkeys(suggested)),
        max_selections=len(COLOURS),  # each has one of its own
        key=f"{prefix}.methods.{'|'.join(suggested)}",
        help="Those of the two maps first, with their parameters; then every method.",
    )
    epsilons = second.multiselect(
        "ε", EPSILONS, default=[0.1, 0.4, 1.6, 6.4], format_func="{:g}".format, key=f"{prefix}.eps"
    )
    columns = st.columns([3, 2, 2, 3])
    sizes = columns[0].multiselect(
        "Size of the rectangles",
        list(SIZES),
        default=["medium"],
        key=f"{prefix}.sizes",
        help="Shares of the domain's area: small 0.01–0.1 %, medium 0.1–1 %, large 1–10 %, "
        "huge 10–100 %.",
    )
    queries = columns[1].select_slider(
        "Rectangles per size", (100, 300, 1000, 3000, 10_000), value=300, key=f"{prefix}.queries"
    )
    repeats = columns[2].number_input("Repetitions", 1, 100, 1, key=f"{prefix}.repeats")
    metric = columns[3].selectbox(
        "Show", list(METRICS), index=1, format_func=METRICS.__getitem__, key=f"{prefix}.metric"
    )
    if not (methods and epsilons and sizes):
        return None, sizes, queries, metric
    plan = Experiment(tuple(methods), tuple(sorted(epsilons)), int(repeats))
    return plan, sizes, queries, metric


def _values(rows: Sequence[MeasureRow], metric: str) -> list[dict[str, Any]]:
    """Mean, least and greatest value over the repetitions."""
    return [
        {
            "method": method,
            "epsilon": epsilon,
            "size": size,
            "error": sum(values) / len(values),
            "low": min(values),
            "high": max(values),
        }
        for (method, epsilon, size, measure), values in grouped(rows).items()
        if measure == metric
    ]


def _charts(
    rows: Sequence[MeasureRow], plan: Experiment, sizes: Sequence[str], metric: str
) -> None:
    """One chart per size on the same axes; columns, so that a phone stacks them."""
    values = _values(rows, metric)
    ends = [
        min((value["low"] for value in values if value["low"] > 0), default=0.001) / 1.2,
        max((value["high"] for value in values), default=1.0) * 1.2,
    ]
    colours = dict(zip(plan.methods, [*PAIR, *COLOURS[2:]], strict=False))
    for column, size in zip(st.columns(len(sizes)), sizes, strict=True):
        column.markdown(f"**{size}** rectangles")
        shown = [value for value in values if value["size"] == size]
        column.altair_chart(error_chart(shown, METRICS[metric], plan.epsilons, ends, colours))


def _downloads(prefix: str, rows: Sequence[MeasureRow], metric: str) -> None:
    table_panel("These measurements as a table", summary(rows))
    with st.container(horizontal=True, gap="small"):
        file_button("CSV", lambda: rows_csv(rows), "errors.csv", f"{prefix}.csv")
        file_button("PNG", lambda: _png(rows, metric), "errors.png", f"{prefix}.png", "image")


def _png(rows: Sequence[MeasureRow], metric: str) -> bytes:
    file = io.BytesIO()
    error_figure(rows, (metric,)).savefig(file, format="png", dpi=150)
    return file.getvalue()
