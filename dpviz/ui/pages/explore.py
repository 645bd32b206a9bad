"""Explore: a data set, a method, ε; the private map; drawn rectangles and their answers."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.evaluation.truth import exact_total
from dpviz.releases.counts import AreaRelease, PointRelease, is_areas
from dpviz.render.cells import domain_bounds
from dpviz.render.numbers import count_words
from dpviz.ui.areas.map_answer import show_areas
from dpviz.ui.points.answers import middle, note_repeated
from dpviz.ui.points.map_answer import FIELDS, clear_distant_shape
from dpviz.ui.points.slots import point_slots
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.points.time_answer import LOOK, points_map
from dpviz.ui.shared.domain_map import show_domain
from dpviz.ui.shared.downloads import release_panels
from dpviz.ui.shared.frame import tabs
from dpviz.ui.shared.method_form import Choice
from dpviz.ui.shared.panels import show_promises
from dpviz.ui.shared.skeleton import run
from dpviz.ui.shared.text import plain
from dpviz.ui.shared.timeline import PERIOD
from dpviz.ui.shared.welcome import welcome

TITLE, ORDER = "Explore", 0
KEY = "explore"


def page() -> None:
    """The page."""
    welcome(KEY)
    run(
        point_slots(
            KEY,
            2,
            "records",
            more=True,
            fields=(*FIELDS, PERIOD, LOOK),
            before=partial(show_domain, KEY),
            show=show_release,
        )
    )


def show_release(
    release: PointRelease | AreaRelease, source: PointSource, choice: Choice | None
) -> None:
    """Show a release: map, answers, and tabs with totals, promises and details."""
    if st.session_state.pop(f"{KEY}.example", False):  # the welcome's first door
        st.session_state[f"{KEY}.rect"] = middle(domain_bounds(release.domain))
    panels = release_panels(KEY, release)  # the count of all categories, even if the map shows one
    if is_areas(release):
        clear_distant_shape(KEY, source, release.domain)
        show_areas(KEY, release, source, panels)
    elif release.domain.without_time.dims == 2:
        clear_distant_shape(KEY, source, release.domain)
        points_map(
            KEY,
            release,
            source,
            lambda shown, records: {"Summary": partial(_summary, shown, records), **panels},
        )
    else:
        st.info(
            f"This release has {release.domain.dims} dimensions, and a map needs 2. Its cells are "
            "in the files below; `dpviz query` answers boxes.",
            icon=":material/view_in_ar:",
        )
        tabs(KEY, {"Summary": partial(_summary, release, source), **panels})


def _summary(release: PointRelease, source: PointSource) -> None:
    """Show the totals of what is on the map, and what it promises."""
    nodes = release.nodes
    total = release.count(release.domain.bounds)
    kind = release.header.extra.get("kind")
    of = "" if kind is None else f" of {plain(kind)}"
    with st.container(horizontal=True, gap="large"):
        st.metric(f"Noisy total{of}", count_words(total), width="content")
        if source.public:
            exact = exact_total(source.data)
            st.metric(f"Exact total{of} (public data)", f"{exact:,}", width="content")
        inside = f"{len(nodes):,} cells of all sizes"
        st.metric("Cells", f"{int(nodes.leaf.sum()):,}", help=inside, width="content")
        st.metric("Levels", nodes.depth, width="content")
    note_repeated(release)
    show_promises(release)
