"""A release in steps of time: a slider for a window of whole steps, and a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st

from dpviz.domain.calendar import step_words
from dpviz.errors import DpvizError
from dpviz.releases.answers import Timeline
from dpviz.releases.counts import CountRelease
from dpviz.roads.steps import Steps
from dpviz.ui.shared.memory import cached
from dpviz.ui.shared.panels import table_panel
from dpviz.ui.shared.timeline import PERIOD, marked_timeline, timeline_rows, zone_words


@dataclass(frozen=True, eq=False)
class TimeWindow:
    """A release with time, and the window of visible steps: borders [low, high)."""

    release: CountRelease[Any]
    steps: Steps
    low: int
    high: int

    @property
    def rows(self) -> slice:
        """Rows of the steps in the window."""
        return slice(self.low, self.high)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Start and end of the window on the axis of time."""
        edges = self.steps.edges
        return float(edges[self.low]), float(edges[self.high])


def chosen_window(prefix: str, release: CountRelease[Any]) -> TimeWindow | None:
    """Slider for a window of steps, at first all of them; None without time."""
    steps = release.steps
    if steps is None:
        return None
    last, words = len(steps), steps.calendar.text
    stops = list(range(last + 1))
    key = f"{prefix}.window.{steps.to_dict()}"
    if key not in st.session_state:  # restore the window of the last visit
        st.session_state[f"{key}.first"] = _steps_from_address(
            steps, st.session_state.get(PERIOD.place(prefix))
        )
    ends: Any = st.select_slider(
        f"Window ({zone_words(steps)})",
        stops,
        st.session_state[f"{key}.first"],
        format_func=lambda stop: words(float(steps.edges[stop])),
        key=key,
        label_visibility="collapsed",
    )
    low, high = ends
    if low == high:
        low, high = (low, low + 1) if low < last else (low - 1, low)
    count = high - low
    st.markdown(
        f"{'All' if count == last else count} of {last:,} steps of {step_words(steps.every)}, "
        f"{zone_words(steps)}",
        width="content",
        help="Map, answer and table count these steps, up to the end of the window. Each step has "
        "noise of its own, and a window is the sum of its steps: of k steps the noise is about √k "
        "times that of one. If you need only the total, publish without time.",
    )
    window = TimeWindow(release, steps, low, high)
    text = ",".join(map(words, window.ends))
    st.session_state[PERIOD.place(prefix)] = None if count == last else text
    return window


def _steps_from_address(steps: Steps, text: str | None) -> tuple[int, int]:
    """First step of the window in the address and the one after its last; by default all steps."""
    try:
        rows = steps.rows(steps.restricted_to(text)) if text else slice(0, len(steps))
    except DpvizError:
        rows = slice(0, len(steps))
    return rows.start, rows.stop


def window_part(
    place: str, release: CountRelease[Any], window: TimeWindow | None
) -> CountRelease[Any]:
    """Part of a release in a window, cached until one of them changes."""
    if window is None or release.steps is None:
        return release
    return cached(place, (release, window.ends), lambda: release.during(window.ends))


def steps_timeline(line: Timeline, window: TimeWindow, of: str) -> None:
    """Show noisy counts step by step, with the window marked, as a chart and as a table.

    Args:
        line: counts of all steps.
        window: the window to mark, in the same steps.
        of: what is counted, for the caption.
    """
    calendar = window.steps.calendar
    rows = timeline_rows(calendar, line)
    st.altair_chart(marked_timeline(rows, calendar, window.ends))
    st.caption(f"Noisy count of {of} in each step; the band is the 95 % interval of the noise.")
    table = rows[["from", "to", "count", "low", "high"]].round(1)
    table_panel("The timeline as a table", table)
