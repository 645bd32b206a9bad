"""What a visitor takes home of a release: files for other programs, and the map as a table."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import PointRelease, is_points
from dpviz.releases.export import export
from dpviz.releases.release import Release
from dpviz.releases.store import save
from dpviz.render.cells import node_bounds
from dpviz.render.projection import areas
from dpviz.trees.lattice import Float
from dpviz.ui.points.answers import half_on_screen, on_screen
from dpviz.ui.points.area_form import SIDES
from dpviz.ui.shared.code import code_panel
from dpviz.ui.shared.panels import file_button, file_bytes, rows_in_words, sortable
from dpviz.ui.shared.prices import budget_breakdown

FORMATS = {"GeoParquet": "parquet", "GeoJSON": "geojson", "GeoPackage": "gpkg", "CSV": "csv"}
WITHOUT_SHAPES = {"Parquet": "parquet", "CSV": "csv"}
"""Of a release whose cells are no rectangles on a map, such as one of trips."""
ROWS = 500
"""Rows of the table that stands for the map."""


def release_details(prefix: str, release: Release) -> None:
    """Folded away below a map of points or areas: what it cost, how it was made, its files."""
    with st.expander("How the budget was spent", icon=":material/payments:"):
        budget_breakdown(release.header)
    code_panel(prefix, release)
    with st.expander("Download this release", icon=":material/download:"):
        download_buttons(prefix, release)


def download_buttons(prefix: str, release: Release) -> None:
    """The files of a release of points or areas, and what is in them."""
    areas = release.kind == "areas"
    formats = file_buttons(prefix, release, "areas" if areas else "release")
    first, *others = formats
    every, finest = (
        ("every level", "finest areas") if areas else ("cells of all sizes", "smallest cells")
    )
    st.caption(
        f"The release with its header, never the records. {first} holds {every} and reopens in "
        f"dpviz; {'the others hold' if others[1:] else f'{others[0]} holds'} the {finest}."
        + (" `dpviz export … --join` adds the counts to a file of yours." if areas else "")
    )


def file_buttons(prefix: str, release: Release, stem: str) -> list[str]:
    """One button a format; a file is made when its button is pressed. The formats by name.

    Args:
        prefix: of the buttons' keys.
        release: of any kind.
        stem: of the files' names.
    """
    shapes = not is_points(release) or release.domain.place.dims == 2
    formats = FORMATS if shapes else WITHOUT_SHAPES
    with st.container(horizontal=True, gap="small"):  # wraps where it is narrow
        for label, ending in formats.items():
            name, write = f"{stem}.{ending}", save if ending == "parquet" else export
            file_button(label, partial(file_bytes, write, release, name), name, f"{prefix}.{name}")
    return list(formats)


def table_of_cells(release: PointRelease, what: str = "map") -> None:
    """The map in words, folded away, for those who cannot see it: its densest cells.

    By the lower ends of their intervals: of the smallest cells a noisy 1 ± 6 is millions per km².

    Args:
        release: of the map, or of all that its maps show in turn.
        what: which of these it is, as the table's title calls it.
    """
    leaves = np.flatnonzero(release.nodes.leaf)
    least = release.nodes.count - INTERVAL_SDS * np.sqrt(release.nodes.variance)
    bounds = node_bounds(release)
    km2 = areas(bounds)
    chosen = leaves[np.argsort(-(least / km2)[leaves], kind="stable")][:ROWS]
    half = INTERVAL_SDS * np.sqrt(release.nodes.variance[chosen])
    shown = counts_as_shown(release.nodes.count[chosen], half)
    columns = {side: bounds[chosen, at] for at, side in enumerate(SIDES)} | shown
    densities = shown["noisy count"] / km2[chosen], half / km2[chosen]
    columns["per km²"] = np.array(list(map(on_screen, *densities)))
    looks = sortable(*columns) | sortable(*SIDES, form="%.5f")
    with st.expander(f"The {what} as a table", icon=":material/table:"):
        st.dataframe(pa.table(columns), hide_index=True, column_config=looks)
        st.caption(rows_in_words(len(chosen), len(leaves), "cells", "most clearly dense"))


def counts_as_shown(counts: Float, halves: Float) -> dict[str, Float]:
    """Columns of a table: noisy counts, and half of their intervals."""
    return {
        "noisy count": np.array(list(map(on_screen, counts, halves))),
        "95 % interval ±": np.array(list(map(half_on_screen, halves))),
    }
