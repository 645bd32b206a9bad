"""Release with time: a window on a slider, its map, an answer, and the timeline below."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import streamlit as st

from dpviz.domain import Domain, calendar
from dpviz.domain.periods import steps_words
from dpviz.errors import DpvizError
from dpviz.releases.counts import PointRelease
from dpviz.releases.points.window import during, window_cuts
from dpviz.render import Mark, Scene
from dpviz.render.numbers import count_words, with_noise
from dpviz.render.projection import from_degrees
from dpviz.render.scene import Bounds
from dpviz.render.view import film_scene
from dpviz.ui.points.answers import MARGIN, as_csv, in_domain, overlaps, window_total
from dpviz.ui.points.attributes import Look, kinds_view
from dpviz.ui.points.cells_table import tables_of_map
from dpviz.ui.points.comparing import compare_panel
from dpviz.ui.points.map_answer import (
    CAMERA,
    FIELDS,
    SCALE,
    ask_on_map,
    drawn_answer,
    locked_scale,
    question,
    scene_of,
    shared_scale,
)
from dpviz.ui.points.prior_form import prior_look
from dpviz.ui.points.source_form import PointSource
from dpviz.ui.shared import permalink
from dpviz.ui.shared.access import fragment
from dpviz.ui.shared.frame import Panels
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import file_button, worded_numbers
from dpviz.ui.shared.timeline import PERIOD, Window, marked_timeline, timeline_rows, zone_words

LOOKS = {"window": "Window", "film": "Playback"}
"""Views of the period, and their titles on the page."""
MAX_CELLS = 1_200_000
"""Most cells sent to a browser at once."""

LOOK = permalink.choice("view", LOOKS, "window", "look")


STEPS = tuple(calendar.SECONDS[unit] * count for unit, count in
              (("min", 1), ("min", 15), ("h", 1), ("h", 6), ("d", 1), ("w", 1)))  # fmt: skip
"""Spacing of the slider's stops, in seconds."""
MAX_STOPS = 400
EVERY = ("1h", "6h", "1d", "1w", "1mo")
MAX_BANDS = 2_000
"""Most steps in a timeline."""


@fragment
def points_map(
    prefix: str,
    release: PointRelease,
    source: PointSource,
    panels: Callable[[PointRelease, PointSource], Panels],
) -> None:
    """Show the map of a 2-D release of points, its answers, and tabs below.

    With time, the map shows a window.

    Args:
        prefix: prefix of the page's keys.
        release: a release of points.
        source: source of its records.
        panels: tabs of the page for the release on the map (with categories, of the chosen one)
            and its records.
    """
    controls = st.container(horizontal=True, vertical_alignment="center", key="dpviz-controls")
    with controls:
        shown, records, look = kinds_view(prefix, release, source)
        look = prior_look(prefix, shown, source) or look
    own: Panels = panels(shown, records)
    if len(release.kinds) > 1:
        own["Compare counts"] = partial(_compare, prefix, release)
    if shown.domain.time is not None:
        _in_time(prefix, release, shown, records, look, own, controls)
        return
    answer = partial(
        drawn_answer,
        prefix,
        shown,
        records,
        title="Draw a rectangle or a polygon",
    )
    scene = scene_of(prefix, shown, records, look=look, every=release)
    unused = dict.fromkeys(("period", "view"))
    own = {**own, "Table": partial(tables_of_map, shown)}
    ask_on_map(
        prefix, shown, records, answer, scene, fields=FIELDS, panels=own, others=unused, flat=shown
    )


def _compare(prefix: str, release: PointRelease) -> None:
    """Compare two categories, in the whole area or in the drawn rectangle."""
    places: dict[str, Any] = {"Whole area": None}
    rect, _ = question(prefix)
    if rect is not None and overlaps(rect, release.domain):
        places["Drawn rectangle"] = from_degrees(rect, release.domain.crs)
    compare_panel(prefix, release, places, [list(places)[-1]] * 2)


