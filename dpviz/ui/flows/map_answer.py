"""Map of a release of flows, the trips from and to a clicked area, and the pairs of a level."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from dpviz.exports.tables import flow_matrix
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.flows.release import FlowRelease
from dpviz.render.nearby import area_labels
from dpviz.render.numbers import count_words, half_width_words
from dpviz.render.pairs import WAYS, flow_scene, pairs_of, trips_of
from dpviz.render.projection import from_degrees
from dpviz.ui.map import map_view
from dpviz.ui.map.component import events
from dpviz.ui.points.attributes import kinds_view
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.downloads import MAX_ROWS, count_columns
from dpviz.ui.shared.frame import Panels, answer_card, map_container, tabs
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import LEVEL, level_control, rows_in_words, sortable, worded_numbers
from dpviz.ui.shared.sources import NoRecords
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.time_window import TimeWindow, chosen_window, steps_timeline, window_part
from dpviz.ui.shared.timeline import PERIOD

AREA = permalink.Field("area", permalink.parameter)
FLOW_FIELDS = LEVEL, AREA
"""Address fields of the shown level and of the chosen area."""

MAX_ENDS = 12
"""Most origins and destinations of the matrix on a page."""

NO_SOURCE = PointSource(data=NoRecords(), key="", title="")
"""Releases of flows show no exact counts."""

PAIR_ERROR_HELP = "Half of the 95 % interval of the noise, for a typical pair of areas."


@fragment
def show_flows(prefix: str, release: FlowRelease, panels: Panels) -> None:
    """Map of a level, the answer for the chosen area, and tabs below; a click reruns this.

    Of a release with categories or steps of time, the map shows one category and a window.
    """
    flows, state, remembered = release.frame, st.session_state, AREA.place(prefix)
    source = release.header.source
    names = cached(f"{prefix}.names", flows, lambda: area_labels(flows.origins, source))
    with st.container(horizontal=True, key="dpviz-controls"):
        level = level_control(prefix, flows.levels)
        of_kind, *_ = kinds_view(prefix, release, NO_SOURCE, looks=False)
        window = chosen_window(prefix, of_kind)
    shown = window_part(f"{prefix}.part", of_kind, window)
    depth = flows.depths[flows.levels.index(level)][0]
    part, key = flows.origins.slices[depth], f"{prefix}.area.{len(flows.origins)}.{level}"
    areas = dict(zip(flows.origins.labels[part], range(part.start, part.stop), strict=True))
    permalink.set_column(key, remembered, areas)
    area = areas.get(str(state.get(key)))
    state[remembered] = None if area is None else state[key]
    with map_container():
        scene = cached(
            f"{prefix}.flows",
            (shown, level, area),
            lambda: flow_scene(shown, level, area),
        )
        map_view(
            scene, key=f"{prefix}.flowmap", on_pick=partial(_picked, prefix, key, release, depth)
        )
        with answer_card():
            st.selectbox(
                "Area",
                areas,
                index=None,
                format_func=lambda label: names[areas[label]],
                placeholder="All: choose one, or click it",
                key=key,
            )
            _answer(shown, area, names)
    own: Panels = {"Table": partial(_table, shown, level, area, names)}
    if window is not None:
        own["Timeline"] = partial(_timeline, of_kind, window, area, names)
    tabs(prefix, {**own, **panels})
    permalink.write_address(prefix, (PERIOD, *FLOW_FIELDS))


def pair_error(release: FlowRelease) -> tuple[str, str]:
    """Noise of a typical pair of the finest areas, and what it is."""
    nodes = release.parts[0].nodes
    half = INTERVAL_SDS * float(np.sqrt(np.median(nodes.variance[nodes.leaf])))
    return f"**± {half_width_words(half)} trips** per pair", PAIR_ERROR_HELP


def _answer(release: FlowRelease, area: int | None, names: list[str]) -> None:
    """Show the trips from and to the chosen area, or the total."""
    if area is None:
        st.metric("Trips (noisy)", count_words(release.count([(None, None)])))
        return
    for end, way in enumerate(WAYS[: 2 if release.frame.to is None else 1]):
        counted = trips_of(release, np.array([area]), end)
        st.metric(f"Trips {way} {plain(names[area])}", count_words(counted))


def _timeline(release: FlowRelease, window: TimeWindow, area: int | None, names: list[str]) -> None:
    """Trips of each step: all, or those from the chosen area."""
    of = "all trips" if area is None else f"trips from {plain(names[area])}"
    begins = None if area is None else release.frame.origins.names[area]
    steps_timeline(release.timeline((begins, None)), window, of)


def _table(release: FlowRelease, level: str, area: int | None, names: list[str]) -> None:
    """Matrix of the areas with the most trips, and the pairs with the largest counts."""
    matrix = flow_matrix(release, level, MAX_ENDS)
    columns = dict(zip(matrix.head, map(list, zip(*matrix.rows, strict=True)), strict=True))
    st.dataframe(columns, hide_index=True, column_config=worded_numbers(*matrix.head[1:]))
    st.caption(
        "Trips from the area of a row to that of a column, ± two errors together (95 %): the "
        "noise, and that from pairs of larger areas that are shared out evenly. "
        f"{rows_in_words(len(matrix.rows) - 1, matrix.of, 'areas', 'most trips')}"
    )
    origin, destination, answers = pairs_of(release, level, area)
    flows, most = release.frame, min(MAX_ROWS, len(origin))
    others = names if flows.to is None else flows.to.labels
    listed: dict[str, Any] = {
        "from": [names[row] for row in origin[:most].tolist()],
        "to": [others[row] for row in destination[:most].tolist()],
    }
    half = INTERVAL_SDS * answers.noise_sd[:most]
    counts = count_columns(answers.count[:most], half)
    st.dataframe(pa.table(listed | counts), hide_index=True, column_config=sortable(*counts))
    st.caption(rows_in_words(most, len(origin), "pairs", "largest counts"))


def _picked(prefix: str, key: str, release: FlowRelease, depth: int) -> None:
    """Choose the clicked area of origin; clear the choice if it was already chosen."""
    pick = events(f"{prefix}.flowmap").pick
    if not pick:
        return
    place = [pick["lon"], pick["lat"]]
    areas = release.frame.origins
    west, south, *_ = from_degrees([*place, place[0] + 1e-6, place[1] + 1e-6], areas.domain.crs)
    (number,) = areas.located(np.array([[west, south]]))
    label = None if number < 0 else areas.labels[areas.ancestors(depth)[number]]
    st.session_state[key] = None if st.session_state.get(key) == label else label
