"""Two answers to one rectangle, and which ε would give ±X there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import streamlit as st

from dpviz.errors import DomainError, DpvizError
from dpviz.evaluation.tradeoff import epsilon_for, half_width
from dpviz.evaluation.truth import exact_counts
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.points.release import PointRelease
from dpviz.render import rounded, with_noise
from dpviz.render.projection import from_degrees
from dpviz.ui.points.answers import Rect, on_screen
from dpviz.ui.points.area_form import SIDES
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.charts import half_width_chart
from dpviz.ui.shared.panels import table_panel
from dpviz.ui.shared.text import cells_in_words, plain, small_share


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
    """An answer per release, and the rectangle in the domain's own coordinates.

    Raises:
        DpvizError: a rectangle outside the domain.
    """
    west, south, east, north = rect
    if west >= east or south >= north:
        raise DomainError("this rectangle has no area: give west, south, east, north in this order")
    inside = from_degrees(rect, releases[0].domain.crs)
    listed = []
    for side, release, label in zip("AB", releases, labels, strict=True):
        answer = release.count(from_degrees(rect, release.domain.crs))
        listed.append(
            Answer(
                *(side, label, release.header.epsilon, float(answer.count[0])),
                *(float(answer.noise_sd[0]), float(answer.high[0] - answer.low[0]) / 2),
                *(float(answer.uniformity_sd[0]), int(answer.nodes[0])),
            )
        )
    return listed, inside


def answer_columns(
    prefix: str,
    releases: Sequence[PointRelease],
    labels: Sequence[str],
    source: PointSource,
    rect: Rect,
) -> list[dict[str, Any]]:
    """Show both answers beside the exact one; rows for the download."""
    try:
        listed, inside = answers(releases, labels, rect)
    except DpvizError as error:
        st.warning(plain(error), icon=":material/crop_free:")
        return []
    exact = int(exact_counts(source.data, inside)[0]) if source.public else None
    for place, answer in zip(st.columns(2), listed, strict=True):
        with place:
            spread = INTERVAL_SDS * answer.uniformity_sd
            apart = (
                "" if exact is None else _error(on_screen(answer.count, answer.half_width), exact)
            )
            st.caption(
                f"{answer.side} · noisy count", help="± the 95 % interval of the noise alone"
            )
            number = with_noise(answer.count, answer.half_width).replace(" ", "\u00a0")
            st.markdown(f"**{plain(number)}**")
            st.markdown(
                f"{apart}**Error from cut cells:** ± {rounded(spread, spread)}  \n"
                f"**Built from {cells_in_words(answer.nodes)}**"
            )
    if exact is not None:
        st.markdown(f"**Exact count (public data):** {exact:,}")
    st.caption("Error from cut cells (uniformity error): an ESTIMATE, where an edge cuts a cell.")
    _wanted(prefix, listed)
    return [
        dict(zip(SIDES, rect, strict=True))
        | asdict(answer)
        | ({} if exact is None else {"exact": exact, "error": answer.count - exact})
        for answer in listed
    ]


def _error(count: float, exact: int) -> str:
    off = count - exact
    relative = f" ({small_share(abs(off) / exact)})" if exact else ""
    return f"**Error:** {plain(f'{off:+,.0f}'.replace('-', '−'))}{relative}  \n"


def _wanted(prefix: str, listed: Sequence[Answer]) -> None:
    """The ε for a precision: from noise variances alone."""
    noisy = [answer for answer in listed if answer.noise_sd > 0]
    if not noisy:
        return
    st.markdown("**What ε gives this precision?**")
    start = float(f"{min(half_width(a.noise_sd, a.epsilon, a.epsilon) for a in noisy):.1g}")
    wanted = st.number_input(
        "± records, 95 % (noise)",
        min_value=0.01,
        value=max(start, 0.01),
        format="%g",
        key=f"{prefix}.wanted",
        help="From the variance of the noise on these cells alone: it reads no record and is free "
        "of charge. The error from cut cells is not in it, and does not shrink with ε.",
    )
    needed = {answer.side: epsilon_for(answer.noise_sd, answer.epsilon, wanted) for answer in noisy}
    st.markdown(
        "  \n".join(
            f"**{answer.side}** ({plain(answer.method)}): ε = **{needed[answer.side]:.3g}**"
            for answer in noisy
        )
    )
    ends = [*needed.values(), *(answer.epsilon for answer in noisy)]
    epsilons = np.geomspace(min(0.05, *ends) / 1.5, max(2.0, *ends) * 1.5, 40)
    rows: list[dict[str, Any]] = [
        {"side": answer.side, "ε": float(f"{epsilon:.4g}"), "± records": float(f"{half:.4g}")}
        for answer in noisy
        for epsilon, half in zip(
            epsilons, half_width(answer.noise_sd, answer.epsilon, epsilons), strict=True
        )
    ]
    marks = [{"side": side, "ε": epsilon, "± records": wanted} for side, epsilon in needed.items()]
    st.altair_chart(half_width_chart(rows, wanted, marks))
    shown = [{**row, "± records": rounded(row["± records"], row["± records"])} for row in rows[::3]]
    table_panel("The curve as a table", shown)
