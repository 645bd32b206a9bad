"""Charts of experiments: a measure against epsilon, a panel each, bands over repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.evaluation.experiments import ErrorRow
from dpviz.evaluation.sequences import MeasureRow
from dpviz.lazy import mpl

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#000000")
"""Okabe and Ito's colour-blind-safe palette; markers repeat the distinction."""

MARKERS = "osD^vPX*"
METRICS = {
    "mean_relative_error": "Mean relative error",
    "median_relative_error": "Median relative error",
    "mean_absolute_error": "Mean absolute error (records)",
}


def line_style(number: int) -> dict[str, Any]:
    """How the line of this number is told apart from the others of a chart."""
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    return {"color": colour, "marker": marker, "markersize": 4}


def error_figure(
    rows: Iterable[ErrorRow],
    metric: str = "mean_relative_error",
    title: str = "",
    labels: dict[str, str] | None = None,
) -> mpl.Figure:
    """Error against epsilon on logarithmic axes, one panel per size.

    A line is the mean over repetitions, its band their least and greatest value.

    Args:
        rows: any rows; at least one.
        metric: a column of :data:`METRICS`.
        title: above the panels.
        labels: other names for methods.
    """
    figure, panels = _panels(list(rows), "size", metric, (3.4, 3.4), title, labels, sharey=True)
    for size, panel in panels.items():
        panel.set_title(f"{size} queries", fontsize=10)
        panel.set_yscale("log")
    next(iter(panels.values())).set_ylabel(METRICS[metric])
    return figure


def sequence_figure(rows: Iterable[MeasureRow], title: str = "") -> mpl.Figure:
    """Each measure of an experiment on sequences against epsilon, one panel for each.

    A line is the mean over repetitions, its band their least and greatest value.

    Args:
        rows: at least one.
        title: above the panels.
    """
    figure, panels = _panels(list(rows), "measure", "value", (2.9, 3.2), title)
    for measure, panel in panels.items():
        share = measure.startswith("top") or measure.endswith("F1")
        panel.set_ylabel(_axis(measure), fontsize=9)
        panel.set_ylim(bottom=0.0, top=1.0 if share else None)
    return figure


def _panels(
    rows: Sequence[Any],
    by: str,
    metric: str,
    size: tuple[float, float],
    title: str,
    labels: dict[str, str] | None = None,
    *,
    sharey: bool = False,
) -> tuple[mpl.Figure, dict[str, Axes]]:
    """A panel for each value of the column ``by``, with a line of ``metric`` for each method."""
    names = list(dict.fromkeys(getattr(row, by) for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    figure = mpl.Figure(figsize=(size[0] * len(names) + 1.6, size[1]), layout="constrained")
    axes = figure.subplots(1, len(names), sharey=sharey, squeeze=False)[0]
    panels: dict[str, Axes] = dict(zip(names, axes, strict=True))
    for name, panel in panels.items():
        for style, method in enumerate(methods):
            chosen = [row for row in rows if getattr(row, by) == name and row.method == method]
            _draw(panel, chosen, metric, style, (labels or {}).get(method, method))
        _dress(panel, name, sorted({row.epsilon for row in rows}))
    handles, words = axes[0].get_legend_handles_labels()
    figure.legend(handles, words, loc="outside right center", frameon=False, fontsize=8)
    if title:
        figure.suptitle(title, fontsize=11, parse_math=False)  # a file's name is no formula
    return figure, panels


def _axis(measure: str) -> str:
    """What a measure's values are."""
    if measure.startswith("top"):
        return "Precision"
    return "Total variation distance" if measure == "lengths" else measure.capitalize()


def _draw(panel: Axes, rows: Sequence[Any], metric: str, style: int, label: str) -> None:
    epsilons = sorted({row.epsilon for row in rows})
    if not epsilons:
        return
    values = [[getattr(row, metric) for row in rows if row.epsilon == each] for each in epsilons]
    middle = [float(np.mean(each)) for each in values]
    (line,) = panel.plot(epsilons, middle, linewidth=1.4, label=label, **line_style(style))
    low, high = [min(each) for each in values], [max(each) for each in values]
    panel.fill_between(epsilons, low, high, color=line.get_color(), alpha=0.18, linewidth=0)


def _dress(panel: Axes, title: str, epsilons: list[float]) -> None:
    panel.set_xscale("log")
    panel.set_title(title, fontsize=10)
    panel.set_xlabel("ε", fontsize=10)
    panel.set_xticks(epsilons, [f"{each:g}" for each in epsilons], fontsize=8)
    panel.minorticks_off()
    panel.tick_params(axis="y", labelsize=8)
    panel.grid(visible=True, which="major", color="#d0d0d0", linewidth=0.5)
    panel.spines[["top", "right"]].set_visible(False)
