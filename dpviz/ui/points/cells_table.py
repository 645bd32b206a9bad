"""The map of points as tables, for those who cannot see it: named places, then cells."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.datasets.basemap import DEGREE, towns
from dpviz.datasets.geography import TOWNS, to_lonlat
from dpviz.lazy import pa, pd
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import PointRelease
from dpviz.render import short, with_noise
from dpviz.render.basemap import is_city
from dpviz.render.cells import LEAST_DENSITY_KM2, domain_bounds, node_bounds
from dpviz.render.projection import areas, from_degrees
from dpviz.render.scene import Bounds
from dpviz.trees.lattice import Float
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.downloads import ROWS, count_columns
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import rows_in_words, sortable
from dpviz.ui.shared.text import on_screen, plain

MOST_PLACES = 20
"""Most named places of one table."""
NEAREST = 0.02
"""Least distance between two of them, as a share of the area's shorter side."""
WIDEST = 20.0
"""Longest side of the square around a place, in kilometres."""


def tables_of_map(release: PointRelease) -> None:
    """Show the densest named places, and the densest cells, of the release on the map.

    Cells are sorted by the lower ends of their intervals: in the smallest ones a noisy 1 ± 6 is
    millions per km².

    Args:
        release: on the map; for an animation, of the whole period.
    """
    places, columns, cells = cached(
        "table", release, lambda: (place_rows(release), *_columns(release))
    )
    if places:
        st.markdown("**Named places**, densest first")
        st.table(pd.DataFrame(places).set_index("place"), border="horizontal")
        st.caption(
            "Records in a square around the middle of each place; squares do not overlap. ± is the "
            "larger of two errors: noise (95 %), and the uncertainty where the square cuts cells."
        )
        st.markdown("**Cells**")
    looks = sortable(*columns) | sortable(*SIDES, form="%.5f")
    st.dataframe(pa.table(columns), hide_index=True, column_config=looks)
    shown = len(columns["per km²"])
    st.caption(rows_in_words(shown, cells, "cells", "most clearly dense"))


def place_rows(release: PointRelease) -> list[dict[str, str]]:
    """Noisy counts in squares around the named places of a map, densest first."""
    crs = release.domain.crs
    rows: list[tuple[float, dict[str, str]]] = []
    for name, side, box in place_squares(domain_bounds(release.domain)):
        answer = release.count(from_degrees(box, crs))
        count, error = float(answer.count[0]), float(answer.larger_error[0])
        row = {
            "place": plain(name),
            "noisy count": with_noise(count, error),
            "per km²": with_noise(count / side**2, error / side**2),
            "square": f"{short(side)} × {short(side)} km",
        }
        rows.append((count / side**2, row))
    return [row for _, row in sorted(rows, key=lambda each: -each[0])]


def place_squares(bounds: Bounds) -> list[tuple[str, float, Bounds]]:
    """Names of the largest places in an area, with sides in km and boxes of disjoint squares.

    The squares depend on the public area alone. Each reaches halfway to the nearest other place.
    """
    west, south, east, north = bounds
    if is_city(bounds):
        order = sorted(TOWNS, key=lambda town: -town.share)
        middles = to_lonlat(np.array([[town.x, town.y] for town in order]))
        named = [(town.name, *at) for town, at in zip(order, middles.tolist(), strict=True)]
    else:
        named = [(town.name, town.lon, town.lat) for town in towns(bounds, np.inf)]
    across = np.cos(np.radians((south + north) / 2))
    scale = DEGREE * np.array([across, 1.0])
    shorter = float((np.array([east - west, north - south]) * scale).min())
    names: list[str] = []
    middle = np.empty((0, 2))
    for name, *at in named:
        away = np.abs((middle - at) * scale).max(axis=1)
        if len(names) < MOST_PLACES and (away >= NEAREST * shorter).all():
            names.append(name)
            middle = np.vstack([middle, at])
    away = np.abs((middle[:, None] - middle) * scale).max(axis=2)
    np.fill_diagonal(away, np.inf)
    sides = np.minimum(away.min(axis=1, initial=np.inf), min(WIDEST, shorter / 4))
    half = sides[:, None] / 2 / scale
    boxes = np.hstack([middle - half, middle + half]).tolist()
    return [
        (name, side, (low, bottom, high, top))
        for name, side, (low, bottom, high, top) in zip(names, sides.tolist(), boxes, strict=True)
    ]


def _columns(release: PointRelease) -> tuple[dict[str, Float], int]:
    """Columns of the densest cells, and how many cells there are."""
    leaves = np.flatnonzero(release.nodes.leaf)
    least = release.nodes.count - INTERVAL_SDS * np.sqrt(release.nodes.variance)
    bounds = node_bounds(release)
    km2 = areas(bounds)
    least /= np.maximum(km2, LEAST_DENSITY_KM2)
    chosen = leaves[np.argsort(-least[leaves], kind="stable")][:ROWS]
    half = INTERVAL_SDS * np.sqrt(release.nodes.variance[chosen])
    shown = count_columns(release.nodes.count[chosen], half)
    columns = {side: bounds[chosen, at] for at, side in enumerate(SIDES)} | shown
    densities = shown["noisy count"] / km2[chosen], half / km2[chosen]
    columns["per km²"] = np.array(list(map(on_screen, *densities)))
    columns["per km²"][km2[chosen] < LEAST_DENSITY_KM2] = np.nan
    return columns, len(leaves)
