"""Kinds and values of a release: which kind the map shows, and what an answer says of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.errors import ParameterError
from dpviz.evaluation.truth import of_one_kind
from dpviz.exports.facts import FEW, quotient_words
from dpviz.lists import listed, words
from dpviz.releases.answers import RangeAnswers
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.quotient import Quotients
from dpviz.releases.points.region_count import Regions
from dpviz.render import Camera, Scene, with_noise
from dpviz.render.kinds import overlay_scene, share_scene
from dpviz.render.numbers import count_words
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.panels import of_numbers
from dpviz.ui.shared.text import plain

ALL = "All kinds"
ONE, OVERLAY, SHARE = "One map", "Leading kind", "Share"
OVERLAY_WORD = "leading"
"""Word in an address, in place of the kinds of a share."""
MOST_SEGMENTS = 6
"""More kinds than these are a list to choose from."""

CLIPPED = (
    "± of a sum is the larger of two errors: the 95 % interval of the noise, and that from cut "
    "cells. The interval of a mean is for both errors. Values are as clipped to {low:g} to "
    "{high:g}: what lies beyond is missing from both, a bias that no interval shows."
)


@dataclass(frozen=True)
class Look:
    """Map of a release that does not show its density: a key, and the function that draws it."""

    key: str
    draw: Callable[[PointRelease, Camera], Scene] = field(compare=False)

    def of(self, release: PointRelease, camera: Camera) -> Scene:
        """The map of a release of kinds in 2-D."""
        return self.draw(release, camera)


def kinds_view(
    prefix: str, release: PointRelease, source: PointSource
) -> tuple[PointRelease, PointSource, Look | None]:
    """Ask for one kind, all kinds, or a map that compares kinds.

    Returns:
        The release to query, its records, and the look of its map (None: density).
    """
    st.session_state.pop(f"{prefix}.kind_pair", None)
    if not release.kinds:
        return release, source, None
    names = release.kinds
    left, right = st.columns([3, 7], gap="medium", vertical_alignment="bottom")
    with left:
        shown = _shown(prefix, release)
    with right:
        if shown == OVERLAY:
            permalink.write({"kind": None, "kinds": OVERLAY_WORD})
            return release, source, Look(shown, lambda of, at: overlay_scene(of, camera=at))
        if shown == SHARE:
            one, of = _pair(prefix, names)
            permalink.write({"kind": None, "kinds": listed([one, *of[:1]])})
            st.session_state[f"{prefix}.kind_pair"] = (one, of)
            draw = partial(share_scene, kind=one, of=of or None)
            return release, source, Look(f"{SHARE}|{one}|{of}", lambda of, at: draw(of, camera=at))
        permalink.write({"kinds": None})
        return (*chosen_kind(prefix, release, source), None)


def _shown(prefix: str, release: PointRelease) -> str:
    """Ask for one map, an overlay of kinds, or a comparison of two; one map for a single kind."""
    if len(release.kinds) < 2:
        return ONE
    asked = permalink.parameter("kinds")
    start = ONE if asked is None else OVERLAY if asked == OVERLAY_WORD else SHARE
    shown = st.segmented_control(
        "Map of kinds",
        (ONE, OVERLAY, SHARE),
        default=start,
        required=True,
        key=f"{prefix}.kinds.shown",
        help="One kind or all by density; which kind leads in each cell; or what share one has.",
    )
    return str(shown)


def _pair(prefix: str, names: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Ask for a kind and the kind to compare it with; none means all others."""
    asked: tuple[str, ...] = ()
    with suppress(ParameterError):
        asked = words(permalink.parameter("kinds"), "kinds")
    one, other = (*asked, "", "")[:2]
    start = permalink.one_of("the kind", one, names, names[0])
    if other not in names:
        permalink.refused("the kind", other)
    key = "|".join(names)
    first, second = st.columns(2)
    chosen = first.selectbox(
        "Share of",
        names,
        index=names.index(start),
        key=f"{prefix}.share.{key}",
    )
    rest = [name for name in names if name != chosen]
    against = second.selectbox(
        "against",
        [None, *rest] if len(rest) > 1 else rest,
        index=None if not rest else ([None, *rest].index(other) if other in rest else 0),
        format_func=lambda name: name or "all others",
        key=f"{prefix}.against.{key}.{chosen}",
    )
    return str(chosen), () if against is None else (str(against),)


