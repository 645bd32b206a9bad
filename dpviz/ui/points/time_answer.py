"""A release with time: a window on a slider, the map of it, an answer, and the timeline below."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.domain import Domain, calendar
from dpviz.domain.calendar import Calendar
from dpviz.errors import DpvizError
from dpviz.releases.answers import INTERVAL_SDS
from dpviz.releases.points.release import PointRelease
from dpviz.releases.points.timeline import Timeline
from dpviz.releases.points.window import during, windows
from dpviz.releases.roads.timed import RoadTimeline
from dpviz.render import Scene, half_width_words, rounded
from dpviz.render.cells import domain_bounds
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.roads.steps import Steps
from dpviz.ui.map import Shape, map_overlay, map_view
from dpviz.ui.points.answers import (
    answerable,
    answered,
    as_csv,
    history_table,
    rectangle_answer,
    rectangle_form,
)
from dpviz.ui.points.attributes import Look, kinds_view
from dpviz.ui.points.downloads import table_of_cells
from dpviz.ui.points.map_answer import (
    CAMERA,
    ask,
    drawn,
    keep_camera,
    map_and_answer,
    placed,
    scene_of,
)
from dpviz.ui.points.regions import districts_panel
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.points.time_maps import (
    LOOK,
    WINDOWS,
    Window,
    chosen_look,
    difference_answer,
    difference_of,
    film,
    small_maps,
    windows_table,
)
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.charts import time_form, timeline_chart
from dpviz.ui.shared.memory import remembered
from dpviz.ui.shared.panels import draw_hint, file_button
from dpviz.ui.shared.parts import in_part
from dpviz.ui.shared.share import share_panel

STEPS = tuple(calendar.SECONDS[unit] * count for unit, count in
              (("min", 1), ("min", 15), ("h", 1), ("h", 6), ("d", 1), ("w", 1)))  # fmt: skip
"""Seconds between two stops of the slider."""
MOST_STOPS = 400
EVERY = ("1h", "6h", "1d", "1w", "1mo")
MOST_BANDS = 2_000
"""Steps of a timeline that a browser draws at once."""

MOST_LETTERS = 100
"""Of a period in an address."""


def _window(name: str) -> str | None:
    asked = permalink.parameter(name)
    return asked if asked and len(asked) <= MOST_LETTERS else None


PERIOD = permalink.Field("period", _window, str)


@fragment
def points_map(
    prefix: str, release: PointRelease, source: PointSource
) -> tuple[PointRelease, PointSource]:
    """The map of a release of points in the plane, its answers, and its cells in a table; of a
    window where it has time.

    Returns:
        What is shown of a release of kinds, and its records.
    """
    shown, records, look = kinds_view(prefix, release, source)
    kind, below = shown.header.extra.get("kind"), f"{prefix}.below"
    if in_part() and st.session_state.get(below) != kind:
        st.rerun()  # the totals below this part are of what it shows
    st.session_state[below] = kind
    if shown.domain.time is None:
        map_and_answer(prefix, shown, records, look)
        table_of_cells(shown)
    else:
        map_in_time(prefix, shown, records, look)  # a window moves in this part
    return shown, records


def map_in_time(
    prefix: str, release: PointRelease, source: PointSource, kinds: Look | None = None
) -> None:
    """The map of a window, the answer beside it, the timeline, and the cells in a table; a touch
    reruns this part.

    ``kinds`` is a map of kinds together, which is of one window.
    """
    name = f"{prefix}.map"
    look = chosen_look(prefix) if kinds is None else "window"
    whole = release.domain.period
    window = _slider(prefix, release.domain) if look == "window" else whole
    flat = remembered(f"{prefix}.flat", (release, window), lambda: during(release, window))
    scene: Scene | None = scene_of(prefix, flat, source, tools=("rect",), look=kinds)
    if look == "film":
        scene = film(prefix, release, source)
    if look == "difference":
        scene = difference_of(prefix, release, source)
    left, right = st.columns([7, 3], gap="medium")
    rect: Bounds | None = st.session_state.get(f"{prefix}.rect")
    with left:
        if look == "small":
            small_maps(prefix, release, st.context.theme.type)
        elif scene is not None:
            shown = placed(prefix, scene, source)
            map_view(shown, key=name, on_shape=partial(drawn, prefix))
            keep_camera(prefix, source)
    with right:
        with st.container():  # what is open below it stays so
            if look == "window":
                rect = _answer(prefix, release, source, rect, window)
            elif rect is not None and not answerable(rect, release.domain):
                rect = None
            if look in ("film", "small"):
                windows_table(release, rect)
            if look == "difference":
                difference_answer(prefix, release, rect)
        typed = rectangle_form(prefix, rect, domain_bounds(flat.domain))
        history_table(prefix, release, source)
        share_panel(
            prefix,
            name,
            [flat],
            series={"Map with a time slider": partial(windows, release)},
            history=answered(prefix, release, source),
        )
        districts, legend = districts_panel(prefix, flat)
    _timeline(prefix, release, rect, window)
    if look != "small":
        map_overlay(name, marks=districts, shape=Shape(rect=rect) if rect else None, legend=legend)
    words = ",".join(map(release.domain.calendar.words, window))
    if look == "window":
        st.session_state[f"{prefix}.period"] = None if window == whole else words
    others = {"ring": None} if look == "difference" else {"ring": None, "windows": None}
    permalink.remember(prefix, (permalink.RECT, CAMERA, PERIOD, LOOK, WINDOWS), others)
    ask(prefix, typed)
    table_of_cells(flat, "map" if look == "window" else "whole period")


def _slider(prefix: str, domain: Domain) -> Window:
    """The window: two ends on a slider, and buttons that move it on by its own length."""
    start, end = domain.period
    step = next((each for each in STEPS if (end - start) / each <= MOST_STOPS), STEPS[-1])
    step = max(step, int(domain.step or 0))
    key = f"{prefix}.slider.{start:.0f}.{end:.0f}"
    if key not in st.session_state:
        asked = _asked(domain, st.session_state.get(f"{prefix}.period"))
        st.session_state[key] = tuple(map(domain.calendar.clocks, asked))
    ends: Any = st.slider(
        f"Window ({zone_words(domain)})",
        domain.calendar.clocks(start),
        domain.calendar.clocks(end),
        step=timedelta(seconds=step),
        format=_format(domain, step),
        key=key,
        help="The map and the answer are of this part of the period; its end is outside.",
    )
    with st.container(horizontal=True, gap="small"):
        for label, icon, sign in (("Earlier", "left", -1), ("Later", "right", 1)):
            st.button(
                label,
                icon=f":material/chevron_{icon}:",
                key=f"{key}.{sign}",
                help="Move the window by its own length",
                on_click=_move,
                args=(key, sign, domain),
            )
    low, high = map(domain.calendar.of_clocks, ends)
    if low == high:
        low, high = (low, low + step) if high < end else (end - step, end)
    return max(low, start), min(high, end)


def _asked(domain: Domain, text: str | None) -> Window:
    """The window of an address, within the period; all of it where it says nothing that can be."""
    start, end = domain.period
    try:
        low, high = domain.calendar.period(text or domain.period)
    except DpvizError:
        low = high = start
    low, high = max(low, start), min(high, end)
    if low < high:
        return low, high
    if text == permalink.parameter("period"):
        permalink.refused("period", text)
    return start, end


def _move(key: str, sign: int, domain: Domain) -> None:
    """The window one length on, or up to the end of the period; none if the page has been left."""
    if key not in st.session_state:
        return
    low, high = map(domain.calendar.of_clocks, st.session_state[key])
    start, end = domain.period
    by = sign * (high - low)
    by = min(max(by, start - low), end - high)
    st.session_state[key] = tuple(map(domain.calendar.clocks, (low + by, high + by)))


def zone_words(domain: Domain | Steps) -> str:
    """Whose clocks they are, and what a cycle is of."""
    return domain.zone if domain.cycle is None else f"hour of the {domain.cycle}, {domain.zone}"


def _format(domain: Domain, step: float) -> str:
    """How the slider writes a time."""
    if domain.cycle is not None:
        return "ddd HH:mm" if domain.cycle == "week" else "HH:mm"
    return "YYYY-MM-DD" if step >= calendar.SECONDS["d"] else "YYYY-MM-DD HH:mm"


def _answer(
    prefix: str, release: PointRelease, source: PointSource, rect: Bounds | None, window: Window
) -> Bounds | None:
    """The answer to the rectangle in the window; the rectangle, if it can be answered."""
    if rect is None:
        draw_hint(
            prefix,
            ". Or type its four sides below. The timeline is of the whole area until then.",
        )
        return None
    return rect if rectangle_answer(prefix, release, source, rect, window) else None


def _timeline(prefix: str, release: PointRelease, rect: Bounds | None, window: Window) -> None:
    """Noisy counts with their band over the whole period, and the window in it."""
    period = release.domain.period
    written = release.domain.calendar
    usual = written.usual_step(*period, release.domain.step or 0.0)
    offered = [each for each in EVERY if _fits(each, release.domain)]
    if usual not in offered:
        offered = [usual, *offered]
    every = st.segmented_control(
        "Timeline: one step is",
        offered,
        format_func=calendar.step_words,
        default=usual,
        required=True,
        key=f"{prefix}.every.{period[0]:.0f}.{period[1]:.0f}",
    )
    place = None if rect is None else from_degrees(rect, release.domain.crs)
    line = release.timeline(place, str(every))
    half, cut = line.half_width, INTERVAL_SDS * line.uniformity_sd
    rows = timeline_rows(written, line)
    st.altair_chart(marked_timeline(rows, written, window))
    where = "the whole area" if rect is None else "the rectangle"
    st.caption(
        f"Noisy count of {where} in each step; the band is the 95 % interval of the noise alone. A "
        "step that cuts a cell shares the cell's count evenly, and its noise with its neighbours."
    )
    with st.expander("The timeline as a table", icon=":material/table:"):
        table = {
            "from": rows["from"],
            "to": rows["to"],
            # To the noise: what cut cells cost is much the same in all steps of a cell.
            "noisy count": [rounded(*pair) for pair in zip(line.count, half, strict=True)],
            "95 % interval ±": list(map(half_width_words, half)),
            "cut cells ±": list(map(half_width_words, cut)),
        }
        st.dataframe(table, hide_index=True)
        named = rows[["from", "to", "count", "low", "high"]]
        steps = named.assign(uniformity_sd=line.uniformity_sd).to_dict("records")
        label = "Download the timeline (CSV)"
        file_button(label, partial(as_csv, steps), "timeline.csv", f"{prefix}.timeline.csv")


def _fits(every: str, domain: Domain) -> bool:
    """Whether a step is not shorter than the domain's own, and not too many are drawn."""
    start, end = domain.period
    try:
        steps = len(domain.calendar.edges(start, end, every)) - 1
    except DpvizError:
        return False
    return 2 <= steps <= MOST_BANDS and (end - start) / steps >= 0.99 * (domain.step or 0.0)


