"""Noisy answer for the shortest path between two end points, and its explanation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_visits
from dpviz.private.roads import RoadData
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.counts import RoadRelease
from dpviz.releases.roads.beyond_noise import EVENTS, beyond_noise, is_truncation_corrected, limits
from dpviz.render import Mark, interval_words, rounded, with_noise
from dpviz.render.nearby import distinct
from dpviz.render.numbers import percent
from dpviz.render.roads import answer_marks, landmarks, near, node_degrees, start_marks
from dpviz.roads.graph import Int
from dpviz.roads.paths import Paths
from dpviz.roads.routing import shortest_path
from dpviz.ui.shared.panels import hint
from dpviz.ui.shared.text import plain, sentence
from dpviz.ui.shared.time_window import TimeWindow

Ends = tuple[str, ...]
_OF_TRUNCATION = {
    (False, False): " alone",
    (True, False): " alone; what truncation cut off is not in it",
    (False, True): " and of the estimate of what truncation cut off, which is included",
}
"""Words on what an interval includes, by (answers after truncation, corrected for it)."""


def path_answer(
    ends: Ends,
    release: RoadRelease,
    data: RoadData,
    window: TimeWindow | None = None,
) -> tuple[list[Mark], Int | None]:
    """Show the answer between two end points; return marks for the map and the path."""
    graph = data.graph
    try:
        chosen = np.array([graph.node_row(name) for name in ends], dtype=np.int64)
        if len(ends) < 2:
            hint(
                "roads",
                "Choose two places here, or click or tap two streets on the map: the shortest path "
                "between them is counted.",
                "How busy is the way from one place to another?",
            )
            return start_marks(graph, chosen), None
        edges = shortest_path(graph, *ends)
    except DpvizError as error:
        st.warning(sentence(error), icon=":material/wrong_location:")
        return [], None
    words = _answer(release, edges)
    with st.expander("Details"):
        if data.public:
            steps = None if window is None else window.rows
            exact = int(exact_visits(data, steps)[edges].sum())
            st.metric("Exact total (public data)", f"{exact:,}")
        st.markdown(words)
    marks = answer_marks(release, int(chosen[0]), edges)
    return [*marks, *start_marks(graph, chosen)], edges


def _answer(release: RoadRelease, edges: Int) -> str:
    """Show the noisy average of a path and its sum; return the details."""
    asked = Paths.of([edges])
    answer = release.count(asked)
    count, half = float(answer.count[0]), INTERVAL_SDS * float(answer.noise_sd[0])
    truncation = release.header.extra.get("kept")
    truncated = bool(limits(release)) and truncation != 1 and not is_truncation_corrected(release)
    events, n = release.records == EVENTS, len(edges)
    st.metric(
        f"{release.records.capitalize()} per street, on average (noisy)",
        with_noise(count / n, half / n),
        help="± the 95 % interval of the noise"
        f"{_OF_TRUNCATION[truncated, is_truncation_corrected(release)]}.",
    )
    once = "" if events else " A trip counts on every street that it uses."
    cut = " Parts of long trips are cut off and not in it: see Details." if truncated else ""
    st.caption(
        f"All {n:,} streets of this path: {with_noise(count, half)} "
        f"{'events' if events else 'visits'}.{once}{cut}"
    )
    lost = ""
    if truncated and truncation:
        missing = max(count, 0.0) * (1 / truncation - 1)
        lost = (
            f"  \n**Error from truncation:** about {plain(rounded(-missing, missing))} (estimate: "
            f"{percent(truncation)} of all visits are counted)"
        )
    beyond = beyond_noise(release, truncation=not lost)
    return (
        f"**95 % interval of all (noise):** {plain(interval_words(count, half))}  \n"
        f"**Made of:** {n:,} streets in {release.frame.subdomains(asked)[0]:,} sections, "
        f"{answer.nodes[0]:,} cells{lost}"
        + (f"  \n**In no interval:** {plain(' '.join(beyond))}" if beyond else "")
    )


def ends_form(
    prefix: str, ends: Ends, release: RoadRelease, choose: Callable[[Ends], None]
) -> None:
    """Selectors of both ends by the places near them; an end that was clicked is among them."""
    graph, source = release.frame.graph, release.header.source
    offered = graph.cached(("landmarks", source), lambda: landmarks(graph, source))
    ids = list(dict.fromkeys([*ends, *offered]))
    spots = node_degrees(graph)[[graph.node_row(each) for each in ids]]
    labels = dict(zip(ids, distinct(near(graph, spots, source), ids), strict=True))
    keys = {"From": f"{prefix}.end.from", "To": f"{prefix}.end.to"}

    def take() -> None:
        choose(tuple(filter(None, map(st.session_state.__getitem__, keys.values()))))

    for (label, key), end in zip(keys.items(), [*ends, None, None], strict=False):
        st.session_state[key] = end
        st.selectbox(
            label,
            ids,
            index=None,
            format_func=labels.__getitem__,
            key=key,
            on_change=take,
            placeholder="Choose here, or on the map",
        )
