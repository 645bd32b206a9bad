"""A drawn shape and its answer: the noisy count with its interval, beside the map."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.domain import Domain
from dpviz.domain.periods import span_words
from dpviz.domain.rectangles import OVERLAP
from dpviz.errors import DomainError, DpvizError
from dpviz.evaluation.truth import exact_counts, exact_in_regions
from dpviz.files.writing import csv_text
from dpviz.lazy import geopandas, shapely
from dpviz.releases.answers import INTERVAL_SDS, RangeAnswers
from dpviz.releases.counts import AreaRelease, PointRelease, is_points
from dpviz.releases.points.region_count import regions_of
from dpviz.releases.release import Release
from dpviz.render import Mark, boxes, half_width_words, rounded, with_noise
from dpviz.render.cells import domain_bounds, node_bounds
from dpviz.render.colors import ACCENT
from dpviz.render.numbers import MINUS, count_words, percent
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.trees.lattice import Int
from dpviz.ui.map.component import Ring
from dpviz.ui.points.attributes import ALL, attribute_answers, region_kinds
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared.area_form import SIDES
from dpviz.ui.shared.frame import show_refusal
from dpviz.ui.shared.method_form import title_of
from dpviz.ui.shared.panels import file_button
from dpviz.ui.shared.parts import rerun_fragment
from dpviz.ui.shared.text import cells_in_words, on_screen, plain, sentence

WHOLE_SHARE = 0.9999
"""Least share inside the area at which a shape counts as not cut by the border."""

SHOWN_NODES = 2_000
"""Most nodes outlined on the map; more would hide it."""

ANSWER = (
    *("method", "epsilon", "count", "noise_sd", "low", "high", "uniformity_sd", "nodes"),
    *("exact", "error"),
)
"""Columns of a file of answers, besides the columns of the query."""

NUMBERS = ("count", "noise_sd", "low", "high", "uniformity_sd", "nodes")
"""Those of these columns that come from the answer itself."""

MARGIN = "± is for 95 %: the noise, and the uncertainty in cut cells, together"
"""Meaning of the number after ± where a count has only one."""

CUT = (
    "Uncertainty where the shape cuts {0}s (uniformity error): an ESTIMATE. Records are assumed to "
    "be spread evenly in the {0}s that an edge cuts; this is the error if they lie in one place. "
    "For an area that was chosen because it looks busy, it can be larger."
)


@dataclass(frozen=True)
class AnsweredQuery:
    """Query shape on a release, with its answer.

    Attributes:
        answers: arrays of length one.
        place: columns that describe the shape in the history.
        exact: returns the exact count; called for public data only.
        inside: the share of the shape inside the area.
        nodes: returns the nodes of the answer.
        more: shows kinds and values of the records in the shape.
    """

    answers: RangeAnswers
    place: dict[str, Any]
    exact: Callable[[], Int]
    inside: float
    nodes: Callable[[], Int]
    more: Callable[[], object]


def asked_rectangle(
    release: PointRelease | AreaRelease,
    source: PointSource,
    rect: Bounds,
    window: tuple[float, float] | None,
) -> AnsweredQuery:
    """Ask for the records in a rectangle in degrees; of a release with time, in a window.

    Raises:
        DpvizError: the rectangle cannot be answered.
    """
    domain = release.domain
    inside = from_degrees(rect, domain.crs)
    answers = release.count(inside, window)
    place: dict[str, Any] = dict(zip(SIDES, rect, strict=True))
    if window is not None:
        calendar = domain.calendar if release.steps is None else release.steps.calendar
        place |= dict(zip(("from", "to"), map(calendar.text, window), strict=True))

    def exact() -> Int:
        timed = source.data.domain
        asked = inside if timed.time is None else timed.query_boxes(inside, window or timed.period)
        return exact_counts(source.data, asked)

    return AnsweredQuery(
        answers,
        place,
        exact,
        _share_inside(rect, domain_bounds(domain)),
        lambda: release.frame.cover(release.nodes, domain.boxes(inside)).node,
        partial(attribute_answers, release, inside, window),
    )


def asked_polygon(release: PointRelease, source: PointSource, ring: Ring) -> AnsweredQuery:
    """Ask for the records in a polygon in degrees.

    Raises:
        DpvizError: the polygon cannot be answered.
    """
    shape = geopandas.GeoSeries([shapely.Polygon(ring)], crs="EPSG:4326")
    regions = regions_of(list(shape.to_crs(release.domain.crs)), release.domain)
    answers = release.count_regions(regions)
    if regions.inside[0] == 0.0:
        raise DomainError(f"the polygon lies outside the area: {OVERLAP}")
    bounds = np.round(shape.total_bounds, 6).tolist()
    return AnsweredQuery(
        answers,
        dict(zip(SIDES, bounds, strict=True)) | {"ring": shape.to_wkt(rounding_precision=5)[0]},
        lambda: exact_in_regions(source.data, regions),
        float(regions.inside[0]),
        lambda: release.frame.cover(release.nodes, regions).node,
        partial(region_kinds, release, regions),
    )


def in_domain(rect: Bounds, domain: Domain) -> Bounds | None:
    """A rectangle in degrees in the CRS of a domain; None, after a warning, if it lies outside."""
    try:
        inside = from_degrees(rect, domain.crs)
        domain.without_time.boxes(inside)
    except DpvizError as error:
        st.warning(sentence(error), icon=":material/crop_free:")
        return None
    return inside


def overlaps(rect: Bounds, domain: Domain) -> bool:
    """Return whether a rectangle in degrees overlaps a domain."""
    try:
        domain.without_time.boxes(from_degrees(rect, domain.crs))
    except DomainError:
        return False
    return True


def total_words(
    release: PointRelease | AreaRelease, window: tuple[float, float] | None = None
) -> str:
    """Noisy count of the whole area in words; of a release with time, in a window."""
    return count_words(release.count(release.domain.without_time.bounds, window))


def window_total(
    release: PointRelease | AreaRelease,
    window: tuple[float, float],
) -> None:
    """Show the noisy count of the whole area in a window of time, in the row above the map.

    The words name the last day of the window; its slider ends at the day after.
    """
    calendar = (release.steps or release.domain).calendar
    words = f"{plain(span_words(calendar, *window))}: **{total_words(release, window)}**"
    note = f"  \n:small[{release.header.repeated}]" if release.header.repeated else ""
    st.markdown(words + note, width="content", help=MARGIN)


def note_repeated(*releases: Release) -> None:
    """Show beside a total that one person can be counted several times, where this is so."""
    if words := next(filter(None, (each.header.repeated for each in releases)), ""):
        st.caption(words, width="content")


def show_answer(
    prefix: str, release: Release, source: PointSource, asked: AnsweredQuery, *, outlined: bool
) -> None:
    """Show one answer in words, and add it to the history.

    Args:
        prefix: prefix of the page's keys.
        release: the queried release.
        source: its data; if public, the exact answer is shown too.
        asked: the shape and its answer.
        outlined: True if the map shows the cells of the answer.
    """
    exact = int(asked.exact()[0]) if source.public else None
    row = asked.place | row_of(release, asked.answers, exact)
    noun = "area" if release.kind == "areas" else "cell"
    st.metric("Noisy count", with_noise(row["count"], errors_of(row)[2]), help=MARGIN)
    note_repeated(release)
    st.markdown(error_lines(row, noun) + (" (outlined)" if outlined else ""), help=CUT.format(noun))
    if source.public:
        st.metric("Exact count (public data)", f"{row['exact']:,}")
        off, share = error_texts(row)
        st.markdown(f"**Error:** {plain(off)}{share and f' ({share} of it)'}")
    remember(answered(prefix, release, source), row)
    asked.more()
    if asked.inside < WHOLE_SHARE:
        words = f"{percent(asked.inside)} of the shape lies inside the area"
        st.caption(sentence(f"{words}; nothing outside is counted"))


def row_of(release: Release, answers: RangeAnswers, exact: int | None) -> dict[str, Any]:
    """First answer of a release as a row for a file; ``exact`` for public data only."""
    row = _of_kind(release) | {"method": release.header.method, "epsilon": release.header.epsilon}
    row |= numbers_of(answers)
    return row if exact is None else row | {"exact": exact, "error": row["count"] - exact}


def error_lines(row: Mapping[str, Any], noun: str = "cell") -> str:
    """Lines on the errors of an answer, and on the cells it is built from."""
    half, spread, _ = errors_of(row)
    return (
        f"**Noise alone:** ± {half_width_words(half)} (95 %)  \n"
        f"**Where it cuts {noun}s:** ± {half_width_words(spread)} (estimate)  \n"
        f"**Built from {cells_in_words(row['nodes'], noun)}**"
    )


def numbers_of(
    answers: RangeAnswers, at: int = 0, names: Sequence[str] = NUMBERS
) -> dict[str, Any]:
    """Numbers of the answer at one index by their names, for a file."""
    return {name: getattr(answers, name)[at].item() for name in names}


def errors_of(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """Errors of an answer's row: half its interval, the error of cut cells, both together."""
    half = (row["high"] - row["low"]) / 2
    spread = INTERVAL_SDS * row["uniformity_sd"]
    return half, spread, math.hypot(half, spread)


