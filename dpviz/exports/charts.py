"""Expected error by rectangle size, computed from the release alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.lazy import mpl
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import PointRelease
from dpviz.render.colors import PAIR
from dpviz.render.fonts import render_figure
from dpviz.trees.lattice import Float

SIZES = np.logspace(-4, 0, 13)
"""Rectangle sizes, as shares of the domain's area."""

RECTANGLES = 100
"""Number of rectangles of each size, at the same places for every release."""


def expected_errors(release: PointRelease) -> tuple[Float, Float]:
    """Median half-widths (95 %) of the noise and of the uniformity error, per size in `SIZES`.

    Rectangles have the shape of the domain and random places in it. The result is
    post-processing: no record is read.
    """
    side, dims = release.domain.side, release.domain.dims
    rng = np.random.default_rng(0)
    corner = rng.random((RECTANGLES, dims))
    noise, uniformity = [], []
    for share in SIZES:
        extent = round(side * share ** (1 / dims))
        lo = np.floor(corner * (side - extent + 1)).astype(np.int64)
        answers = release.count_boxes(lo, lo + extent)
        noise.append(np.median(answers.noise_sd))
        uniformity.append(np.median(answers.uniformity_sd))
    return INTERVAL_SDS * np.array(noise), INTERVAL_SDS * np.array(uniformity)


def error_svg(releases: Sequence[PointRelease], labels: Sequence[str]) -> bytes:
    """The chart of :func:`expected_errors` as SVG, the same for the same releases."""
    from matplotlib import rc_context
    from matplotlib.ticker import FuncFormatter

    with rc_context({"svg.hashsalt": "dpviz"}):
        figure = mpl.Figure(figsize=(4.6, 2.9), layout="constrained")
        panel = figure.subplots()
        for colour, release, label in zip(PAIR, releases, labels, strict=False):
            noise, uniformity = expected_errors(release)
            for values, line, what in (
                (noise, "o-", "noise"),
                (uniformity, "o--", "uniformity (ESTIMATE)"),
            ):
                name = f"{label}: {what}" if len(releases) > 1 else what
                name = name.replace("$", r"\$")  # a bare $ would start a formula
                panel.plot(SIZES, values, line, color=colour, markersize=3, label=name)
        panel.set_xscale("log")
        panel.set_yscale("symlog", linthresh=1.0)
        panel.set_ylim(bottom=0)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        panel.set_xlabel("Area of the rectangle, share of the domain")
        panel.set_ylabel("± records (95 %)")
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8, frameon=False)
        return render_figure(figure, "svg", metadata={"Date": None})


def timeline_svg(release: PointRelease, noun: str = "") -> bytes:
    """Noisy count of each step of the whole period with its ±, as SVG.

    Args:
        release: with time.
        noun: plural of the records; "records" if empty.
    """
    from matplotlib import rc_context
    from matplotlib.ticker import FuncFormatter

    line, words = release.timeline(), release.domain.calendar.text
    band = line.count - line.total_error, line.count + line.total_error
    ends = [*line.start.astype(float).tolist(), float(line.end.astype(float)[-1])]
    marked = np.unique(np.linspace(0, len(ends) - 1, 5).round().astype(int))
    with rc_context({"svg.hashsalt": "dpviz"}):
        figure = mpl.Figure(figsize=(4.6, 2.9), layout="constrained")
        panel = figure.subplots()
        low, high = (np.append(each, each[-1]) for each in band)
        panel.fill_between(ends, low, high, step="post", color=PAIR[0], alpha=0.25, linewidth=0)
        panel.step(ends, np.append(line.count, line.count[-1]), where="post", color=PAIR[0])
        panel.set_ylim(bottom=0)
        panel.set_xticks([ends[at] for at in marked], [words(ends[at]) for at in marked])
        panel.tick_params(axis="x", labelsize=8)
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        panel.set_ylabel(f"{noun or 'records'} per step".replace("$", r"\$"))
        panel.grid(alpha=0.3)
        return render_figure(figure, "svg", metadata={"Date": None})
