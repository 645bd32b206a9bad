"""Tabs below the road map: facts, table, downloads, budget, code."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import RoadRelease
from dpviz.releases.roads.beyond_noise import EVENTS, facts_of_each_step, limits
from dpviz.render import half_width_words
from dpviz.render.numbers import percent
from dpviz.render.roads import near, node_degrees, streets_above_noise
from dpviz.roads.paths import Paths
from dpviz.ui.shared.downloads import count_columns, file_buttons, release_panels
from dpviz.ui.shared.frame import Panels
from dpviz.ui.shared.panels import rows_in_words, sortable

ABOUT_ERROR = "Twice the root mean variance of the sums over the streets of a query."


def release_tabs(prefix: str, release: RoadRelease, workload: Paths, whole: RoadRelease) -> Panels:
    """Panels of the tabs below the map: facts and table of the part on it, files of the whole."""
    return {
        "Summary": partial(_summary, release, workload),
        "Table": partial(_table, release),
        **release_panels(prefix, whole, partial(file_buttons, stem="roads")),
    }


def typical_error(release: RoadRelease, workload: Paths) -> str:
    """Error of a typical query: twice the root mean variance of its sum over streets."""
    noise = float(np.sqrt(np.mean(release.answers_to(workload).noise_sd ** 2)))
    return f"± {half_width_words(2 * noise)} {'events' if release.records == EVENTS else 'visits'}"


def _summary(release: RoadRelease, workload: Paths) -> None:
    extra = release.header.extra
    streets = len(release.frame.graph)
    seen = int(streets_above_noise(release).sum())
    each, truncation = limits(release), extra.get("kept")
    with st.container(horizontal=True, gap="large"):
        if each:
            least, most = min(each), max(each)
            st.metric(
                "Streets counted per trip",
                f"{least:,}" if least == most else f"{least:,} to {most:,}",
                help="Longer trips are cut to so many streets in a row, chosen at random, so that "
                "one trip moves so many counts at most.",
                width="content",
            )
        if any("lengths" in step for step in facts_of_each_step(release)):
            st.metric(
                "Visits counted (estimate)",
                "below the noise" if truncation is None else percent(truncation),
                help="From the noisy lengths of the trips.",
                width="content",
            )
        st.metric(
            "Streets above the noise",
            f"{seen:,} of {streets:,}",
            help="Thick on the map: so far above their noise that at most 1 in 20 of them is "
            "expected to be noise alone, among so many streets.",
            width="content",
        )
        st.metric(
            "Noise of a typical query",
            typical_error(release, workload),
            help=ABOUT_ERROR,
            width="content",
        )


def _table(release: RoadRelease) -> None:
    """Table of the streets with the largest counts."""
    graph, order = release.frame.graph, np.argsort(-release.answers.count)[:1_000]
    half = INTERVAL_SDS * release.answers.noise_sd[order]
    middles = node_degrees(graph)[graph.ends[order]].mean(axis=1)
    names: dict[str, Any] = {
        "where": near(graph, middles, release.header.source),
        "street": graph.edge_id[order],
    }
    if not any(names["where"]):
        del names["where"]
    counts = count_columns(release.answers.count[order], half)
    st.dataframe(names | counts, hide_index=True, column_config=sortable(*counts))
    st.caption(rows_in_words(len(order), len(graph), "streets", "largest noisy counts"))
