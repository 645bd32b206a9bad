"""Two owners: which cells of two releases must be compared to find records that match."""

from __future__ import annotations

import streamlit as st

from dpviz.domain import Domain
from dpviz.domain.crs import metres_per_unit
from dpviz.errors import DpvizError
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.matching import GUARANTEE, match
from dpviz.render import short
from dpviz.ui.shared.text import sentence

PADDING = {
    "upward": "Dummies only: no record is left out",
    "noisy": "To the noisy count: records above it are left out",
}


def owners_panel(prefix: str, pair: tuple[PointRelease, PointRelease]) -> None:
    """Ask for distance and padding; show the number of comparisons left."""
    within = _distance(prefix, pair[0].domain)
    padding = st.radio("Padding", list(PADDING), format_func=PADDING.get, key=f"{prefix}.padding")
    try:
        matching = match(*pair, within, padding=padding)
    except DpvizError as error:
        st.error(sentence(error), icon=":material/error:")
        return
    everything = len(matching.leaves_a) * len(matching.leaves_b)
    st.metric("Reduction ratio", f"{matching.reduction_ratio:.3f}")
    st.caption(
        f"{matching.pairs:,} of {everything:,} pairs of cells remain: about "
        f"{short(matching.compared)} comparisons, including dummies, instead of "
        f"{short(matching.noisy_a * matching.noisy_b)}. "
        f"Dummies: {matching.dummies[0]:,.0f} in A, {matching.dummies[1]:,.0f} in B."
    )
    if matching.failure is not None:
        st.caption(f"A record is left out with a probability of at most {matching.failure:g}.")
    elif padding == "upward":
        st.caption(
            "These counts were adjusted to one another after the noise was added, so the "
            "probability that a record is left out is unknown."
        )
    st.caption(GUARANTEE)


def _distance(prefix: str, domain: Domain) -> float:
    """Ask for the largest distance per axis between matching records; show it in metres."""
    (west, south), (east, north) = domain.lower, domain.upper
    start = float(f"{min(east - west, north - south) / 300:.1g}")
    within = st.number_input(
        "Largest distance between records that may be one and the same, on each axis",
        min_value=0.0,
        value=start,
        step=start,
        format="%g",
        key=f"{prefix}.within.{domain.crs}.{start}",  # another pair starts again with its own units
        help="In the units of the releases' coordinates.",
    )
    metres = metres_per_unit(domain.crs, (south + north) / 2)
    across, along = (within * float(each) for each in metres)
    st.caption(f"About {short(across)} m from west to east, {short(along)} m from south to north.")
    return within
