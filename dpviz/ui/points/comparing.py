"""Two counts of one release compared: their difference and ratio, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dpviz.releases.counts import CountRelease
from dpviz.releases.joint import ADDED, EXACT, NOISE_ONLY
from dpviz.releases.subset import Subset
from dpviz.render import interval_words, with_noise
from dpviz.ui.points.attributes import ALL
from dpviz.ui.shared.text import plain

ALWAYS = "All steps"
"""Choice of all steps of time."""

ABOUT = {
    EXACT: "The interval follows from the noise of both counts, which may have a part in common.",
    ADDED: "The noise of both counts is added up, with what cut cells may cost.",
    NOISE_ONLY: "The interval is for the noise only: whole numbers from 0 also have a bias.",
}
"""Sentence on an interval, by its basis."""


def compare_panel(
    prefix: str, release: CountRelease[Any], places: Mapping[str, Any], first: Sequence[str]
) -> None:
    """Choose two counts, A and B; show A − B and A / B.

    Args:
        prefix: prefix of the page's keys.
        release: a release of points or areas, with all its categories and steps.
        places: places to choose from, by their labels, see :class:`Subset`.
        first: labels that A and B start with; from one place, they start with two categories.
    """
    kinds = (1, 2) if first[0] == first[1] and len(release.kinds) > 1 else (0, 0)
    one, other = (
        _subset(f"{prefix}.compare.{side.lower()}", side, release, places, label, kind)
        for side, label, kind in zip("AB", first, kinds, strict=True)
    )
    if vars(one) == vars(other):
        st.caption("Choose something else for B: its place, category or step.")
        return
    difference, ratio = release.compare(one, other), release.ratio(one, other)
    with st.container(horizontal=True, gap="large"):
        shown = with_noise(difference.value, difference.half_width)
        st.metric("A − B", shown, width="content")
        if ratio.value == ratio.value:  # not NaN: there are enough records for a ratio
            st.metric("A / B", f"{ratio.value:.3g}", width="content")
    words = interval_words(difference.value, difference.half_width)
    lines = [f"**95 % of the difference:** {plain(words)}"]
    if ratio.value == ratio.value:
        ends = f"{ratio.low:.3g} to {ratio.high:.3g}"
        lines.append(f"**95 % of the ratio:** {ends}")
    st.markdown("  \n".join(lines))
    equal = "The two may be equal. " if difference.low <= 0 <= difference.high else ""
    st.caption(equal + ABOUT.get(difference.basis, ABOUT[EXACT]))


def _subset(
    key: str,
    side: str,
    release: CountRelease[Any],
    places: Mapping[str, Any],
    first: str,
    first_kind: int,
) -> Subset:
    """Ask for one count in a row of boxes: a place, a category and a step."""
    labels, kind, period = list(places), ALL, None
    with st.container(horizontal=True):
        place = labels[0]
        if len(labels) > 1:
            start = labels.index(first)
            place = st.selectbox(
                f"{side}: place", labels, start, key=f"{key}.place", format_func=plain
            )
        if release.kinds:
            kinds = [ALL, *release.kinds]
            kind = st.selectbox(
                f"{side}: category", kinds, first_kind, key=f"{key}.kind", format_func=plain
            )
        if (steps := release.steps) is not None:
            row = st.selectbox(
                f"{side}: step",
                range(-1, len(steps)),
                key=f"{key}.step",
                format_func=lambda row: ALWAYS if row < 0 else steps.step_limits(row)[0],
            )
            period = None if row < 0 else tuple(steps.edges[row : row + 2].tolist())
    return Subset(places[place], period, None if kind == ALL else kind)
