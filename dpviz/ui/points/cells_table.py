"""The map of points as tables, for those who cannot see it: named places, then cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from dpviz.lazy import pa, pd
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import PointRelease
from dpviz.render.cells import MIN_DENSITY_KM2, density_scale, node_bounds
from dpviz.render.legend import surface_of
from dpviz.render.nearby import place_rows
from dpviz.render.projection import areas
from dpviz.trees.lattice import Float
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.downloads import MAX_ROWS, count_columns
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import rows_in_words, sortable
from dpviz.ui.shared.text import on_screen, plain


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
        table_of_places(places)
        st.markdown("**Cells**")
    looks = sortable(*columns) | sortable(*SIDES, form="%.5f")
    st.dataframe(pa.table(columns), hide_index=True, column_config=looks)
    shown = len(columns["noisy count"])
    st.caption(rows_in_words(shown, cells, "cells", "most clearly dense"))


def table_of_places(rows: Sequence[Mapping[str, str]]) -> None:
    """Show counts around named places, in words."""
    named = [{**row, "place": plain(row["place"])} for row in rows]
    st.table(pd.DataFrame(named).set_index("place"), border="horizontal")
    st.caption(
        "Records in a square around the middle of each place; squares do not overlap. ± is for "
        "95 %: the noise, and the uncertainty where the square cuts cells, together."
    )


def _columns(release: PointRelease) -> tuple[dict[str, Float], int]:
    """Columns of the densest cells, and how many cells there are."""
    leaves = np.flatnonzero(release.nodes.leaf)
    least = release.nodes.count - INTERVAL_SDS * np.sqrt(release.nodes.variance)
    bounds = node_bounds(release)
    km2 = areas(bounds)
    least /= np.maximum(km2, MIN_DENSITY_KM2)
    chosen = leaves[np.argsort(-least[leaves], kind="stable")][:MAX_ROWS]
    half = INTERVAL_SDS * np.sqrt(release.nodes.variance[chosen])
    shown = count_columns(release.nodes.count[chosen], half)
    columns = {side: bounds[chosen, at] for at, side in enumerate(SIDES)} | shown
    surface = surface_of(density_scale(release))
    densities = (each * surface.km2 / km2[chosen] for each in (shown["noisy count"], half))
    density = np.array(list(map(on_screen, *densities)))
    density[km2[chosen] < MIN_DENSITY_KM2] = np.nan
    columns[f"per {surface}"] = density
    return columns, len(leaves)
