"""The map of means of values; blank where the records are too few for one."""

from __future__ import annotations

from math import isnan

import numpy as np
import pyarrow as pa

from dpviz.releases.counts import PointRelease
from dpviz.releases.points.sums import mean_of, values_of
from dpviz.render.cells import adaptive
from dpviz.render.colors import every_palette
from dpviz.render.legend import Legend
from dpviz.render.numbers import short, with_interval
from dpviz.render.scale import Scale
from dpviz.render.scene import Mark, Row
from dpviz.render.zoomed import ZoomedBoxes
from dpviz.trees.lattice import Float, Int

CLASSES = 6
"""Approximate number of classes."""


def mean_marks(release: PointRelease, id: str) -> tuple[Mark, Legend]:  # noqa: A002
    """Cells of the map of all records, coarse to fine, in classes of the mean in each.

    ``release``: 2-D, with values.
    """
    values = values_of(release.domain)
    adapted, nodes = adaptive(release), release.nodes

    def at_zoom(zoom: float) -> tuple[Int | Float, ...]:
        rows = np.flatnonzero(adapted.at(zoom))
        lo, hi = nodes.lo[rows], nodes.hi[rows]
        sums, counts = release.sum_boxes(lo, hi), release.count_boxes(lo, hi)
        means = mean_of(release.domain, sums, counts)
        return lo, hi, means.value, means.low, means.high

    boxes, (value, low, high) = ZoomedBoxes.of(release.domain, at_zoom)
    bounds = _steps(value[boxes.at_home & ~np.isnan(value)], values.low, values.high)
    blank = values.low - 1.0 - abs(values.low)  # below the first class
    words = [
        "too few records" if isnan(ends[0]) else with_interval(*ends)
        for ends in zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    shown, columns = np.where(np.isnan(value), blank, value), {"mean": pa.array(words, pa.string())}
    palettes, title = every_palette(len(bounds)), f"Mean of {values.column}"
    rows = (Row("Mean (95 % interval)", "mean"),)
    mark = boxes.mark(id, shown, bounds, palettes, columns, rows, title=title)
    return mark, Legend(
        title=title,
        colors=Scale(bounds).colors(),
        palettes=palettes,
        labels=[short(each) for each in bounds],
        blank="blank: too few records to tell a mean",
    )


def _steps(values: Float, least: float, most: float) -> tuple[float, ...]:
    """Readable bounds at equal steps over what means are like; the first is the clip's.

    >>> _steps(np.array([11.0, 24.0]), 0.0, 50.0)
    (0.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0)
    """
    low, high = np.quantile(values, (0.05, 0.95)) if len(values) else (least, most)
    rough = max(float(high - low), 1e-9 * (most - least)) / CLASSES
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough * 0.7)
    first = np.ceil(float(low) / step + 1e-9)
    inner = [float(f"{(first + k) * step:.12g}") for k in range(CLASSES)]
    return (least, *(each for each in inner if least < each < min(most, high)))
