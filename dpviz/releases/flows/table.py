"""A release of flows as a tidy table: one row per pair, and sums per area."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.domain.crs import known_crs
from dpviz.errors import DataError
from dpviz.lazy import geopandas, pd, shapely
from dpviz.releases.areas.table import ALL, part_counts, tidy
from dpviz.releases.axis import Axis
from dpviz.releases.flows.frame import Flows
from dpviz.trees.decomposition import Decomposition
from dpviz.trees.lattice import Float, Int, positions_within
from dpviz.trees.wholes import whole_numbers

MARGINS = ("destinations", "origins")
"""What the rows of an origin sum, and those of a destination."""


def flow_table(
    release: Any, level: str | None = None, *, shapes: bool = False, margins: bool = True
) -> pd.DataFrame:
    """One row per pair, kind and step of a release of flows, with 95 % intervals for the noise.

    Columns: level, origin, destination; kind; start and end of the step; count, noise_sd, low,
    high, margin, whole. A margin names what a row sums: ``destinations`` in the row of an origin,
    ``origins`` in that of a destination, ``origins and destinations`` in the total, and so on with
    ``kinds`` and ``steps``. The column ``whole`` holds whole numbers from 0 that add up: from the
    parts of a pair to the pair, and from measured pairs to origins and destinations. They are
    nearer to the truth than ``count``, but biased towards 0; the interval is not for them.

    Args:
        level: name of a level of pairs; None for the finest pairs that were measured, "all" for all
            pairs. A pair whose parts were not measured stands on its own level.
        shapes: return a GeoDataFrame with a line from the origin to the destination of each pair.
        margins: add the rows of sums.
    """
    flows, nodes, by = release.frame, release.parts[0].nodes, release.by or Axis()
    if level not in (None, ALL, *flows.levels):
        raise DataError(f"no level {level!r}: choose one of {', '.join(flows.levels)}")
    of_level = dict(zip(flows.levels, nodes.levels, strict=False))
    rows = np.flatnonzero(nodes.leaf)
    if level is not None:
        part = slice(0, len(nodes)) if level == ALL else of_level.get(level, slice(0, 0))
        rows = np.arange(len(nodes))[part]
    ends = [each[rows] for each in flows.ends(nodes)]
    counts = part_counts(release)
    whole = _whole(nodes, counts)
    blocks = [
        (
            np.array(flows.levels, dtype=object)[nodes.level[rows]],
            *(_names(areas)[each] for areas, each in zip(_areas(flows), ends, strict=True)),
            np.full(len(rows), "", dtype=object),
            counts[..., rows],
            whole[..., rows],
            nodes.variance[rows],
        )
    ]
    if margins:
        depths = [flows.levels.index(level)] if level in flows.levels else [len(flows.levels) - 1]
        depths = [*range(len(flows.levels))] if level == ALL else depths
        blocks += [_sums(flows, nodes, counts, whole, at, end) for end in (0, 1) for at in depths]
        roots, word = nodes.levels[0], np.full(1, ALL, dtype=object)
        blocks.append(
            (
                np.array([flows.levels[0]], dtype=object),
                *(word, word, np.array([" and ".join(MARGINS[::-1])], dtype=object)),
                *(each[..., roots].sum(axis=-1, keepdims=True) for each in (counts, whole)),
                nodes.variance[roots].sum(keepdims=True),
            )
        )
    names, *columns = (np.concatenate(each, axis=-1) for each in zip(*blocks, strict=True))
    origin, destination, margin, count, rounded, variance = columns
    labels = {"level": names, "origin": origin, "destination": destination, "margin": margin}
    sds = release.header.interval_sds
    frame = tidy(by, labels, count, variance, sds, margins=margins)
    wholes = tidy(by, labels, rounded, variance, sds, margins=margins)
    frame["whole"] = wholes["count"].astype("int64")
    if not shapes:
        return frame
    at = [_middles(areas)[each] for areas, each in zip(_areas(flows), ends, strict=True)]
    lines = shapely.linestrings(np.stack(at, axis=1))
    frame = frame[frame["origin"].ne(ALL) & frame["destination"].ne(ALL)]
    repeated = np.tile(lines, len(frame) // max(len(lines), 1))
    with_lines: pd.DataFrame = geopandas.GeoDataFrame(
        frame, geometry=repeated, crs=known_crs(flows.domain.crs)
    )
    return with_lines


def sums_along(flows: Flows, nodes: Decomposition, level: int, end: int) -> tuple[Int, Int, Float]:
    """Nodes that add up to the counts of the areas of one end (0: origins).

    A pair whose parts were not measured is shared out evenly among its areas. Returns row of the
    node, number of the area on its level, and share of the node, (k,) each.
    """
    areas, depth = _areas(flows)[end], flows.depths[level][end]
    rows = np.flatnonzero((nodes.level == level) | (nodes.leaf & (nodes.level < level)))
    low, high = nodes.lo[rows, end], nodes.hi[rows, end]
    owner = areas.ancestors(depth) - areas.slices[depth].start
    size = owner[high - 1] - owner[low] + 1
    area = np.repeat(owner[low], size) + positions_within(size)
    return np.repeat(rows, size), area, np.bincount(owner)[area] / np.repeat(high - low, size)


def _sums(
    flows: Flows, nodes: Decomposition, counts: Float, whole: Float, level: int, end: int
) -> tuple[Any, ...]:
    """The rows of sums of the areas of one end on a level."""
    areas = _areas(flows)[end]
    part = areas.slices[flows.depths[level][end]]
    node, area, share = sums_along(flows, nodes, level, end)
    size = part.stop - part.start

    def added(values: Float, weight: Float) -> Float:
        each = values.reshape(-1, values.shape[-1])
        sums = [np.bincount(area, row[node] * weight, minlength=size) for row in each]
        return np.reshape(sums, (*values.shape[:-1], size))

    names = [np.full(size, ALL, dtype=object), np.full(size, ALL, dtype=object)]
    names[end] = _names(areas)[part]
    return (
        np.full(size, flows.levels[level], dtype=object),
        *names,
        np.full(size, MARGINS[end], dtype=object),
        added(counts, share),
        added(whole, 1.0 * (nodes.level[node] == level)),
        added(nodes.variance, share**2),
    )


def _whole(nodes: Decomposition, counts: Float) -> Float:
    """Whole numbers of all parts, in the shape of their counts."""
    parent = nodes.parent.astype(np.int64)
    each = [whole_numbers(parent, row) for row in counts.reshape(-1, len(nodes))]
    return np.reshape(each, counts.shape)


def _areas(flows: Flows) -> tuple[Any, Any]:
    return flows.origins, flows.destinations


def _names(areas: Any) -> Any:
    return np.array([*areas.names, ""], dtype=object)[:-1]


def _middles(areas: Any) -> Float:
    """A point inside each area, (n, 2)."""
    outlines = np.concatenate([areas.outlines(level) for level in areas.levels])
    return np.asarray(shapely.get_coordinates(shapely.point_on_surface(outlines)))
