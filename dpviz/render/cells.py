"""The cells of a 2-D release, coloured by noisy density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pydeck

from dpviz.domain import Domain
from dpviz.errors import DomainError
from dpviz.files.arrow import number_array, numbers, tuples
from dpviz.releases.counts import PointRelease
from dpviz.render.colors import FRAME, HATCH, every_palette
from dpviz.render.detail import NEVER, QUIET, Detail, detail
from dpviz.render.legend import Legend, Swatch, blank_words, scale_labels, surface_of
from dpviz.render.marks import count_column
from dpviz.render.numbers import percent
from dpviz.render.projection import areas, beyond, home_zoom, to_degrees, world, world_boxes
from dpviz.render.scale import Scale, scale_of
from dpviz.render.scene import Bounds, Mark
from dpviz.trees.consistency import sum_up
from dpviz.trees.lattice import Float, Int

ALWAYS = 255
"""As the last level of a raw leaf: drawn at every deeper one; as a zoom: a range without end."""

ZOOM_STEPS = 10
"""Zooms are sent as whole tenths, so that equal ones stay equal and rows still tile the domain."""

ENCLOSED = 4
"""Kind of a quiet node on the map that is hatched with :func:`hatch_density`."""

UPPER_SDS = 2.12
"""Standard deviations above a count within its noise: the true count is lower with 98 %."""

FAINT = 0.5
"""Opacity of cells that show the answer of a coarser cell; the map hatches them."""

MIN_DENSITY_KM2 = 1e-4
"""Smallest area in km² of a cell with a density: for a smaller one only its records are shown."""

HOLE = "at most this many"


def node_bounds(release: PointRelease) -> Float:
    """West, south, east, north of every node in degrees, float64 of shape (n, 4)."""
    corners = [release.domain.to_coordinates(side) for side in (release.nodes.lo, release.nodes.hi)]
    return to_degrees(np.hstack(corners), release.domain.crs)


MAX_DEGREES = 540.0
"""Largest longitude or latitude in degrees that a map of the Earth can show."""


def domain_bounds(domain: Domain) -> Bounds:
    """West, south, east, north of a 2-D domain in degrees.

    Raises DomainError: a side is nowhere on the Earth, or east of itself, as around a pole.
    """
    box = [*domain.lower[:2], *domain.upper[:2]]
    west, south, east, north = to_degrees([box], domain.crs)[0].tolist()
    if west >= east or south >= north or np.abs([west, south, east, north]).max() > MAX_DEGREES:
        raise DomainError(
            f"this area cannot be drawn with north up in {domain.crs}: choose another area "
            "or another CRS"
        )
    return west, south, east, north


def on_map(rect: Bounds, domain: Domain) -> Bounds:
    """A rectangle in degrees where the map of a domain shows it, which may go on beyond 180°."""
    over = domain_bounds(domain)[2] > 180
    west, east = beyond(np.array([rect[0], rect[2]]), over).tolist()
    return west, rect[1], east, rect[3]


_adaptive: WeakKeyDictionary[PointRelease, Detail] = WeakKeyDictionary()
"""Adaptive detail of releases, freed with them, for instance when a visitor leaves."""

_tables: WeakKeyDictionary[PointRelease, tuple[pa.Table, list[float]]] = WeakKeyDictionary()
"""Tables of the cells that maps draw, and their origins."""


def adaptive(release: PointRelease) -> Detail:
    """Adaptive detail of a release whose children tile their parents."""
    if release not in _adaptive:
        _adaptive[release] = _compute_detail(release)
    return _adaptive[release]


def _compute_detail(release: PointRelease) -> Detail:
    def measure(rows: Int) -> tuple[Float, Float]:
        km2, offsets, _ = map_corners(
            release.domain, release.nodes.lo[rows], release.nodes.hi[rows]
        )
        return km2, (offsets[:, 2:] - offsets[:, :2]).min(axis=1)

    return detail(release.nodes, measure, correlated=release.noise is not None)


def map_corners(domain: Domain, lo: Int, hi: Int) -> tuple[Float, Float, list[float]]:
    """Surfaces (km²) of lattice boxes, and their corners as offsets from an origin of the map."""
    if lo.shape[1] != 2:
        raise ValueError(f"a release of {lo.shape[1]} dimensions has no cells on a map")
    corners = [domain.to_coordinates(side) for side in (lo, hi)]
    # The first box decides on which side of 180° the others lie.
    whole = [[*domain.lower[:2], *domain.upper[:2]]]
    degrees = to_degrees(np.vstack([whole, np.hstack(corners)]), domain.crs)[1:]
    origin = world(np.reshape(domain_bounds(domain), (2, 2))).mean(axis=0)
    offsets = world_boxes(degrees) - np.tile(origin, 2)
    return areas(degrees), offsets, origin.tolist()


def tiles(release: PointRelease) -> bool:
    """Return whether the leaves tile the domain; overlapping boxes are drawn raw only."""
    nodes = release.nodes
    return int(nodes.volume[nodes.leaf].sum()) == int(nodes.volume[nodes.levels[0]].sum())


def density_scale(*releases: PointRelease) -> Scale:
    """The classes of densities, per km², that several releases share: from what is drawn of them
    where the whole domain is in sight.
    """
    density, weight = [], []
    for release in releases:
        adapted = adaptive(release)
        drawn = adapted.at(home_zoom(domain_bounds(release.domain))) & (adapted.kind != QUIET)
        density.append(adapted.total[drawn] / adapted.km2[drawn])
        mean_km2 = adapted.km2[drawn] / adapted.cells[drawn]
        weight.append(density[-1] * mean_km2)
    return scale_of(np.concatenate(density), np.concatenate(weight))


def density_legend(
    scale: Scale, releases: Sequence[PointRelease] = (), *, noun: str = ""
) -> Legend:
    """The strip of density cells: names their kind; of one release, says how much is blank."""
    empty = bool(releases) and not any(_stands_out(each, scale) for each in releases)
    blank = blank_words(scale)
    if empty:
        blank = "Nothing stands out from the noise" + (" at this ε" if len(releases) == 1 else "")
    elif len(releases) == 1:
        blank += _blank_share(releases[0], scale)
    raw = Swatch("noise below zero (≈ empty); pale: within the noise", HATCH, hatch=True, raw=True)
    hole = Swatch(HOLE, FRAME, hatch=True)
    surface = surface_of(scale)
    kinds = {each.header.extra.get("kind") for each in releases}
    of = f" of {kinds.pop()}" if len(kinds) == 1 and None not in kinds else ""
    holes = any(adaptive(each).enclosed.any() for each in releases)
    return Legend(
        title=f"Records{of} per {surface}",
        colors=scale.colors(),
        palettes=every_palette(len(scale)),
        labels=scale_labels(scale, surface.km2),
        surface=surface,
        blank=blank,
        swatches=(hole, raw) if holes else (raw,),
        empty=empty,
    ).counting(noun or (releases[0].records if releases else ""))


def _stands_out(release: PointRelease, scale: Scale) -> bool:
    """Return whether any cell reaches the lowest class of the scale at any zoom."""
    adapted = adaptive(release)
    drawn = (adapted.kind != QUIET) & (adapted.kind != NEVER)
    return bool((adapted.total[drawn] / adapted.km2[drawn] >= scale.bounds[0]).any())


def _blank_share(release: PointRelease, scale: Scale) -> str:
    adapted = adaptive(release)
    at = np.flatnonzero(adapted.at(home_zoom(domain_bounds(release.domain))))
    density = adapted.total[at] / adapted.km2[at]
    quiet = (adapted.kind[at] == QUIET) & ~adapted.enclosed[at]
    blank = quiet | (density < scale.bounds[0])
    km2, _, _ = map_corners(release.domain, release.nodes.lo[at], release.nodes.hi[at])
    part = density * km2
    whole = float(part.sum())
    if whole <= 0:
        return ""
    ground, people = float(km2[blank].sum() / km2.sum()), float(part[blank].sum() / whole)
    area, records = (percent(each, int(0 < each < 0.1)) for each in (ground, max(people, 0.0)))
    return f" ({area} of the area, {records} of the records)"


def cells(
    release: PointRelease,
    *,
    scale: Scale | None = None,
    id: str = "cells",  # noqa: A002
    title: str = "",
) -> Mark:
    """All nodes of a release as one mark: adaptive detail, and raw cells for the map's switch.

    Args:
        release: 2-D.
        scale: classes of the density; None: :func:`density_scale` of this release.
        id: the mark's id.
        title: first line of the tooltip.
    """
    scale = scale or density_scale(release)
    overlapping = not tiles(release)
    kind = adaptive(release).kind
    rows = np.arange(len(kind)) if overlapping else np.flatnonzero(kind != NEVER)
    if release not in _tables:  # of several maps side by side, most stay the same
        _tables[release] = _cell_table(release, rows)
    table, origin = _tables[release]
    layer = cell_layer(id, origin, scale.bounds, every_palette(len(scale)), raw=overlapping)
    return Mark(
        layer=layer,
        table=table,
        bind={f"get{name.title().replace('_', '')}": name for name in table.column_names},
        title=title,
        levels=int(release.nodes.level.max()),
        raw_table=None if overlapping else lambda: _cell_table(release, np.arange(len(kind)))[0],
    )


def _cell_table(release: PointRelease, rows: Int) -> tuple[pa.Table, list[float]]:
    """Rows of a release's nodes as the map reads them, and the origin of their bounds.

    Among the rows is every one that is the first of an area, or around an enclosed one.
    """
    nodes = release.nodes
    km2, offsets, origin = map_corners(release.domain, nodes.lo[rows], nodes.hi[rows])
    noise_sd, level = np.sqrt(nodes.variance[rows]), nodes.level[rows]
    columns = detail_columns(release, adaptive(release))
    group = np.searchsorted(rows, number_array(columns["group"])[rows]).astype(np.int32)
    columns = {name: column.take(pa.array(rows)) for name, column in columns.items()}
    table = {
        "bounds": tuples(offsets.astype(np.float32)),
        "count": count_column(nodes.count[rows], noise_sd),
        "noise_sd": numbers(noise_sd.astype(np.float32)),
        "km2": numbers(km2.astype(np.float32)),
        "first": numbers(level.astype(np.uint8)),
        "last": numbers(np.where(nodes.leaf[rows], ALWAYS, level).astype(np.uint8)),
        **columns,
        "group": numbers(group),
    }
    return pa.table(table), origin


def cell_layer(
    id: str,  # noqa: A002
    origin: Sequence[float],
    bounds: Sequence[float],
    palettes: Any,
    **properties: Any,
) -> pydeck.Layer:
    """Cells with values in classes, which have colours in every palette."""
    return pydeck.Layer(
        "CellLayer",
        None,
        id=id,
        origin=origin,
        bounds=list(bounds),
        palettes=palettes,
        palette=pydeck.types.String("tide"),
        pickable=True,
        **{"raw": False, **properties},
    )


def detail_columns(release: PointRelease, adapted: Detail) -> dict[str, pa.Array]:
    """Adaptive detail as the map reads it: zooms in tenths, areas by their first node.

    An enclosed node is of a kind of its own, and names its parent in place of an area.
    """
    enclosed, parent = adapted.enclosed, release.nodes.parent
    return {
        "kind": numbers(np.where(enclosed, np.uint8(ENCLOSED), adapted.kind)),
        "since": zoom_tenths(adapted.since),
        "until": zoom_tenths(adapted.until),
        "group": numbers(np.where(enclosed, parent, adapted.group).astype(np.int32)),
        "group_sd": numbers(np.sqrt(adapted.variance).astype(np.float32)),
        "inside": numbers(sum_up(parent, release.nodes.leaf).astype(np.int32)),
    }


def hatch_density(release: PointRelease, rows: Int, least: float) -> Float:
    """Densities that enclosed nodes are hatched with, (rows,): the map works out the same.

    That of the parent, but no more than may be in the node; and ``least``, the lowest class, if the
    parent reaches that.
    """
    nodes = release.nodes
    most = np.maximum(nodes.count + UPPER_SDS * np.sqrt(nodes.variance), 0.0)[rows]
    around = nodes.parent[rows]
    km2, wider = (
        map_corners(release.domain, nodes.lo[at], nodes.hi[at])[0] for at in (rows, around)
    )
    parent = nodes.count[around] / wider
    return np.where(parent < least, 0.0, np.maximum(np.minimum(most / km2, parent), least))


def zoom_tenths(zoom: Float) -> pa.Array:
    """Zooms as the map reads them; infinite ones never end, or never begin."""
    return numbers(np.clip(np.round(zoom * ZOOM_STEPS), 0, ALWAYS).astype(np.uint8))
