"""Two owners: which cells of two releases must be compared to find records that match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from dpviz.build import build
from dpviz.domain import Domain
from dpviz.domain.crs import metres_per_unit
from dpviz.errors import DpvizError
from dpviz.evaluation.figures.matching import TREES, pair_of_registers, tree
from dpviz.evaluation.matching import match_truth
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.matching import GUARANTEE, Matching, match
from dpviz.render import Camera, short
from dpviz.render.cells import domain_bounds, node_bounds
from dpviz.render.marks import boxes
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Mark
from dpviz.render.view import SIDES, release_scene
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.map.component import events
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.charts import measure_chart
from dpviz.ui.shared.panels import hint, table_panel
from dpviz.ui.shared.text import badge, plain

EPSILONS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
DISTANCES = (0.0005, 0.001, 0.002, 0.004, 0.008)
"""Of a match, in degrees; the registers' errors are up to 0.002."""

TITLES = {
    "quad-baseline": "Quadtree",
    "kd-noisymean": "kd-tree, noisy means",
    "kd-standard": "kd-tree, private medians",
    "kd-hybrid": "kd-tree, then quadtree",
    "PrivTree": "PrivTree",
}
"""On screen, of :data:`TREES`."""
PADDING = {
    "upward": "Dummies only: no record is left out",
    "noisy": "To the noisy count: records above it are left out",
}
Pair = tuple[PointRelease, PointRelease]


@st.cache_resource(show_spinner="Building both releases …", max_entries=32)
def registers(name: str, epsilon: float) -> Pair:
    """Releases of both built-in registers: public data."""
    method, parameters = tree(name, 2)
    first, second = (
        build(data, method, epsilon, seed=seed, **parameters)
        for seed, data in enumerate(pair_of_registers(2))
    )
    return first, second


@st.cache_data(show_spinner="Comparing exactly …", max_entries=256)
def judged(name: str, epsilon: float, within: float, padding: str) -> dict[str, Any]:
    """What a matching of the registers keeps: exact answers on public data."""
    pair = registers(name, epsilon)
    matching = match(*pair, within, padding=padding)
    truth = match_truth(matching, *pair, *pair_of_registers(2))
    return {
        "ε": epsilon,
        "distance": within,
        "reduction ratio": round(matching.reduction_ratio, 4),
        "recall": round(truth.recall, 4),
        "matches": truth.matches,
    }


def owners_view(prefix: str) -> None:
    """The whole view of the built-in registers: form, map, ratios, curves."""
    with st.sidebar:
        st.caption(
            "Two invented registers share half of their people, with typing errors in addresses. "
            "To match two releases of your own, choose Two releases above."
        )
        name = st.selectbox(
            "Tree", list(TREES), index=2, format_func=TITLES.__getitem__, key=f"{prefix}.tree"
        )
        epsilon = st.select_slider("ε of each owner", EPSILONS, value=0.8, key=f"{prefix}.epsilon")
    pair = registers(name, epsilon)
    for place, side, release in zip(st.columns(2), "AB", pair, strict=True):
        place.markdown(f"**{side}** {badge(release.header)}")
    _map_and_ratios(prefix, pair, (name, epsilon))


@fragment
def _map_and_ratios(prefix: str, pair: Pair, built: tuple[str, float]) -> None:
    left, right = st.columns([7, 3], gap="medium")
    with right:
        matching = owners_panel(prefix, pair, built)
    key = f"{prefix}.map"
    with left:
        camera = Camera(bounds=domain_bounds(pair[0].domain), key=prefix)
        labels = ["A: register of one owner", "B: register of the other"]
        scene = release_scene(pair, labels, mode="side", camera=camera)
        map_view(scene, key=key)
        shape = events(key).shape
        marks = _outlined(pair, matching, shape) if matching is not None and shape else []
        map_overlay(key, marks=marks, shape=shape)
        if marks:
            st.caption(
                "Outlined: the cells of A in your rectangle that hold records, and the cells of B "
                "that they must be compared with."
            )
        else:
            hint(
                prefix,
                "Draw a rectangle: its cells of A, and the cells of B that they must be compared "
                "with, are outlined.",
            )
    if st.button("Measure against ε and distance", key=f"{prefix}.measure"):
        padding = str(st.session_state.get(f"{prefix}.padding", "upward"))
        _curves(built, float(matching.within[0]) if matching else DISTANCES[2], padding)