def _of_kind(release: Release) -> dict[str, Any]:
    """Return the kind that was counted as ``{"kind": …}``; empty for a release without kinds."""
    several = is_points(release) and release.kinds
    kind = ALL if several else release.header.extra.get("kind")
    return {} if kind is None else {"kind": kind}


def error_texts(row: Mapping[str, Any]) -> tuple[str, str]:
    """Error of a row's count as displayed, and its share of the exact count.

    The share is empty if the error or the exact count is zero.
    """
    count, exact, error = row["count"], row["exact"], errors_of(row)[2]
    places = len(rounded(count, error).partition(".")[2])
    off = round(on_screen(count, error) - exact, places)
    if off == 0:
        return "0", ""
    share = percent(abs(off) / exact, 1) if exact else ""
    return f"{off:+,.{places}f}".replace("-", MINUS), share


def _share_inside(rect: Bounds, area: Bounds) -> float:
    """Share of a rectangle that lies inside the area."""
    west, south, east, north = rect
    across = max(0.0, min(east, area[2]) - max(west, area[0])) / (east - west)
    return across * max(0.0, min(north, area[3]) - max(south, area[1])) / (north - south)


def covered_cells(release: PointRelease, nodes: Int) -> list[Mark]:
    """Outlines of the nodes that an answer used."""
    if len(nodes) > SHOWN_NODES:
        return []
    outline = node_bounds(release)[nodes]
    return [boxes("used", outline, color=ACCENT, width=1.0, opacity=0.7)]