def _in_time(
    prefix: str,
    every: PointRelease,
    release: PointRelease,
    source: PointSource,
    kinds: Look | None,
    panels: Panels,
    controls: Any,
) -> None:
    """Show the map of a window, the answer on it, and the timeline and other tabs below.

    ``every`` is the release with all its categories. ``kinds`` is a view of them together; it
    supports one window, no film. ``controls`` is the row above the map.
    """
    whole = release.domain.period
    with controls:
        look = chosen_look(prefix) if kinds is None else "window"
        played = film(prefix, every, release, source) if look == "film" else None
        window = whole if played else _slider(prefix, release.domain)
        window_total(release, window)
    if look == "film" and played is None:
        st.info("Too many cells to play: look at windows one by one.", icon=":material/movie:")
    flat = cached(f"{prefix}.flat", (release, window), lambda: during(release, window))
    alike = [whole] if window == whole else steps_of(every)[0]
    rect, _ = question(prefix)
    place = rect if rect is not None and overlaps(rect, release.domain) else None

    def answer() -> list[Mark]:
        if not played:
            then = " (no polygons with time). Until then the timeline is of the whole area."
            return drawn_answer(prefix, release, source, window=window, then=then)
        if rect is not None:
            in_domain(rect, release.domain)
        windows_table(release, place)
        return []

    if not played:
        words = ",".join(map(release.domain.calendar.text, window))
        st.session_state[f"{prefix}.period"] = None if window == whole else words
    timeline: Panels = {
        "Timeline": partial(_timeline, prefix, release, place, window),
        "Table": partial(tables_of_map, flat),
    }
    ask_on_map(
        prefix,
        release,
        source,
        answer,
        played or scene_of(prefix, flat, source, ("rect",), kinds, every, alike),
        fields=(permalink.RECT, CAMERA, SCALE, PERIOD, LOOK),
        panels={**timeline, **panels},
        others={"ring": None},
        flat=flat,
    )


def _slider(prefix: str, domain: Domain) -> Window:
    """The window: two ends on a slider, and buttons that move it on by its own length."""
    start, end = domain.period
    step = next((each for each in STEPS if (end - start) / each <= MAX_STOPS), STEPS[-1])
    step = max(step, int(domain.step or 0))
    key = f"{prefix}.slider.{start:.0f}.{end:.0f}"
    if key not in st.session_state:
        asked = _window_from_address(domain, st.session_state.get(f"{prefix}.period"))
        st.session_state[key] = tuple(map(domain.calendar.clocks, asked))
    ends: Any = st.slider(
        f"Window ({zone_words(domain)})",
        domain.calendar.clocks(start),
        domain.calendar.clocks(end),
        step=timedelta(seconds=step),
        format=_format(domain, step),
        key=key,
        label_visibility="collapsed",
    )
    for label, icon, sign in (("Earlier", "left", -1), ("Later", "right", 1)):
        st.button(
            label,
            icon=f":material/chevron_{icon}:",
            key=f"{key}.{sign}",
            help="Move the window by its own length",
            on_click=_shift_window,
            args=(key, sign, domain),
        )
    low, high = map(domain.calendar.from_clocks, ends)
    if low == high:
        low, high = (low, low + step) if high < end else (end - step, end)
    return max(low, start), min(high, end)


def _window_from_address(domain: Domain, text: str | None) -> Window:
    """Time window of an address, clipped to the period; all of the period if it is invalid."""
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


def _shift_window(key: str, sign: int, domain: Domain) -> None:
    """Move the window by its length, at most to the end; do nothing if the page was left."""
    if key not in st.session_state:
        return
    low, high = map(domain.calendar.from_clocks, st.session_state[key])
    start, end = domain.period
    by = sign * (high - low)
    by = min(max(by, start - low), end - high)
    st.session_state[key] = tuple(map(domain.calendar.clocks, (low + by, high + by)))


def _format(domain: Domain, step: float) -> str:
    """Format of times on the slider."""
    if domain.cycle is not None:
        return "ddd HH:mm" if domain.cycle == "week" else "HH:mm"
    return "YYYY-MM-DD" if step >= calendar.SECONDS["d"] else "YYYY-MM-DD HH:mm"


