"""Counts for the districts of a file, from the release on the map."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.releases.answers import RangeAnswers
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.region_count import Regions
from dpviz.releases.points.region_file import read_regions
from dpviz.releases.points.window import during, window_cuts
from dpviz.render import Legend, Mark, with_noise
from dpviz.render.districts import district_marks
from dpviz.ui.points.answers import NUMBERS, WHOLE_SHARE, as_csv, errors_of, numbers_of
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import file_button, sortable, worded_numbers
from dpviz.ui.shared.text import half_on_screen, on_screen, sentence
from dpviz.ui.shared.uploads import chosen_layer, upload_path

MAX_DISTRICTS = 20_000
"""Most districts of one file."""

AnsweredRegions = tuple[Regions, list[dict[str, Any]], tuple[Mark, ...], Legend]


def districts_panel(
    prefix: str, release: PointRelease, whole: PointRelease, noun: str
) -> tuple[list[Mark], Legend | None]:
    """Counts for every district of a file: a table, downloads, a choropleth and its legend.

    ``whole``: with time, the release of whose period ``release`` is the window on the map;
    ``noun``: plural of what is counted.
    """
    file = st.file_uploader(
        "Polygons: GeoJSON, GeoPackage, GeoParquet or zipped Shapefile",
        key=f"{prefix}.districts",
        help="A public file, for instance of city districts. Counts are computed from the "
        "release: that costs nothing.",
    )
    st.caption(
        "For tables by district, publish with the method “Hexagons or districts”: its errors are "
        "far smaller than those of cells that borders cut."
    )
    if file is None:
        return [], None
    try:
        path = f"{upload_path('districts', file)}{chosen_layer('districts', file)}"
        regions, rows, marks, legend = cached(
            f"{prefix}.districts.kept",
            (file.file_id, path, release, noun),
            lambda: _answered_regions(release, path, noun),
        )
    except DpvizError as error:
        st.error(sentence(error), icon=":material/error:")
        return [], None
    inside = [row["inside"] for row in rows]
    if not any(inside):
        st.warning(
            "All districts of this file lie outside the area of this map: choose another file.",
            icon=":material/wrong_location:",
        )
        return [], None
    cut = min(inside) < WHOLE_SHARE
    kinds = release.kinds if release.kinds else ()
    table = [
        {
            "district": row["district"],
            "noisy count": on_screen(row["count"], error),
            "95 % ±": half_on_screen(half),
            "cut cells ±": half_on_screen(spread),
            **({"inside the area": round(100 * row["inside"])} if cut else {}),
            **{name: kind_count_text(row, name) for name in kinds},
        }
        for row in rows
        for half, spread, error in [errors_of(row)]
    ]
    looks = sortable("noisy count", "95 % ±", "cut cells ±")
    looks |= sortable("inside the area", form="%d %%") | worded_numbers(*kinds)
    st.dataframe(table, hide_index=True, column_config=looks)
    with st.container(horizontal=True, gap="small"):
        label = "Counts by district (CSV)"
        file_button(label, partial(as_csv, rows), "districts.csv", f"{prefix}.districts.csv")
        if whole.domain.time is not None:
            file_button(
                "Counts by district and time (CSV)",
                partial(_csv_by_step, whole, regions),
                "districts-by-time.csv",
                f"{prefix}.districts.time.csv",
            )
    if not st.toggle("Show them on the map", value=True, key=f"{prefix}.districts.shown"):
        return [], None
    return list(marks), legend


def _answered_regions(release: PointRelease, path: str, noun: str) -> AnsweredRegions:
    """Answers of the districts, their marks and the legend; refuses more than MAX_DISTRICTS."""
    regions = read_regions(path, release.domain)
    if len(regions) > MAX_DISTRICTS:
        raise DpvizError(f"{len(regions):,} districts: give a file of at most {MAX_DISTRICTS:,}")
    answers = release.count_regions(regions)
    marks, legend = district_marks(regions, answers, release.domain, counted=noun)
    return regions, _rows(release, regions, answers), marks, legend


def _csv_by_step(release: PointRelease, regions: Regions) -> str:
    """CSV file of the districts in each step of the period, at most twelve."""
    rows = []
    for ends in pairwise(window_cuts(release.domain)):
        part = during(release, ends)
        step = dict(zip(("from", "to"), map(release.domain.calendar.text, ends), strict=True))
        rows += [step | row for row in _rows(part, regions, part.count_regions(regions))]
    return as_csv(rows)


def kind_count_text(row: Mapping[str, Any], kind: str) -> str:
    """The count of one kind in a district, with its own error."""
    numbers = {name: row[f"{name} {kind}"] for name in NUMBERS[:-1]}
    return with_noise(numbers["count"], errors_of(numbers)[2])


def _rows(release: PointRelease, regions: Regions, answers: RangeAnswers) -> list[dict[str, Any]]:
    every = release.regions_by_kind(regions) if release.kinds else {}
    return [
        {"district": name, "inside": float(regions.inside[row])}
        | numbers_of(answers, row)
        | {
            f"{column} {kind}": number
            for kind, (counts, _) in every.items()
            for column, number in numbers_of(counts, row, NUMBERS[:-1]).items()
        }
        for row, name in enumerate(regions.names)
    ]
