"""Kinds and values of a release: which kind the map shows, and what an answer says of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.evaluation.truth import of_one_kind
from dpviz.releases.points.kinds import KindsRelease
from dpviz.releases.points.quotient import Quotients
from dpviz.releases.points.release import PointRelease
from dpviz.render import rounded, with_noise
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.text import plain

ALL = "All kinds"
MOST_SEGMENTS = 6
"""More kinds than these are a list to choose from."""

CLIPPED = (
    "95 % interval of the noise alone. It is of the values as clipped to {low:g} to {high:g}: what "
    "lies beyond is missing from it, a bias that no interval shows."
)
FEW = "too few records"


def chosen_kind(
    prefix: str, release: PointRelease, source: PointSource
) -> tuple[PointRelease, PointSource]:
    """The release of the kind that a visitor chose, and its records; of all together at first."""
    if not isinstance(release, KindsRelease):
        return release, source
    names, asked = release.names, permalink.parameter("kind")
    start = 1 + names.index(asked) if asked in names else 0
    settings: dict[str, Any] = {
        "options": range(1 + len(names)),
        "format_func": lambda place: plain(names[place - 1]) if place else ALL,
        "key": f"{prefix}.kind.{'|'.join(names)}",
        "help": "Each kind has a tree of its own; the map of all is made from those.",
    }
    if len(names) <= MOST_SEGMENTS:
        place = st.segmented_control("Kind", default=start, required=True, **settings)
    else:
        place = st.selectbox("Kind", index=start, **settings)
    permalink.write({"kind": names[place - 1] if place else None})
    if not place:
        return release, source
    name = names[place - 1]
    data = of_one_kind(source.data, name) if source.public else source.data
    return release.of(name), replace(source, data=data)


def attribute_answers(release: PointRelease, rect: Any, period: Any = None) -> None:
    """Below an answer: sum and mean of the values, and a row for each kind.

    Args:
        release: that was asked.
        rect: in its domain's CRS.
        period: of one with time.
    """
    values = release.domain.values
    if values is not None:
        about = CLIPPED.format(low=values.low, high=values.high)
        for label, text in _sum_words(release, rect, period).items():
            st.metric(f"{label} of {plain(values.column)}", text, help=about)
    if not isinstance(release, KindsRelease):
        return
    rows = []
    for name in release.names:
        answer = release.count(rect, period, name)
        half = float(answer.high[0] - answer.low[0]) / 2
        share = release.share(rect, name, period=period)
        rows.append(
            {
                "kind": name,
                "noisy count": with_noise(float(answer.count[0]), half),
                "share": _interval(share, percent=True),
                **_sum_words(release, rect, period, name),
            }
        )
    st.dataframe(rows, hide_index=True, width="stretch")
    st.caption(
        f"Share of all kinds, with its 95 % interval for the noise; “{FEW}”: their number cannot "
        "be distinguished from zero."
    )


def _sum_words(
    release: PointRelease, rect: Any, period: Any, kind: str | None = None
) -> dict[str, str]:
    """Sum and mean with their intervals; nothing without values."""
    if release.domain.values is None:
        return {}
    total = release.sum(rect, period, kind)
    half = float(total.high[0] - total.low[0]) / 2
    mean = _interval(release.mean(rect, period, kind))
    return {"Sum": with_noise(float(total.sum[0]), half), "Mean": mean}


def _interval(answer: Quotients, *, percent: bool = False) -> str:
    """A quotient and its interval, or that there are too few records for one."""
    if not answer.enough[0]:
        return FEW
    value, low, high = (float(each[0]) for each in (answer.value, answer.low, answer.high))
    if percent:
        return f"{value:.0%} ({low:.0%} to {high:.0%})"
    half = (high - low) / 2
    return f"{rounded(value, half)} ({rounded(low, half)} to {rounded(high, half)})"