def owners_panel(
    prefix: str, pair: Pair, built: tuple[str, float] | None = None
) -> Matching | None:
    """Distance and padding, and what is left to compare; recall for the built-in registers."""
    within = _distance(prefix, pair[0].domain, DISTANCES if built is not None else None)
    padding = st.radio("Padding", list(PADDING), format_func=PADDING.get, key=f"{prefix}.padding")
    try:
        matching = match(*pair, within, padding=padding)
    except DpvizError as error:
        st.error(plain(error), icon=":material/error:")
        return None
    everything = len(matching.leaves_a) * len(matching.leaves_b)
    st.metric("Reduction ratio", f"{matching.reduction_ratio:.3f}")
    st.caption(
        f"{matching.pairs:,} of {everything:,} pairs of cells are left: about "
        f"{short(matching.compared)} comparisons, dummies among them, in place of "
        f"{short(matching.noisy_a * matching.noisy_b)}. "
        f"Dummies: {matching.dummies[0]:,.0f} in A, {matching.dummies[1]:,.0f} in B."
    )
    if built is not None:
        row = judged(*built, within, padding)
        st.metric(
            "Recall (public data)",
            f"{row['recall']:.3f}",
            help=f"Of {row['matches']:,} pairs of records within the distance",
        )
    elif matching.failure is not None:
        st.caption(f"A record is left out with a probability of at most {matching.failure:g}.")
    elif padding == "upward":
        st.caption("Counts were post-processed: no probability is known that a record is left out.")
    st.caption(GUARANTEE)
    return matching


def _distance(prefix: str, domain: Domain, offered: Sequence[float] | None) -> float:
    """How far records of a match are apart at most: one that is offered, or any; and in metres."""
    label, words = "Distance of a match, on each axis", "In the units of the releases' coordinates."
    (west, south), (east, north) = domain.lower, domain.upper
    key = f"{prefix}.within"
    if offered is not None:
        within = float(st.select_slider(label, offered, offered[2], key=key, help=words))
    else:
        start = float(f"{min(east - west, north - south) / 300:.1g}")
        key += f".{domain.crs}.{start}"  # of another pair in other units it begins anew
        within = st.number_input(
            label, min_value=0.0, value=start, step=start, format="%g", key=key, help=words
        )
    metres = metres_per_unit(domain.crs, (south + north) / 2)
    across, along = (within * float(each) for each in metres)
    st.caption(f"About {short(across)} m from west to east, {short(along)} m from south to north.")
    return within


def _outlined(pair: Pair, matching: Matching, shape: Shape) -> list[Mark]:
    """A's cells in the rectangle that bring records, and B's cells that these are compared with."""
    if shape.rect is None:
        return []
    try:
        lo, hi = pair[0].domain.boxes(from_degrees(shape.rect, pair[0].domain.crs))
    except DpvizError:
        return []
    nodes = pair[0].nodes
    rows = matching.leaves_a
    inside = ((nodes.lo[rows] < hi) & (nodes.hi[rows] > lo)).all(axis=1) & (matching.padded_a > 0)
    left = inside[matching.first] & (matching.padded_b[matching.second] > 0)
    chosen = np.unique(matching.first[left]), np.unique(matching.second[left])
    marks = []
    for at, (side, release, each) in enumerate(zip(SIDES, pair, chosen, strict=True)):
        leaves = (matching.leaves_a, matching.leaves_b)[at][each]
        if len(leaves):
            marks.append(boxes(f"compared-{side}", node_bounds(release)[leaves], side=side))
    return marks


def _curves(built: tuple[str, float], within: float, padding: str) -> None:
    """Reduction ratio and recall against ε and against the distance."""
    name, epsilon = built
    by_epsilon = [judged(name, each, within, padding) for each in EPSILONS]
    by_distance = [judged(name, epsilon, each, padding) for each in DISTANCES]
    axes = {"ε": "ε of each owner", "distance": "distance of a match (degrees)"}
    for place, rows, axis in zip(st.columns(2), (by_epsilon, by_distance), axes, strict=True):
        chart = measure_chart(rows, axis, ("reduction ratio", "recall"), axes[axis])
        place.altair_chart(chart)
    table_panel("Both curves as a table", [*by_epsilon, *by_distance])
