"""The cells of a 2-D release, coloured by noisy density."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pydeck
from numpy.typing import NDArray

from dpviz.render.arrow import numbers, tuples
from dpviz.render.colors import PALETTES
from dpviz.render.projection import areas, to_degrees, world
from dpviz.render.scene import Bounds, Mark, Row, Side

if TYPE_CHECKING:
    from dpviz.domain import Domain
    from dpviz.releases.points.release import PointRelease

ALWAYS = 255
"""The last level at which a leaf is drawn: all below its own."""

Float = NDArray[np.float64]


def node_bounds(release: PointRelease) -> Float:
    """West, south, east, north of every node in degrees, float64 of shape (n, 4)."""
    if release.nodes.dims != 2:
        raise ValueError(f"a release of {release.nodes.dims} dimensions has no cells on a map")
    corners = [release.domain.to_coordinates(side) for side in (release.nodes.lo, release.nodes.hi)]
    return to_degrees(np.hstack(corners), release.domain.crs)


def domain_bounds(domain: Domain) -> Bounds:
    """West, south, east, north of a 2-D domain in degrees."""
    box = [*domain.lower[:2], *domain.upper[:2]]
    west, south, east, north = to_degrees([box], domain.crs)[0].tolist()
    return west, south, east, north


def densities(release: PointRelease) -> Float:
    """Estimated records per km² of every node, negative where the noise made it so."""
    return np.asarray(release.nodes.count / areas(node_bounds(release)))


def scale_ends(*releases: PointRelease) -> tuple[float, float]:
    """Ends of the log colour scale, per km², from releases only.

    They span the middle of the leaves that stand out of their noise, each leaf weighing as much as
    its count: the ramp is spent where the people are.
    """
    density, weight = [], []
    for release in releases:
        leaf = np.asarray(release.nodes.leaf)
        count = release.nodes.count[leaf]
        clear = count > np.maximum(2 * np.sqrt(release.nodes.variance[leaf]), 0)
        density.append(densities(release)[leaf][clear])
        weight.append(count[clear])
    values, weights = np.concatenate(density), np.concatenate(weight)
    if not len(values):
        return 1.0, 1000.0
    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    low, high = (float(values[order][np.argmax(share >= part)]) for part in (0.02, 0.97))
    return (low, high) if high > 1.5 * low else (low / 3, low * 3)


def cells(
    release: PointRelease,
    *,
    ends: tuple[float, float] | None = None,
    id: str = "cells",  # noqa: A002
    side: Side | None = None,
    palette: str = "viridis",
    title: str = "",
) -> Mark:
    """Every node of a release as one mark; the map's depth control picks the level that is shown.

    Args:
        release: 2-D.
        ends: of the log colour scale, per km²; None: :func:`scale_ends` of this release.
        id: the mark's id.
        side: the side of a comparison.
        palette: a name in :data:`~dpviz.render.colors.PALETTES`.
        title: first line of the tooltip.
    """
    nodes, bounds = release.nodes, node_bounds(release)
    origin = world([bounds[0, :2], bounds[0, 2:]]).mean(axis=0)
    offsets = np.hstack([world(bounds[:, :2]) - origin, world(bounds[:, 2:]) - origin])
    area = areas(bounds)
    table = pa.table(
        {
            "bounds": tuples(offsets.astype(np.float32)),
            "density": numbers((nodes.count / area).astype(np.float32)),
            "count": numbers(nodes.count.astype(np.float32)),
            "noise_sd": numbers(np.sqrt(nodes.variance).astype(np.float32)),
            "area": numbers(area.astype(np.float32)),
            "first": numbers(nodes.level.astype(np.uint8)),
            "last": numbers(np.where(nodes.leaf, ALWAYS, nodes.level).astype(np.uint8)),
        }
    )
    layer = pydeck.Layer(
        "CellLayer",
        None,
        id=id,
        origin=origin.tolist(),
        domain=list(ends or scale_ends(release)),
        log_scale=True,
        stops=[list(stop) for stop in PALETTES[palette]],
        pickable=True,
        **({"side": pydeck.types.String(side)} if side else {}),
    )
    return Mark(
        layer=layer,
        table=table,
        bind={
            "getBounds": "bounds",
            "getDensity": "density",
            "getCount": "count",
            "getNoise": "noise_sd",
            "getFirst": "first",
            "getLast": "last",
        },
        title=title,
        rows=(
            Row("Noisy count", "count", noise_sd="noise_sd"),
            Row("Density", "density", "per km²"),
            Row("Area", "area", "km²"),
            Row("Level", "first"),
        ),
        levels=int(nodes.level.max()),
    )