def chosen_kind(
    prefix: str, release: PointRelease, source: PointSource
) -> tuple[PointRelease, PointSource]:
    """Release and records of the kind that the visitor chose; all kinds together at first."""
    names, asked = release.kinds, permalink.parameter("kind")
    start = 1 + names.index(asked) if asked in names else 0
    offered = [ALL, *names]
    settings: dict[str, Any] = {
        "options": range(len(offered)),
        "key": f"{prefix}.kind.{'|'.join(names)}",
        "help": "Each kind has a tree of its own; the map of all is made from those.",
    }
    if len(names) <= MOST_SEGMENTS:
        settings["format_func"] = lambda place: plain(offered[place])  # its words are Markdown
        place = st.segmented_control("Kind", default=start, required=True, **settings)
    else:
        place = st.selectbox("Kind", index=start, format_func=offered.__getitem__, **settings)
    permalink.write({"kind": names[place - 1] if place else None})
    if not place:
        return release, source
    name = names[place - 1]
    data = of_one_kind(source.data, name) if source.public else source.data
    return release.of(name), replace(source, data=data)


def attribute_answers(release: PointRelease, rect: Any, period: Any, prefix: str) -> None:
    """Show sum and mean of the values, and a row for each kind, below an answer.

    Args:
        release: that was asked.
        rect: in its domain's CRS.
        period: of one with time.
        prefix: of the page, which may compare two kinds.
    """
    pair = st.session_state.get(f"{prefix}.kind_pair")
    if pair is not None and release.kinds:
        kind, of = pair
        share = release.share(rect, kind, of or None, period)
        against = of[0] if of else "all others"
        st.metric(
            f"Share of {plain(kind)} against {plain(against)}",
            quotient_words(share, shares=True),
            help="With its 95 % interval (Fieller) for the noise and for cut cells.",
        )
    values = release.domain.values
    if values is not None:
        about = CLIPPED.format(low=values.low, high=values.high)
        for label, text in _sum_words(release, rect, period).items():
            st.metric(f"{label} of {plain(values.column)}", text, help=about)
    if not release.kinds:
        return
    rows = [
        _kind_row(name, release.count(rect, period, name), release.share(rect, name, period=period))
        | _sum_words(release, rect, period, name)
        for name in release.kinds
    ]
    kinds_table(rows)


def region_kinds(release: PointRelease, regions: Regions) -> None:
    """Show a row for each kind below the answer to a polygon."""
    if release.kinds:
        every = release.regions_by_kind(regions)
        kinds_table([_kind_row(name, *answers) for name, answers in every.items()])


def _kind_row(name: str, answer: RangeAnswers, share: Quotients) -> dict[str, str]:
    """Count and share of a kind in one place."""
    count, part = count_words(answer), quotient_words(share, shares=True)
    return {"kind": name, "noisy count": count, "share": part}


def kinds_table(rows: list[dict[str, str]]) -> None:
    """A row for each kind, and what its share means."""
    kind = st.column_config.TextColumn(width="small")  # a long name hides no count
    looks = {"kind": kind, **of_numbers(*(set().union(*rows) - {"kind"}))}
    st.dataframe(rows, hide_index=True, column_config=looks)
    st.caption(
        f"Share of all kinds, with its 95 % interval for the noise and for cut cells; “{FEW}”: "
        "their number cannot be distinguished from zero."
    )


def _sum_words(
    release: PointRelease, rect: Any, period: Any, kind: str | None = None
) -> dict[str, str]:
    """Sum and mean with their intervals; nothing without values."""
    if release.domain.values is None:
        return {}
    total = release.sum(rect, period, kind)
    mean = quotient_words(release.mean(rect, period, kind))
    return {"Sum": with_noise(float(total.sum[0]), float(total.larger_error[0])), "Mean": mean}
