"""Map of an area release by level, the answer to a rectangle, and a table."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.evaluation.truth import exact_by_area
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import AreaRelease
from dpviz.render import Camera, with_noise
from dpviz.render.areas import areas_scene
from dpviz.render.cells import domain_bounds
from dpviz.ui.points.map_answer import ask_on_map, drawn_answer
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.downloads import ROWS, count_columns
from dpviz.ui.shared.frame import Panels
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import rows_in_words, show_promises, sortable
from dpviz.ui.shared.text import level_title


@fragment
def show_areas(
    prefix: str, release: AreaRelease, source: PointSource, panels: Panels, *, shown: bool = True
) -> None:
    """Map of a level, drawn while ``shown``, its answer, and tabs below."""
    level = _level(prefix, release)
    if not shown:
        return
    camera = Camera(bounds=domain_bounds(release.domain), key=source.key)
    draw = partial(areas_scene, release, level, camera=camera)
    answer = partial(
        drawn_answer,
        prefix,
        release,
        source,
        then=". Areas that it cuts count by the share of their surface inside; the areas "
        "themselves are exact sums of each other.",
    )
    scene = cached(f"{prefix}.areas", (level, release), draw)
    own: Panels = {
        "Summary": partial(_summary, prefix, release, source),
        "Table": partial(_table, release, level),
        **panels,
    }
    ask_on_map(prefix, release, source, answer, scene, fields=(permalink.RECT,), panels=own)


def _level(prefix: str, release: AreaRelease) -> str:
    levels = release.frame.levels
    if len(levels) == 1:
        return levels[0]
    chosen = st.segmented_control(
        "Level",
        levels,
        default=levels[-1],
        format_func=level_title,  # untrusted text of a file
        key=f"{prefix}.level.{'|'.join(levels)}",
        required=True,
        label_visibility="collapsed",
    )
    return str(chosen)


def _summary(prefix: str, release: AreaRelease, source: PointSource) -> None:
    areas = release.frame
    top = areas.slices[0]
    total = float(release.nodes.count[top].sum())
    half = INTERVAL_SDS * float(np.sqrt(release.nodes.variance[top].sum()))
    with st.container(horizontal=True, gap="large"):
        st.metric("Noisy total", with_noise(total, half), width="content")
        if source.public:
            exact = _exact_total(prefix, release, source)
            st.metric("Exact total (public data)", f"{exact:,}", width="content")
        st.metric(
            "Areas", f"{areas.leaves:,}", help=f"{len(areas):,} on all levels", width="content"
        )
        st.metric("Levels", len(areas.levels), width="content")
    show_promises(release)


def _exact_total(prefix: str, release: AreaRelease, source: PointSource) -> int:
    """Number of public records in any of the areas, cached."""

    def count() -> int:
        return int(exact_by_area(source.data, release.frame)[release.frame.slices[0]].sum())

    return cached(f"{prefix}.areas.exact", (source.key, release), count)


def _table(release: AreaRelease, level: str) -> None:
    """Table of the areas with the most records on the level."""
    part = release.frame.rows_of(level)
    rows = np.arange(part.start, part.stop)
    chosen = rows[np.argsort(-release.nodes.count[rows], kind="stable")][:ROWS]
    half = INTERVAL_SDS * np.sqrt(release.nodes.variance[chosen])
    above = release.frame.parent_names
    columns = {
        "area": [release.frame.names[row] for row in chosen],
        "in": [above[row] or "" for row in chosen],
    }
    counts = count_columns(release.nodes.count[chosen], half)
    st.dataframe(pa.table(columns | counts), hide_index=True, column_config=sortable(*counts))
    st.caption(rows_in_words(len(chosen), len(rows), "areas", "largest counts"))
