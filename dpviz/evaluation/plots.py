"""Charts of experiments: lines of means in panels, with bands over the repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpviz.evaluation.rows import MeasureRow, grouped
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


Lines = dict[str, dict[float, Sequence[float]]]
"""Values over repetitions by x, of each line by its label."""


def error_figure(
    rows: Iterable[MeasureRow],
    measures: Iterable[str] = ("mean_relative_error",),
    title: str = "",
    labels: dict[str, str] | None = None,
) -> mpl.Figure:
    """Measures against epsilon, one panel per measure and size; see :func:`line_figure`.

    Args:
        measures: measures to draw; axes of those of :data:`METRICS` are logarithmic.
        labels: other names for methods.
    """
    measures = list(measures)
    panels: dict[tuple[str, str], Lines] = {}
    for (method, epsilon, size, measure), values in grouped(rows).items():
        if measure in measures:
            label = (labels or {}).get(method, method)
            lines = panels.setdefault((measure, size), {})
            lines.setdefault(label, {})[epsilon] = values
    ordered = sorted(panels, key=lambda panel: measures.index(panel[0]))
    metric = METRICS.get(measures[0])
    named = {f"{at[1]} queries" if metric else at[0]: panels[at] for at in ordered}
    return line_figure(named, "ε", metric or "", title, log_x=True, log_y=metric is not None)


def line_figure(
    panels: dict[str, Lines],
    x_label: str,
    y_label: str,
    title: str = "",
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> mpl.Figure:
    """Lines of means with bands from the least to the greatest value, in panels side by side.

    Args:
        panels: lines by the title of their panel; at least one.
        y_label: label of the first panel; the panels then share their y axis.
        log_y: likewise; a y axis that is not holds 0.
    """
    figure = mpl.Figure(figsize=(3.2 * len(panels) + 1.6, 3.4), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=bool(y_label), squeeze=False)[0]
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    ticks = sorted({x for lines in panels.values() for line in lines.values() for x in line})
    for (heading, lines), panel in zip(panels.items(), axes, strict=True):
        for name, line in lines.items():
            _draw(panel, dict(sorted(line.items())), names.index(name), name)
        panel.set_title(heading, fontsize=10)
        panel.set_xlabel(x_label, fontsize=10)
        if log_x:
            panel.set_xscale("log")
        if log_y:
            panel.set_yscale("log")
        else:
            panel.set_ylim(bottom=min(0.0, panel.get_ylim()[0]))
        panel.set_xticks(ticks, [f"{each:g}" for each in ticks], fontsize=8)
        panel.minorticks_off()
        panel.tick_params(axis="y", labelsize=8)
        panel.grid(visible=True, which="major", color="#d0d0d0", linewidth=0.5)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(y_label)
    handles, words = axes[0].get_legend_handles_labels()
    figure.legend(handles, words, loc="outside right center", frameon=False, fontsize=8)
    if title:
        figure.suptitle(title, fontsize=11, parse_math=False)  # a file's name is not a formula
    return figure


def _draw(panel: Axes, line: dict[float, Sequence[float]], style: int, label: str) -> None:
    colour, marker = COLOURS[style % len(COLOURS)], MARKERS[style % len(MARKERS)]
    middle = [float(np.mean(each)) for each in line.values()]
    low, high = ([of(each) for each in line.values()] for of in (min, max))
    panel.plot(list(line), middle, marker, linestyle="-", color=colour, markersize=4, label=label)
    panel.fill_between(list(line), low, high, color=colour, alpha=0.18, linewidth=0)
