"""Below the map of points: totals, how the budget was spent, downloads."""

from __future__ import annotations

import streamlit as st

from dpviz.evaluation.truth import exact_total
from dpviz.releases.counts import PointRelease
from dpviz.render.numbers import count_words
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.downloads import release_details
from dpviz.ui.shared.panels import show_promises
from dpviz.ui.shared.text import plain


def release_facts(
    prefix: str,
    release: PointRelease,
    source: PointSource,
    whole: PointRelease,
) -> None:
    """Show totals and folded details.

    Args:
        prefix: of the page.
        release: of points.
        source: of its records.
        whole: the release to download: all kinds, where it tells some apart and this is of one.
    """
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
    show_promises(release)
    release_details(prefix, whole)
