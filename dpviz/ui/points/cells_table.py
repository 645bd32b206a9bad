"""The map of points as a table, for those who cannot see it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import PointRelease
from dpviz.render.cells import HOUSE, node_bounds
from dpviz.render.projection import areas
from dpviz.trees.lattice import Float
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.downloads import ROWS, counts_as_shown
from dpviz.ui.shared.memory import remembered
from dpviz.ui.shared.panels import rows_in_words, sortable
from dpviz.ui.shared.text import on_screen


def table_of_cells(release: PointRelease) -> None:
    """Table of the map's densest cells, for visitors who cannot see the map.

    Sorted by the lower ends of intervals: in the smallest cells a noisy 1 ± 6 is millions per km².

    Args:
        release: on the map; for an animation, of the whole period.
    """
    columns, cells = remembered("table", release, lambda: _columns(release))
    looks = sortable(*columns) | sortable(*SIDES, form="%.5f")
    st.dataframe(pa.table(columns), hide_index=True, column_config=looks)
    shown = len(columns["per km²"])
    st.caption(rows_in_words(shown, cells, "cells", "most clearly dense"))


def _columns(release: PointRelease) -> tuple[dict[str, Float], int]:
    """Columns of the densest cells, and how many cells there are."""
    leaves = np.flatnonzero(release.nodes.leaf)
    least = release.nodes.count - INTERVAL_SDS * np.sqrt(release.nodes.variance)
    bounds = node_bounds(release)
    km2 = areas(bounds)
    least /= np.maximum(km2, HOUSE)
    chosen = leaves[np.argsort(-least[leaves], kind="stable")][:ROWS]
    half = INTERVAL_SDS * np.sqrt(release.nodes.variance[chosen])
    shown = counts_as_shown(release.nodes.count[chosen], half)
    columns = {side: bounds[chosen, at] for at, side in enumerate(SIDES)} | shown
    densities = shown["noisy count"] / km2[chosen], half / km2[chosen]
    columns["per km²"] = np.array(list(map(on_screen, *densities)))
    columns["per km²"][km2[chosen] < HOUSE] = np.nan
    return columns, len(leaves)
