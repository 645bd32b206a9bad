"""A release of areas as a tidy table: one row per area, kind and step of time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpviz.domain.crs import known_crs
from dpviz.errors import DataError
from dpviz.lazy import geopandas, pd
from dpviz.releases.answers import INTERVAL_SDS, SumAnswers, Timeline, interval
from dpviz.releases.areas.partition import Areas
from dpviz.releases.axis import Axis
from dpviz.releases.points.sums import Sums
from dpviz.roads.steps import Steps
from dpviz.trees.lattice import Float, Int

ALL = "all"
"""Kind of the rows that are sums over all kinds."""

SUM_COLUMNS = {"sum": "count", "sum_sd": "noise_sd", "sum_low": "low", "sum_high": "high"}
"""Columns of the sums of values, by those of counts."""

Column = NDArray[Any]
"""A column of a table."""


def table_of(
    release: Any, level: str | None = "all", *, shapes: bool = False, margins: bool = True
) -> pd.DataFrame:
    """One row per area, kind and step of a release, with 95 % intervals for the noise.

    Columns: level, name, parent; kind; start and end of the step, as clocks of its zone show them;
    count, noise_sd, low, high; of a release with values also sum, sum_sd, sum_low, sum_high, of the
    values as clipped; margin. A margin is empty for a count of the release, else it names what the
    row sums: ``kinds``, ``steps`` or ``kinds and steps``. Noise of parts is independent, so
    variances add up.

    Args:
        level: level of areas: the name of one, None for the finest, "all" for all of them.
        shapes: as a GeoDataFrame.
        margins: add the rows of sums.
    """
    areas, by = release.frame, release.by or Axis()
    part = slice(0, len(areas)) if level == "all" else areas.rows_of(level)
    parents = np.array([*areas.parent_names, ""], dtype=object)[:-1][part]
    names = np.array([*areas.names, ""], dtype=object)[:-1][part]
    columns = {"level": areas.level_of[part], "name": names, "parent": parents}
    first, sds = release.parts[0], release.header.interval_sds
    counts = part_counts(release)[..., part]
    sums = None
    if first.sums is not None:
        sums = part_sums(release)[..., part], first.sums.variance[part]
    variance = first.nodes.variance[part]
    frame = tidy(by, columns, counts, variance, sds, margins=margins, sums=sums)
    times = len(frame) // max(len(names), 1)
    if release.by is None:
        frame = frame.drop(columns="margin")
    if not shapes:
        return frame
    shown = areas.levels if level == "all" else (level,)
    outlines = np.concatenate([areas.outlines(each) for each in shown])
    made: pd.DataFrame = geopandas.GeoDataFrame(
        frame, geometry=np.tile(outlines, times), crs=known_crs(areas.domain.crs)
    )
    return made


def tidy(
    by: Axis,
    columns: dict[str, NDArray[np.object_]],
    counts: Float,
    variance: Float,
    sds: float,
    *,
    margins: bool = True,
    sums: tuple[Float, Float] | None = None,
) -> pd.DataFrame:
    """Counts of areas or pairs as rows of a table, kind by kind and step by step.

    Args:
        columns: what is counted, (n,) each; ``margin`` may name what a row sums already.
        counts: estimates, (kinds, steps, n).
        variance: variance of the noise in them, (n,).
        sds: half-width of an interval in standard deviations of the noise.
        margins: add the sums over kinds, over steps and over both.
        sums: sums of values and variances of their noise, likewise.
    """
    each = [(axis,) for axis, split in enumerate((by.kinds, by.steps)) if split is not None]
    margin_axes = [*each, (0, 1)] if len(each) == 2 else each
    blocks = []
    for axes in [(), *(margin_axes if margins else ())]:
        block = _labels(by, counts.shape, axes) | _added(counts, variance, axes, sds)
        if sums is not None:
            added = _added(*sums, axes, whole=False)
            block |= {name: added[column] for name, column in SUM_COLUMNS.items()}
        word = " and ".join(name for axis, name in enumerate(("kinds", "steps")) if axis in axes)
        block["margin"] = np.full(len(block["count"]), word, dtype=object)
        blocks.append(block)
    cells = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    times = len(cells["count"]) // max(len(variance), 1)
    labels = {name: np.tile(each, times) for name, each in columns.items()}
    if "margin" in labels:
        words = zip(labels.pop("margin"), cells["margin"], strict=True)
        cells["margin"] = np.array([" and ".join(filter(None, pair)) for pair in words], object)
    return pd.DataFrame(labels | cells)


def area_timeline(release: Any, steps: Steps, area: str) -> Timeline:
    """Records of one area in each step, all kinds together.

    Raises DataError: no area of that name, or several.
    """
    row = row_named(release.frame, area)
    counts = part_counts(release)[:, :, row]
    sd = np.sqrt(len(counts) * release.parts[0].nodes.variance[row])
    ends = steps.calendar.stamps(steps.edges)
    return Timeline(
        **interval(counts.sum(axis=0), np.full(counts.shape[1], sd), release.header.interval_sds),
        uniformity_sd=np.zeros(counts.shape[1]),
        nodes=np.full(counts.shape[1], len(counts)),
        start=ends[:-1],
        end=ends[1:],
    )


def area_sums(release: Any) -> SumAnswers | None:
    """Sums of values in all areas, over all kinds and steps; None without values."""
    sums = Sums.added(part.sums for part in release.parts)
    if sums is None:
        return None
    nodes = np.full(len(sums.sum), len(release.parts))
    columns = interval(sums.sum, np.sqrt(sums.variance), whole=False)
    return SumAnswers(**columns, uniformity_sd=np.zeros(len(nodes)), nodes=nodes)


def row_named(areas: Areas, name: str) -> int:
    """Row of the area of a name; of several of one name, that of the finest level.

    Raises DataError: no area of that name, or several on the finest level that has one.
    """
    rows = [row for row, each in enumerate(areas.names) if each == name]
    if not rows:
        raise DataError(f"no area {name!r}: 'dpviz query --areas' lists the names")
    finest = [row for row in rows if areas.level_of[row] == areas.level_of[rows[-1]]]
    if len(finest) > 1:
        raise DataError(f"{len(finest)} areas are called {name!r}: name another one")
    return finest[0]


def part_counts(release: Any) -> Float:
    """Counts of all nodes of a release, float64 (kinds, steps, n)."""
    shape = (release.by or Axis()).shape
    return np.array([part.nodes.count for part in release.parts]).reshape(*shape, -1)


def part_sums(release: Any) -> Float:
    """Sums of values in all nodes of a release with values, float64 (kinds, steps, n)."""
    shape = (release.by or Axis()).shape
    return np.array([part.sums.sum for part in release.parts]).reshape(*shape, -1)


def rank_limits(count: Float, half: Float) -> tuple[Int, Int]:
    """First and last rank that each area may have if all intervals hold, int64 (n,) each.

    Rank 1 has the most records. An area is surely ahead of another if its interval lies above.

    >>> rank_limits(np.array([90.0, 50.0, 48.0]), np.array([5.0, 5.0, 5.0]))
    (array([1, 2, 2]), array([1, 3, 3]))
    """
    low, high = count - half, count + half
    ahead = len(low) - np.sort(low).searchsorted(high, "right")
    return ahead + 1, len(low) - np.sort(high).searchsorted(low, "left")


def _labels(by: Axis, shape: tuple[int, ...], axes: tuple[int, ...]) -> dict[str, Column]:
    """Kind and step of each number, or of each sum over some axes: 0 for kinds, 1 for steps."""
    kinds, steps, areas = (1 if axis in axes else size for axis, size in enumerate(shape))
    columns: dict[str, Column] = {}
    if by.kinds is not None:
        names = np.array([ALL] if 0 in axes else by.kinds.names, dtype=object)
        columns["kind"] = np.repeat(names, steps * areas)
    if by.steps is not None:
        edges = [by.steps.calendar.text(edge) for edge in by.steps.edges.tolist()]
        first, last = ([edges[0]], [edges[-1]]) if 1 in axes else (edges[:-1], edges[1:])
        for name, words in (("start", first), ("end", last)):
            columns[name] = np.tile(np.repeat(np.array(words, dtype=object), areas), kinds)
    return columns


def _added(
    values: Float,
    variance: Float,
    axes: tuple[int, ...],
    sds: float = INTERVAL_SDS,
    *,
    whole: bool = True,
) -> dict[str, Column]:
    """Numbers of all kinds and steps with their intervals, or their sums over some axes."""
    added = math.prod(values.shape[axis] for axis in axes)
    sums = values.sum(axis=axes, keepdims=True) if axes else values
    sd = np.tile(np.sqrt(added * variance), math.prod(sums.shape[:-1]))
    return {**interval(sums.ravel(), sd, sds, whole=whole)}