def _timeline(prefix: str, release: PointRelease, rect: Bounds | None, window: Window) -> None:
    """Noisy counts with their band over the whole period, and the window in it."""
    period = release.domain.period
    written = release.domain.calendar
    usual = written.default_step(*period, release.domain.step or 0.0)
    offered = [each for each in EVERY if _fits(each, release.domain)]
    if usual not in offered:
        offered = [usual, *offered]
    every = st.segmented_control(
        "Timeline step",
        offered,
        format_func=calendar.step_words,
        default=usual,
        required=True,
        key=f"{prefix}.every.{period[0]:.0f}.{period[1]:.0f}",
    )
    place = None if rect is None else from_degrees(rect, release.domain.crs)
    line = release.timeline(place, str(every))
    rows = timeline_rows(written, line)
    st.altair_chart(marked_timeline(rows, written, window))
    where = "the whole area" if rect is None else "the rectangle"
    st.caption(
        f"Noisy count of {where} in each step; the band is its ±, which the noise and cut cells "
        "cause together. Steps within one cell divide its count evenly and share its errors."
    )
    with st.expander("The timeline as a table", icon=":material/table:"):
        table = {
            "from": rows["from"],
            "to": rows["to"],
            "noisy count": list(map(with_noise, line.count, line.total_error)),
        }
        st.dataframe(table, hide_index=True, column_config=worded_numbers("noisy count"))
        noise = {"low": line.low, "high": line.high, "uniformity_sd": line.uniformity_sd}
        steps = rows[["from", "to", "count"]].assign(**noise).to_dict("records")
        label = "Download the timeline (CSV)"
        file_button(label, partial(as_csv, steps), "timeline.csv", f"{prefix}.timeline.csv")


def _fits(every: str, domain: Domain) -> bool:
    """Return whether a step is no shorter than the domain's own, with 2 to MAX_BANDS steps."""
    start, end = domain.period
    try:
        steps = len(domain.calendar.edges(start, end, every)) - 1
    except DpvizError:
        return False
    return 2 <= steps <= MAX_BANDS and (end - start) / steps >= 0.99 * (domain.step or 0.0)


def chosen_look(prefix: str) -> str:
    """The view of the period, by a control above the map."""
    st.session_state.setdefault(LOOK.place(prefix), "window")
    chosen = st.segmented_control(
        "View of the period",
        list(LOOKS),
        format_func=LOOKS.__getitem__,
        required=True,
        key=LOOK.place(prefix),
        label_visibility="collapsed",
    )
    return str(chosen)


def steps_of(release: PointRelease) -> tuple[list[Window], list[str]]:
    """Time windows to step through, at most twelve, and their labels."""
    pairs = list(itertools.pairwise(window_cuts(release.domain)))
    return pairs, steps_words(release.domain.calendar, pairs)


def film(
    prefix: str, every: PointRelease, release: PointRelease, source: PointSource
) -> Scene | None:
    """Windows as frames of an animated map; None if they have too many cells.

    ``every`` is the release with all its categories, which share one scale in all windows.
    """
    scale = locked_scale(prefix, source)

    def make() -> Scene | None:
        pairs, labels = steps_of(release)
        maps = [during(release, each) for each in pairs]
        if sum(len(each.nodes) for each in maps) > MAX_CELLS:
            return None
        shared = scale or shared_scale(every, pairs)
        scene = film_scene(maps, labels, scale=shared)
        return replace(scene, lock=scale is not None)

    return cached(f"{prefix}.film", (release, source.key, scale), make)


def windows_table(release: PointRelease, rect: Bounds | None) -> None:
    """The noisy count of every window: of the rectangle, or of the whole area."""
    pairs, labels = steps_of(release)
    domain = release.domain
    place: Any = domain.without_time.bounds if rect is None else from_degrees(rect, domain.crs)
    answers = [release.count(place, each) for each in pairs]
    rows = {"time": labels, "noisy count": list(map(count_words, answers))}
    st.markdown("**Every window**" if rect else "**Every window, the whole area**")
    st.dataframe(rows, hide_index=True, column_config=worded_numbers("noisy count"))
    st.caption(f"{MARGIN}.")
