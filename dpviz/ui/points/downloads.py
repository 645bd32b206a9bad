"""What a visitor takes home of a release: files for other programs, and the map as a table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.export import export
from dpviz.releases.points.release import PointRelease
from dpviz.releases.release import Release
from dpviz.releases.store import save
from dpviz.render import rounded, short
from dpviz.render.cells import densities, node_bounds

FORMATS = {
    "GeoParquet": ("parquet", "application/vnd.apache.parquet"),
    "GeoJSON": ("geojson", "application/geo+json"),
    "GeoPackage": ("gpkg", "application/geopackage+sqlite3"),
    "CSV": ("csv", "text/csv"),
}
ROWS = 500
"""Rows of the table that stands for the map."""


def download_buttons(prefix: str, release: Release) -> None:
    """The files of a release of points or areas, and what is in them."""
    if release.kind == "areas":
        file_buttons(prefix, release, "areas")
        st.caption(
            "The release with its header, never the records. GeoParquet holds every level and "
            "reopens in dpviz; the others hold the finest areas. `dpviz export … --join` adds the "
            "counts to a file of yours."
        )
        return
    file_buttons(prefix, release, "release")
    st.caption(
        "The release with its header, never the records. GeoParquet holds cells of all sizes "
        "and reopens in dpviz; the others hold the smallest cells."
    )


def file_buttons(prefix: str, release: Release, stem: str) -> None:
    """One button a format; a file is made when its button is pressed.

    Args:
        prefix: of the buttons' keys.
        release: of any kind.
        stem: of the files' names.
    """
    with st.container(horizontal=True, gap="small"):  # wraps where it is narrow
        for label, (ending, mime) in FORMATS.items():
            name = f"{stem}.{ending}"
            st.download_button(
                label,
                partial(_file, save if ending == "parquet" else export, release, name),
                name,
                mime,
                key=f"{prefix}.{name}",
                on_click="ignore",
                icon=":material/download:",
            )


def _file(write: Callable[[Any, Path], object], release: Any, name: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="dpviz-") as folder:
        path = Path(folder) / name
        write(release, path)
        return path.read_bytes()


def table_of_cells(release: PointRelease) -> None:
    """The map in words, for those who cannot see it: its densest cells."""
    density, bounds = densities(release), node_bounds(release)
    leaves = np.flatnonzero(release.nodes.leaf)
    chosen = leaves[np.argsort(-density[leaves], kind="stable")][:ROWS]
    half = INTERVAL_SDS * np.sqrt(release.nodes.variance[chosen])
    count = release.nodes.count[chosen]
    columns = {
        side: np.round(bounds[chosen, at], 5).tolist()
        for at, side in enumerate(("west", "south", "east", "north"))
    }
    words = {
        "noisy count": [rounded(*pair) for pair in zip(count, half, strict=True)],
        "95 % interval ±": [rounded(value, value) for value in half],
        "per km²": [short(value) for value in density[chosen]],
    }
    st.dataframe(pa.table(columns | words), hide_index=True)
    st.caption(f"The {len(chosen):,} densest of {len(leaves):,} cells; the download has them all.")
