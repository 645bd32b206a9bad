"""Charts of experiments: a measure against epsilon, a panel each, bands over repetitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.evaluation.rows import Row, grouped
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
    """Colour and marker of the line of this number."""
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    return {"color": colour, "marker": marker, "markersize": 4}


def error_figure(
    rows: Iterable[Row],
    measures: Iterable[str] = ("mean_relative_error",),
    title: str = "",
    labels: dict[str, str] | None = None,
) -> mpl.Figure:
    """Measures against epsilon, one panel per measure and size.

    A line is the mean over repetitions, its band their least and greatest value. Both axes of an
    error of :data:`METRICS` are logarithmic, and its panels share them.

    Args:
        rows: any rows; at least one of the measures.
        measures: measures to draw.
        title: above the panels.
        labels: other names for methods.
    """
    measures = list(measures)
    groups = {key: values for key, values in grouped(rows).items() if key[3] in measures}
    methods = list(dict.fromkeys(method for method, *_ in groups))
    epsilons = sorted({epsilon for _, epsilon, *_ in groups})
    keys = sorted(dict.fromkeys(key[2:] for key in groups), key=lambda key: measures.index(key[1]))
    errors = all(measure in METRICS for _, measure in keys)
    figure = mpl.Figure(figsize=(3.2 * len(keys) + 1.6, 3.4), layout="constrained")
    panels = figure.subplots(1, len(keys), sharey=errors, squeeze=False)[0]
    for (size, measure), panel in zip(keys, panels, strict=True):
        for style, method in enumerate(methods):
            mine = {e: groups.get((method, e, size, measure)) for e in epsilons}
            values = {epsilon: each for epsilon, each in mine.items() if each}
            if values:
                _draw(panel, values, style, (labels or {}).get(method, method))
        _dress(panel, f"{size} queries" if measure in METRICS else measure, epsilons)
        panel.set_ylabel(METRICS.get(measure, measure) if panel is panels[0] or not errors else "")
        if errors:
            panel.set_yscale("log")
        else:
            panel.set_ylim(bottom=0.0)
    handles, words = panels[0].get_legend_handles_labels()
    figure.legend(handles, words, loc="outside right center", frameon=False, fontsize=8)
    if title:
        figure.suptitle(title, fontsize=11, parse_math=False)  # a file's name is no formula
    return figure


def _draw(panel: Axes, values: dict[float, list[float]], style: int, label: str) -> None:
    middle = [float(np.mean(each)) for each in values.values()]
    epsilons = list(values)
    (line,) = panel.plot(epsilons, middle, linewidth=1.4, label=label, **line_style(style))
    low, high = ([of(each) for each in values.values()] for of in (min, max))
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