def answered(prefix: str, release: Release, source: PointSource) -> list[dict[str, Any]]:
    """Answers of this session, newest first: of one release, or of all made from public data."""
    histories = st.session_state.setdefault(f"{prefix}.history", {})
    key = source.key, release.header.extra.get("release_id")  # only a paid release has an id
    history: list[dict[str, Any]] = histories.setdefault(key, [])
    return history


def remember(history: list[dict[str, Any]], row: dict[str, Any]) -> None:
    """Keep an answer, without repeats."""
    if not history or history[0] != row:
        history[:] = [row, *(each for each in history if each != row)][:200]


def history_table(prefix: str, release: Release, source: PointSource) -> None:
    """Show the queries of this session as a table, with a download."""
    history = answered(prefix, release, source)
    if not history:
        st.caption("Answers of this map are kept here during this visit.")
        return
    rows = [row_in_words({**row, "method": title_of(row["method"])}) for row in history]
    st.dataframe(rows, hide_index=True)
    with st.container(horizontal=True, gap="small"):
        table = partial(as_csv, [{"data": source.title, **row} for row in history])
        file_button("Answers (CSV)", table, "answers.csv", f"{prefix}.csv")
        if st.button("Clear", icon=":material/delete:", key=f"{prefix}.forget"):
            history.clear()
            rerun_fragment()


def as_csv(rows: Sequence[Mapping[Any, Any]]) -> str:
    """Rows as CSV under the union of their columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(names, ([row.get(name, "") for name in names] for row in rows))


def rectangle_form(prefix: str, rect: Bounds | None, domain: Bounds) -> Bounds | None:
    """Four numbers for the rectangle; returns them when the visitor applies valid ones.

    Others are refused below the field that is to be changed.
    """
    with (
        st.expander("Enter coordinates", icon=":material/pin:"),
        st.form(f"{prefix}.numbers", border=False),
    ):
        values: dict[str, float] = {}
        valid = True
        for side, value in zip(SIDES, rect or middle(domain), strict=True):
            key = f"{prefix}.{side}.{value}"
            values[side] = float(st.number_input(side, value=value, format="%.5f", key=key))
            least = {"east": "west", "north": "south"}.get(side)
            if least is not None and values[side] <= values[least]:
                st.error(f"{side.title()} must be greater than {least} ({values[least]:g}).")
                valid = False
        if st.form_submit_button("Query"):
            if valid:
                return values["west"], values["south"], values["east"], values["north"]
            show_refusal()
    return None


def middle(domain: Bounds) -> Bounds:
    """Rectangle of a quarter of each side in the middle of an area, along no coarse grid's lines.

    Along them, one grid would answer almost without error, and a method look better than it is.
    """
    low, high = np.array(domain[:2]), np.array(domain[2:])
    west, south = (low + (high - low) * 0.37).round(5).tolist()
    east, north = (low + (high - low) * 0.61).round(5).tolist()
    return west, south, east, north


def row_in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """Row of an answer for a table on the screen: rounded to its noise, answer before question."""
    _, spread, error = errors_of(row)
    answer = {
        "noisy count": with_noise(row["count"], error),
        "ε": row["epsilon"],
        "method": row["method"],
        "from cut cells ±": half_width_words(spread),
        "cells": row["nodes"],
    }
    if "exact" in row:
        answer |= {"exact": f"{row['exact']:,}", "error": error_texts(row)[0]}
    shown = {"category" if name == "kind" else name: value for name, value in row.items()}
    asked = {name: value for name, value in shown.items() if name not in ANSWER}
    return answer | {
        name: float(f"{value:.6g}") if isinstance(value, float) else value
        for name, value in asked.items()
    }
