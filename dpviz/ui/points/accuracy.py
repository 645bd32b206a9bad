"""Typical error of a release, and error by ε of both sides of a comparison on public data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from dpviz.evaluation.experiments import Experiment, run
from dpviz.evaluation.plots import METRICS
from dpviz.evaluation.points import PointBench
from dpviz.evaluation.rows import MeasureRow, rows_csv, summary
from dpviz.queries.workloads import workload
from dpviz.releases.areas.hexagons import finest_words
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas
from dpviz.render import half_width_words
from dpviz.render.colors import PAIR
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.charts import error_chart
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import ErrorsShown, file_button, table_panel
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.timeline import Window

EPSILONS = (0.1, 0.4, 1.6, 6.4)
SIZE, QUERIES = "medium", 300
METRIC = "median_relative_error"


BOXES = {
    2: (10, "in a small area", "in a rectangle of 1 % of the area"),
    4: (4, *2 * ("from one sixteenth of the area to another",)),
}
"""By axes: parts per axis of the boxes whose typical error is shown, words for a box, its size."""

ABOUT_BOXES = (
    "Half of the 95 % interval of a typical count {0}: the noise, and the uncertainty where a "
    "rectangle cuts cells, together. Computed from the release alone."
)

ABOUT_AREAS = (
    "Half of the 95 % interval of the count of a typical area: the noise, as areas are counted "
    "whole. A rectangle that cuts areas has a larger error. Computed from the release alone."
)


@dataclass(frozen=True)
class TypicalError:
    """Error of a typical count of a release.

    Attributes:
        half_width: median half-width of the 95 % intervals.
        place: words for the places that are counted.
        about: meaning of the error.
    """

    half_width: float
    place: str
    about: str

    def words(self, noun: str) -> str:
        """The error of a count of ``noun``, in Markdown."""
        return f"**± {half_width_words(self.half_width)} {plain(noun)}** {self.place}"

    def head(self, noun: str) -> str:
        """The same in two lines, for the head of a map."""
        return f"± {half_width_words(self.half_width)} {noun}\n{self.place}"


def typical_error(
    release: PointRelease | AreaRelease, period: Window | None = None
) -> TypicalError:
    """Error of a typical count in a period: of areas in one of them, else in equal boxes.

    ``release`` has a map, see :data:`BOXES`, and is as published: errors of a map of its period are
    rougher estimates, and larger.
    """
    if is_areas(release):
        return _error_of_areas(release)
    place = release.domain.without_time
    parts, words, size = BOXES[place.dims]
    edges = np.linspace(place.lower, place.upper, parts + 1).T
    low, high = (np.stack(np.meshgrid(*each), -1).reshape(-1, place.dims)
                 for each in (edges[:, :-1], edges[:, 1:]))  # fmt: skip
    errors = release.count(np.hstack([low, high]), period).total_error
    return TypicalError(float(np.median(errors)), words, ABOUT_BOXES.format(size))


def _error_of_areas(release: AreaRelease) -> TypicalError:
    """Error of the count of one of the finest areas."""
    areas = release.frame
    sd = float(np.sqrt(np.median(release.nodes.variance[areas.rows_of(None)])))
    words = f"in one of the {finest_words(areas)}" if areas.leaves > 1 else "in the only area"
    return TypicalError(release.header.interval_sds * sd, words, ABOUT_AREAS)


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
