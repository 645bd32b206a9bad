"""Two answers to one rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from dpviz.errors import DpvizError
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.points.release import PointRelease
from dpviz.render import half_width_words, interval_words, with_noise
from dpviz.render.numbers import NO_BREAK
from dpviz.render.projection import from_degrees
from dpviz.ui.points.answers import LARGER, Rect, answerable, off_by
from dpviz.ui.points.area_form import SIDES
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.text import cells_in_words, plain


@dataclass(frozen=True)
class Answer:
    """One side's answer to the rectangle."""

    side: str
    method: str
    epsilon: float
    count: float
    noise_sd: float
    half_width: float
    uniformity_sd: float
    nodes: int


def answers(
    releases: Sequence[PointRelease], labels: Sequence[str], rect: Rect
) -> tuple[list[Answer], Any]:
    """An answer per release, and the rectangle in the domain's own coordinates."""
    inside = from_degrees(rect, releases[0].domain.crs)
    listed = []
    for side, release, label in zip("AB", releases, labels, strict=True):
        answer = release.count(from_degrees(rect, release.domain.crs))
        listed.append(
            Answer(
                *(side, label, release.header.epsilon, float(answer.count[0])),
                *(float(answer.noise_sd[0]), float(answer.half_width[0])),
                *(float(answer.uniformity_sd[0]), int(answer.nodes[0])),
            )
        )
    return listed, inside


def answer_columns(
    releases: Sequence[PointRelease],
    labels: Sequence[str],
    source: PointSource,
    rect: Rect,
) -> list[dict[str, Any]]:
    """Show both answers beside the exact one; rows for the download."""
    if not answerable(rect, *(release.domain for release in releases)):
        return []
    try:
        listed, inside = answers(releases, labels, rect)
    except DpvizError as error:
        st.warning(plain(error), icon=":material/crop_free:")
        return []
    exact = int(exact_counts(source.data, inside)[0]) if source.public else None
    for place, answer in zip(st.columns(2), listed, strict=True):
        with place:
            spread = INTERVAL_SDS * answer.uniformity_sd
            larger = max(answer.half_width, spread)
            apart = "" if exact is None else _error(answer.count, larger, exact)
            st.caption(f"{answer.side} · noisy count", help=LARGER)
            number = with_noise(answer.count, larger).replace(" ", NO_BREAK)
            interval = interval_words(answer.count, answer.half_width)
            st.markdown(f"**{plain(number)}**")
            st.markdown(
                f"{apart}**95 % interval (noise):** {plain(interval)}  \n"
                f"**Error from cut cells:** ± {half_width_words(spread)}  \n"
                f"**Built from {cells_in_words(answer.nodes)}**"
            )
    if exact is not None:
        st.markdown(f"**Exact count (public data):** {exact:,}")
    st.caption("Error from cut cells (uniformity error): an ESTIMATE, where an edge cuts a cell.")
    return [
        dict(zip(SIDES, rect, strict=True))
        | asdict(answer)
        | ({} if exact is None else {"exact": exact, "error": answer.count - exact})
        for answer in listed
    ]


def _error(count: float, error: float, exact: int) -> str:
    off, share = off_by(count, error, exact)
    return f"**Error:** {plain(off)}{share and f' ({share})'}  \n"
