"""Charts of experiments: a measure against epsilon, a panel each, bands over repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpviz.evaluation.experiments import ErrorRow
from dpviz.evaluation.sequences import MeasureRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#000000")
"""Okabe and Ito's colour-blind-safe palette; markers repeat the distinction."""

MARKERS = "osD^vPX*"
METRICS = {
    "mean_relative_error": "Mean relative error",
    "median_relative_error": "Median relative error",
    "mean_absolute_error": "Mean absolute error (records)",
}


def error_figure(
    rows: Iterable[ErrorRow],
    metric: str = "mean_relative_error",
    title: str = "",
    labels: dict[str, str] | None = None,
) -> Figure:
    """Error against epsilon on logarithmic axes, one panel per size.

    A line is the mean over repetitions, its band their least and greatest value.

    Args:
        rows: any rows; at least one.
        metric: a column of :data:`METRICS`.
        title: above the panels.
        labels: other names for methods.
    """
    from matplotlib.figure import Figure

    rows = list(rows)
    sizes = list(dict.fromkeys(row.size for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    figure = Figure(figsize=(3.4 * len(sizes) + 1.6, 3.4), layout="constrained")
    panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for panel, size in zip(panels, sizes, strict=True):
        for style, name in enumerate(methods):
            chosen = [row for row in rows if row.size == size and row.method == name]
            _draw(panel, chosen, metric, style, (labels or {}).get(name, name))
        _dress(panel, f"{size} queries", sorted({row.epsilon for row in rows}))
        panel.set_yscale("log")
    panels[0].set_ylabel(METRICS[metric])
    _finish(figure, panels[0], title)
    return figure


def sequence_figure(rows: Iterable[MeasureRow], title: str = "") -> Figure:
    """Each measure of an experiment on sequences against epsilon, one panel for each.

    A line is the mean over repetitions, its band their least and greatest value.

    Args:
        rows: at least one.
        title: above the panels.
    """
    from matplotlib.figure import Figure

    rows = list(rows)
    measures = list(dict.fromkeys(row.measure for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    figure = Figure(figsize=(2.9 * len(measures) + 1.6, 3.2), layout="constrained")
    panels = figure.subplots(1, len(measures), squeeze=False)[0]
    for panel, measure in zip(panels, measures, strict=True):
        for style, name in enumerate(methods):
            chosen = [row for row in rows if row.measure == measure and row.method == name]
            _draw(panel, chosen, "value", style, name)
        _dress(panel, measure, sorted({row.epsilon for row in rows}))
        share = measure.startswith("top") or measure.endswith("F1")
        panel.set_ylabel(_axis(measure), fontsize=9)
        panel.set_ylim(bottom=0.0, top=1.0 if share else None)
    _finish(figure, panels[0], title)
    return figure


def _axis(measure: str) -> str:
    """What a measure's values are."""
    if measure.startswith("top"):
        return "Precision"
    return "Total variation distance" if measure == "lengths" else measure.capitalize()


def _finish(figure: Figure, panel: Axes, title: str) -> None:
    handles, names = panel.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False, fontsize=8)
    if title:
        figure.suptitle(title, fontsize=11)


def _draw(
    panel: Axes,
    rows: Sequence[ErrorRow] | Sequence[MeasureRow],
    metric: str,
    style: int,
    label: str,
) -> None:
    epsilons = sorted({row.epsilon for row in rows})
    if not epsilons:
        return
    values = [[getattr(row, metric) for row in rows if row.epsilon == each] for each in epsilons]
    colour = COLOURS[style % len(COLOURS)]
    panel.plot(
        epsilons,
        [float(np.mean(each)) for each in values],
        color=colour,
        marker=MARKERS[style % len(MARKERS)],
        markersize=4,
        linewidth=1.4,
        label=label,
    )
    low, high = [min(each) for each in values], [max(each) for each in values]
    panel.fill_between(epsilons, low, high, color=colour, alpha=0.18, linewidth=0)


def _dress(panel: Axes, title: str, epsilons: list[float]) -> None:
    panel.set_xscale("log")
    panel.set_title(title, fontsize=10)
    panel.set_xlabel("ε", fontsize=10)
    panel.set_xticks(epsilons, [f"{each:g}" for each in epsilons], fontsize=8)
    panel.minorticks_off()
    panel.tick_params(axis="y", labelsize=8)
    panel.grid(visible=True, which="major", color="#d0d0d0", linewidth=0.5)
    panel.spines[["top", "right"]].set_visible(False)
