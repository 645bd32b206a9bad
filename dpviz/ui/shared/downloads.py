"""Downloads of a release: files for other programs, and tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.exports.export import export
from dpviz.planning.code import Code
from dpviz.releases.counts import is_areas, is_points
from dpviz.releases.release import Release
from dpviz.releases.store import save
from dpviz.trees.lattice import Float
from dpviz.ui.shared.code import code_panel
from dpviz.ui.shared.frame import Panels
from dpviz.ui.shared.panels import file_button, file_bytes
from dpviz.ui.shared.presentation import share_page, words_of
from dpviz.ui.shared.prices import budget_breakdown
from dpviz.ui.shared.text import half_on_screen, on_screen

FORMATS = {"GeoParquet": "parquet", "GeoJSON": "geojson", "GeoPackage": "gpkg", "CSV": "csv"}
WITHOUT_SHAPES = {"Parquet": "parquet", "CSV": "csv"}
"""Formats of a release whose cells are not rectangles on a map, such as one of trips."""
MAX_ROWS = 500
"""Most rows of the table that replaces a map."""


def release_panels(
    prefix: str,
    release: Release,
    files: Callable[[str, Any], object] | None = None,
    script: Code | None = None,
) -> Panels:
    """Panels of the tabs below a map that every release has: files, budget, code.

    Args:
        prefix: prefix of the page's keys.
        release: the release of these panels.
        files: draws the buttons of its files, see :func:`download_buttons`.
        script: see :func:`code_panel`.
    """
    draw = partial(files or download_buttons, prefix, release)
    flat = release.kind == "areas" or (is_points(release) and release.domain.without_time.dims == 2)

    def share() -> None:
        if not flat:  # otherwise the panel of its map has them
            share_page(prefix, [release])
        draw()

    return {
        "Share": share,
        "How the budget was spent": partial(budget_breakdown, release),
        "Code": partial(code_panel, prefix, release, script),
    }


def download_buttons(prefix: str, release: Release) -> None:
    """Draw the download buttons of a release of points or areas, with captions."""
    areas = release.kind == "areas"
    formats = file_buttons(prefix, release, "areas" if areas else "release")
    first, *others = formats
    every, finest = (
        ("every level", "finest areas") if areas else ("cells of all sizes", "smallest cells")
    )
    if is_areas(release) and release.steps is not None:
        finest += " in each step of time"
    st.caption(
        f"The release with its header, never the records. {first} holds {every} and reopens in "
        f"dpviz; {'the others hold' if others[1:] else f'{others[0]} holds'} the {finest}."
    )


def file_buttons(prefix: str, release: Release, stem: str) -> list[str]:
    """Draw one button per format, which makes its file on click; return the format names."""
    shapes = not is_points(release) or release.domain.without_time.dims == 2
    formats = FORMATS if shapes else WITHOUT_SHAPES
    with st.container(horizontal=True, gap="small"):  # wraps on narrow screens
        for label, ending in formats.items():
            write = save if ending == "parquet" else export
            key = f"{stem}.{ending}"
            name = words_of(prefix, release).file_name(f".{ending}", key)
            file_button(label, partial(file_bytes, write, release, name), name, f"{prefix}.{key}")
    return list(formats)


def count_columns(counts: Float, halves: Float) -> dict[str, Float]:
    """Table columns of noisy counts, and half widths of their intervals."""
    return {
        "noisy count": np.array(list(map(on_screen, counts, halves))),
        "95 % interval ±": np.array(list(map(half_on_screen, halves))),
    }
