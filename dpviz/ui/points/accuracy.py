"""Typical error of a release, and error by ε of both sides of a comparison on public data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.plots import METRICS
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import MeasureRow, rows_csv, summary
from dpviz.queries.workloads import workload
from dpviz.releases.counts import AreaRelease, PointRelease
from dpviz.render import half_width_words
from dpviz.render.colors import PAIR
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.charts import error_chart
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import ErrorsShown, file_button, table_panel
from dpviz.ui.shared.text import plain

EPSILONS = (0.1, 0.4, 1.6, 6.4)
SIZE, QUERIES = "medium", 300
METRIC = "median_relative_error"


TYPICAL = {
    2: (10, "in a small area", "in a rectangle of 1 % of the area"),
    4: (4, *2 * ("from one sixteenth of the area to another",)),
}
"""By axes: parts per axis of the boxes whose typical error is shown, words for a box, its size."""

ABOUT_ERROR = (
    "Half of the 95 % interval of a typical count {0}: the noise, and the uncertainty where a "
    "rectangle cuts cells, together. Computed from the release alone."
)


def typical_error(release: PointRelease | AreaRelease, noun: str = "") -> tuple[str, str] | None:
    """Error of a typical count of ``noun``, and a note; None in dimensions without a map."""
    dims = release.domain.without_time.dims
    if dims not in TYPICAL:
        return None
    _, words, size = TYPICAL[dims]
    error = cached("typical error", release, lambda: typical_half_width(release))
    counted = plain(noun) or release.records
    shown = f"Typical error **± {half_width_words(error)} {counted}** {words}"
    return shown, ABOUT_ERROR.format(size)


def typical_half_width(release: PointRelease | AreaRelease) -> float:
    """Median half-width of the 95 % intervals in equal boxes, see :data:`TYPICAL`."""
    place = release.domain.without_time
    edges = np.linspace(place.lower, place.upper, TYPICAL[place.dims][0] + 1).T
    low, high = (np.stack(np.meshgrid(*each), -1).reshape(-1, place.dims)
                 for each in (edges[:, :-1], edges[:, 1:]))  # fmt: skip
    return float(np.median(release.count(np.hstack([low, high])).total_error))


def accuracy_panel(prefix: str, source: PointSource, methods: Sequence[str]) -> None:
    """Show the errors of some methods, measured now.

    Args:
        prefix: prefix of the widgets' keys.
        source: a public data set.
        methods: as ``name:key=value``.
    """
    plan = Experiment(tuple(dict.fromkeys(methods)), EPSILONS, repeats=1)
    with ErrorsShown():
        rows = cached(f"{prefix}.rows", (source.key, plan), lambda: _measured(source, plan))
        _chart(rows, plan.methods)
        st.caption(
            f"Each method is built at {len(EPSILONS)} ε with fresh simulated noise and answers "
            f"{QUERIES} random {SIZE} rectangles (0.1–1 % of the area), which are compared "
            "with the exact counts. `dpviz evaluate` measures other methods, sizes and ε."
        )
        table_panel("These measurements as a table", summary(rows))
        file_button("CSV", lambda: rows_csv(rows), "errors.csv", f"{prefix}.csv")


def _measured(source: PointSource, plan: Experiment) -> list[MeasureRow]:
    bar = st.progress(0.0, "exact answers")
    report: Any = bar.progress
    bench = PointBench(source.data, (workload(source.data.domain, SIZE, QUERIES),))
    rows = [row for block in run(bench, plan, progress=report) for row in block]
    bar.empty()
    return rows


def _chart(rows: Sequence[MeasureRow], methods: Sequence[str]) -> None:
    measured = [row for row in rows if row.measure == METRIC]
    values = [
        {"method": row.method, "epsilon": row.epsilon}
        | dict.fromkeys(("error", "low", "high"), row.value)
        for row in measured
    ]
    errors = [row.value for row in measured]
    ends = [min(errors) / 1.2, max(errors) * 1.2]
    colours = dict(zip(methods, PAIR, strict=False))
    st.altair_chart(error_chart(values, METRICS[METRIC], EPSILONS, ends, colours))
