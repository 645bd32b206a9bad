"""The cells of a 2-D release, coloured by noisy density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pydeck
from numpy.typing import NDArray

from dpviz.domain import Domain
from dpviz.errors import DomainError
from dpviz.files.arrow import numbers, tuples
from dpviz.releases.counts import PointRelease
from dpviz.render.colors import FRAME, HATCH, every_palette
from dpviz.render.detail import NEVER, QUIET, Detail, detail
from dpviz.render.legend import Legend, Swatch, blank_words, scale_labels
from dpviz.render.marks import count_column
from dpviz.render.numbers import percent
from dpviz.render.projection import areas, beyond, home_zoom, to_degrees, world, world_boxes
from dpviz.render.scale import Scale, scale_of
from dpviz.render.scene import Bounds, Mark
from dpviz.trees.lattice import Float

ALWAYS = 255
"""The last level at which a raw leaf is drawn (all below its own), and the zoom that never ends."""

ZOOM_STEPS = 10
"""Zooms travel as whole tenths: what is equal stays equal, so the rows still tile the domain."""

ENCLOSED = 4
"""Kind of a quiet node on the map that is hatched with :func:`hatch_density`."""

UPPER = 2.12
"""Standard deviations above a count that is within its noise: what may be none is below, 98 %."""

FAINT = 0.5
"""Opacity of what is shown by the answer of a coarser cell; the map hatches it."""

HOUSE = 1e-4
"""Area in km² from which a cell has a density: a smaller one has records, and no surroundings."""

HOLE = "at most so many"


def node_bounds(release: PointRelease) -> Float:
    """West, south, east, north of every node in degrees, float64 of shape (n, 4)."""
    if release.nodes.dims != 2:
        raise ValueError(f"a release of {release.nodes.dims} dimensions has no cells on a map")
    corners = [release.domain.to_coordinates(side) for side in (release.nodes.lo, release.nodes.hi)]
    return to_degrees(np.hstack(corners), release.domain.crs)


FARTHEST = 540.0
"""Degrees from the meridian or the equator: beyond it nothing is on a map of the Earth."""


def domain_bounds(domain: Domain) -> Bounds:
    """West, south, east, north of a 2-D domain in degrees.

    Raises:
        DomainError: a side is nowhere on the Earth, or east of itself, as around a pole.
    """
    box = [*domain.lower[:2], *domain.upper[:2]]
    west, south, east, north = to_degrees([box], domain.crs)[0].tolist()
    if west >= east or south >= north or np.abs([west, south, east, north]).max() > FARTHEST:
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
"""Ends with its release: a visitor who leaves takes both along."""


def adaptive(release: PointRelease) -> Detail:
    """Adaptive detail of a release whose children tile their parents."""
    if release not in _adaptive:
        _adaptive[release] = _worked_out(release)
    return _adaptive[release]


def _worked_out(release: PointRelease) -> Detail:
    domain_bounds(release.domain)  # raises where no map shows it
    bounds = node_bounds(release)
    corners = world_boxes(bounds)
    side = (corners[:, 2:] - corners[:, :2]).min(axis=1)
    return detail(release.nodes, areas(bounds), side, correlated=release.noise is not None)


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
    scale: Scale,
    releases: Sequence[PointRelease] = (),
    *,
    title: str = "Records per km²",
) -> Legend:
    """The strip of density cells; of one release, it says how much is blank."""
    empty = bool(releases) and not any(_stands_out(each, scale) for each in releases)
    blank = blank_words(scale)
    if empty:
        blank = "Nothing stands out of the noise" + (" at this ε" if len(releases) == 1 else "")
    elif len(releases) == 1:
        blank += _blank_share(releases[0], scale)
    raw = Swatch("noise below zero (≈ empty)", HATCH, hatch=True, raw=True)
    hole = Swatch(HOLE, FRAME, hatch=True)
    holes = any(adaptive(each).enclosed.any() for each in releases)
    return Legend(
        title=title,
        colors=scale.colors(),
        palettes=every_palette(len(scale)),
        labels=scale_labels(scale),
        blank=blank,
        swatches=(hole, raw) if holes else (raw,),
        empty=empty,
    )


def _stands_out(release: PointRelease, scale: Scale) -> bool:
    """Return whether any cell reaches the lowest class of the scale at any zoom."""
    adapted = adaptive(release)
    drawn = (adapted.kind != QUIET) & (adapted.kind != NEVER)
    return bool((drawn & (adapted.total / adapted.km2 >= scale.bounds[0])).any())


def _blank_share(release: PointRelease, scale: Scale) -> str:
    adapted = adaptive(release)
    at = adapted.at(home_zoom(domain_bounds(release.domain)))
    quiet = (adapted.kind == QUIET) & ~adapted.enclosed
    blank = at & (quiet | (adapted.total / adapted.km2 < scale.bounds[0]))
    km2 = areas(node_bounds(release))
    part = adapted.total * km2 / adapted.km2
    whole = float(part[at].sum())
    if whole <= 0:
        return ""
    ground, people = float(km2[blank].sum() / km2[at].sum()), float(part[blank].sum() / whole)
    area, records = (
        percent(each, int(0.0005 <= each < 0.1)) for each in (ground, max(people, 0.0))
    )
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
    nodes, bounds = release.nodes, node_bounds(release)
    origin = world(bounds[0].reshape(2, 2)).mean(axis=0)
    offsets = world_boxes(bounds) - np.tile(origin, 2)
    scale = scale or density_scale(release)
    adapted, noise_sd = adaptive(release), np.sqrt(nodes.variance)
    table = pa.table(
        {
            "bounds": tuples(offsets.astype(np.float32)),
            "count": count_column(nodes.count, noise_sd),
            "noise_sd": numbers(noise_sd.astype(np.float32)),
            "km2": numbers(areas(bounds).astype(np.float32)),
            "first": numbers(nodes.level.astype(np.uint8)),
            "last": numbers(np.where(nodes.leaf, ALWAYS, nodes.level).astype(np.uint8)),
            **detail_columns(release, adapted),
        }
    )
    palettes, raw = every_palette(len(scale)), not tiles(release)
    layer = cell_layer(id, origin.tolist(), scale.bounds, palettes, raw=raw)
    bind = {f"get{name.title().replace('_', '')}": name for name in table.column_names}
    return Mark(layer=layer, table=table, bind=bind, title=title, levels=int(nodes.level.max()))


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
        "since": tenths(adapted.since),
        "until": tenths(adapted.until),
        "group": numbers(np.where(enclosed, parent, adapted.group).astype(np.int32)),
        "group_sd": numbers(np.sqrt(adapted.variance).astype(np.float32)),
        "inside": numbers(_leaves_inside(release).astype(np.int32)),
    }


def hatch_density(release: PointRelease, km2: Float, least: float) -> Float:
    """Densities that enclosed nodes are hatched with, (n,): the map works out the same.

    That of the parent, but no more than may be in the node; and ``least``, the lowest class, if the
    parent reaches that.
    """
    nodes = release.nodes
    most = np.maximum(nodes.count + UPPER * np.sqrt(nodes.variance), 0.0) / km2
    parent = (nodes.count / km2)[nodes.parent]
    return np.where(parent < least, 0.0, np.maximum(np.minimum(most, parent), least))


def tenths(zoom: Float) -> pa.Array:
    """Zooms as the map reads them; infinite ones never end, or never begin."""
    return numbers(np.clip(np.round(zoom * ZOOM_STEPS), 0, ALWAYS).astype(np.uint8))


def _leaves_inside(release: PointRelease) -> NDArray[np.int64]:
    """Leaves below each node; 1 for a leaf."""
    nodes = release.nodes
    inside = nodes.leaf.astype(np.int64)
    for level in reversed(nodes.levels[1:]):
        np.add.at(inside, nodes.parent[level], inside[level])
    return inside