def timeline_rows(axis: Calendar, line: Timeline | RoadTimeline) -> pd.DataFrame:
    """The steps of a timeline, as its chart takes them."""
    ends = {"from": line.start.astype(float), "to": line.end.astype(float)}
    return pd.DataFrame(
        {
            "start": _clocks(axis, ends["from"]),
            "end": _clocks(axis, ends["to"]),
            **{name: list(map(axis.words, each.tolist())) for name, each in ends.items()},
            "count": line.count,
            "low": line.low,
            "high": line.high,
        }
    )


def marked_timeline(rows: pd.DataFrame, axis: Calendar, window: Window) -> Any:
    """The chart of a timeline, with a window marked in it."""
    start, end = _clocks(axis, window)
    form = {"day": "%H:%M", "week": "%a %H:%M"}.get(str(axis.cycle)) or time_form(
        rows["end"].iloc[-1] - rows["start"].iloc[0]
    )
    closing = rows.iloc[-1:].assign(start=rows["end"].iloc[-1:])  # else the last step has no width
    return timeline_chart(pd.concat([rows, closing], ignore_index=True), start, end, form)


def _clocks(axis: Calendar, seconds: Any) -> list[pd.Timestamp]:
    """What clocks show at places on the axis, as a chart takes them."""
    return [pd.Timestamp(axis.clocks(each), tz="UTC") for each in seconds]
