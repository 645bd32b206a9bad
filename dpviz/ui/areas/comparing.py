"""Two counts of a table of areas compared: their difference and ratio, with intervals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import streamlit as st

from dpviz.releases.areas.partition import Areas
from dpviz.releases.counts import AreaRelease
from dpviz.releases.joint import ADDED, EXACT, NOISE_ONLY
from dpviz.releases.subset import Subset
from dpviz.render import interval_words, with_noise
from dpviz.ui.points.attributes import ALL
from dpviz.ui.shared.text import plain

WHOLE, ALWAYS = "All areas", "All steps"
"""Choices without an area and without a step."""

ABOUT = {
    EXACT: "The interval counts the noise that both share: it is narrower than two ±.",
    ADDED: "The noise of both counts is added up: the interval is never too narrow.",
    NOISE_ONLY: "The interval is for the noise: whole numbers from 0 also have a bias.",
}
"""Sentence on an interval, by its basis."""


def compare_panel(prefix: str, release: AreaRelease) -> None:
    """Choose two counts, A and B; show A − B and A / B.

    Args:
        prefix: of the page.
        release: of areas, with all its categories and steps.
    """
    finest = slice(len(release.frame) - release.frame.leaves, None)
    largest = np.argsort(-release.nodes.count[finest], kind="stable") + (finest.start or 0)
    one, other = (
        _subset(f"{prefix}.compare.{side.lower()}", side, release, int(largest[at]))
        for at, side in zip((0, min(1, len(largest) - 1)), "AB", strict=True)
    )
    if vars(one) == vars(other):
        st.caption("Choose another area, category or step for B.")
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
    st.caption(ABOUT.get(difference.basis, ABOUT[EXACT]))


def area_labels(areas: Areas) -> list[str]:
    """Names of the areas of all levels, with the area above where several have one name."""
    several = Counter(areas.names)
    return [
        name if several[name] == 1 or above is None else f"{above}/{name}"
        for name, above in zip(areas.names, areas.parent_names, strict=True)
    ]


def _subset(key: str, side: str, release: AreaRelease, first: int) -> Subset:
    """Ask for one count in a row of boxes: an area, at first this row, a category and a step."""
    names, kind, period = [WHOLE, *area_labels(release.frame)], ALL, None
    with st.container(horizontal=True):
        area = st.selectbox(f"{side}: area", names, first + 1, key=f"{key}.area", format_func=plain)
        if release.kinds:
            kinds = [ALL, *release.kinds]
            kind = st.selectbox(f"{side}: category", kinds, key=f"{key}.kind", format_func=plain)
        if (steps := release.steps) is not None:
            row = st.selectbox(
                f"{side}: step",
                range(-1, len(steps)),
                key=f"{key}.step",
                format_func=lambda row: ALWAYS if row < 0 else steps.step_limits(row)[0],
            )
            period = None if row < 0 else tuple(steps.edges[row : row + 2].tolist())
    return Subset(None if area == WHOLE else area, period, None if kind == ALL else kind)
