"""Accuracy by ε on public data: any methods, a progress bar, cancel, table, CSV and PNG."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.plots import COLOURS, METRICS, error_figure
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import MeasureRow, grouped, rows_csv, summary
from dpviz.methods import METHODS, names
from dpviz.queries.workloads import SIZES, workload
from dpviz.render.colors import PAIR
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.charts import error_chart
from dpviz.ui.shared.panels import file_button, table_panel

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
REFRESH = 0.4
"""Seconds of measuring between two pictures of a running experiment."""

PAUSE = 0.1
"""Seconds between two blocks of measuring, in which a click is heard."""


@dataclass
class Measuring:
    """An experiment under way: pulled a block at a time, so that Cancel is heard in between.

    A rerun of a fragment never interrupts the one before it, so one long loop could not be stopped.
    """

    asked: tuple[Any, ...]
    finished: Iterator[list[MeasureRow]]
    fraction: float = 0.0
    what: str = "exact answers"

    def report(self, fraction: float, what: str) -> None:
        """Progress, as the experiment calls it."""
        self.fraction, self.what = min(fraction, 1.0), what

    def measure(self, rows: dict[Any, list[MeasureRow]]) -> bool:
        """Measure for a while; whether that was all."""
        until = time.monotonic() + REFRESH
        for measured in self.finished:
            for row in measured:
                rows.setdefault(row.key, []).append(row)
            if time.monotonic() > until:
                return False
        return True


def error_panel(prefix: str, source: PointSource, suggested: Sequence[str]) -> None:
    """The panel.

    Args:
        prefix: of the widgets' keys.
        source: a public data set.
        suggested: methods to begin with, as ``name:key=value``.
    """
    every = PAUSE if st.session_state.get(f"{prefix}.job") else None
    fragment(_panel, run_every=every)(prefix, source, suggested)


def _panel(prefix: str, source: PointSource, suggested: Sequence[str]) -> None:
    job: Measuring | None = st.session_state.get(f"{prefix}.job")
    dims = source.data.domain.dims
    able = sorted(
        alias for alias, (name, _) in names("points").items() if dims in METHODS[name].dims
    )
    options = list(dict.fromkeys([*suggested, *able]))
    first, second = st.columns([3, 2])
    methods = first.multiselect(
        "Methods",
        options,
        default=list(dict.fromkeys(suggested)),
        max_selections=len(COLOURS),  # each has one of its own
        key=f"{prefix}.methods.{'|'.join(suggested)}",
        help="Those of the two maps first, with their parameters; then every method.",
    )
    epsilons = second.multiselect(
        "ε", EPSILONS, default=[0.1, 0.4, 1.6], format_func=lambda e: f"{e:g}", key=f"{prefix}.eps"
    )
    columns = st.columns([3, 2, 2, 3])
    sizes = columns[0].multiselect(
        "Size of the rectangles",
        list(SIZES),
        default=["small", "medium", "large"],
        key=f"{prefix}.sizes",
        help="Shares of the domain's area: small 0.01–0.1 %, medium 0.1–1 %, large 1–10 %, "
        "huge 10–100 %.",
    )
    queries = columns[1].select_slider(
        "Rectangles per size", (100, 300, 1000, 3000, 10_000), value=1000, key=f"{prefix}.queries"
    )
    repeats = columns[2].number_input("Repetitions", 1, 100, 3, key=f"{prefix}.repeats")
    metric = columns[3].selectbox(
        "Show", list(METRICS), format_func=METRICS.__getitem__, key=f"{prefix}.metric"
    )
    left, right, _ = st.columns([1, 1, 3])
    start = left.button(
        "Measure",
        type="primary",
        icon=":material/play_arrow:",
        key=f"{prefix}.run",
        width="stretch",
    )
    cancel = right.button(
        "Cancel",
        icon=":material/stop:",
        key=f"{prefix}.cancel",
        width="stretch",
        disabled=job is None,
        help="Finished measurements are kept.",
    )
    memory: dict[Any, dict[Any, list[MeasureRow]]] = st.session_state.setdefault(
        f"{prefix}.rows", {}
    )
    rows = memory.setdefault((source.key, queries), {})
    bar, place = st.empty(), st.empty()
    plan = None
    asked = (source.key, tuple(methods), tuple(epsilons), tuple(sizes), queries, repeats)
    if methods and epsilons and sizes:
        plan = Experiment(tuple(methods), tuple(sorted(epsilons)), int(repeats))
    elif start:
        st.warning("Choose at least one method, one ε and one size.", icon=":material/tune:")
    if start and plan:
        job = Measuring(asked, iter(()))
        loads = tuple(workload(source.data.domain, size, queries) for size in sizes)
        bench = PointBench(source.data, loads)
        job.finished = run(bench, plan, done=set(rows), progress=job.report)
        st.session_state[f"{prefix}.job"] = job
        st.rerun()
    if job is not None:
        bar.progress(job.fraction, job.what)
        if cancel or job.asked != asked or job.measure(rows):
            st.session_state[f"{prefix}.job"] = None
            st.rerun()
        bar.progress(job.fraction, job.what)
    wanted = plan.keys(sizes) if plan else []
    measured = [key for key in wanted if key in rows]
    shown = [row for key in measured for row in rows[key]]
    if plan is None or not shown:
        place.caption(
            "Press **Measure**: every method is built several times with fresh simulated noise, "
            "and its answers are compared with the exact ones. The data are public."
        )
        return
    _charts(place, shown, plan, sizes, metric)
    if len(measured) < len(wanted):
        st.caption(f"{len(measured)} of {len(wanted)} measurements so far; Measure adds the rest.")
    _downloads(prefix, shown, metric)


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
    place: Any, rows: Sequence[MeasureRow], plan: Experiment, sizes: Sequence[str], metric: str
) -> None:
    """One chart per size on the same axes; columns, so that a phone stacks them."""
    values = _values(rows, metric)
    ends = [
        min((value["low"] for value in values if value["low"] > 0), default=0.001) / 1.2,
        max((value["high"] for value in values), default=1.0) * 1.2,
    ]
    colours = dict(zip(plan.methods, [*PAIR, *COLOURS[2:]], strict=False))
    with place.container():
        columns = st.columns(len(sizes))
        for column, size in zip(columns, sizes, strict=True):
            column.markdown(f"**{size}** rectangles")
            shown = [value for value in values if value["size"] == size]
            chart = error_chart(shown, METRICS[metric], plan.epsilons, ends, colours)
            column.altair_chart(chart)


def _downloads(prefix: str, rows: Sequence[MeasureRow], metric: str) -> None:
    table_panel("These measurements as a table", summary(rows))
    left, right, _ = st.columns([1, 1, 3])
    # Made when asked for: the link to a file of rows that grow is dead before the browser tries it.
    with left:
        file_button("CSV", lambda: rows_csv(rows), "errors.csv", f"{prefix}.csv", width="stretch")
    with right:
        made = lambda: _png(rows, metric)  # noqa: E731
        file_button("PNG", made, "errors.png", f"{prefix}.png", "image", width="stretch")


def _png(rows: Sequence[MeasureRow], metric: str) -> bytes:
    file = io.BytesIO()
    error_figure(rows, (metric,)).savefig(file, format="png", dpi=150)
    return file.getvalue()
