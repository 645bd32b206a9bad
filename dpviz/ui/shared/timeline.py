"""Timeline chart with a marked window, and the window in the address."""

from __future__ import annotations

from typing import Any

from dpviz.domain import Domain
from dpviz.domain.calendar import Calendar
from dpviz.lazy import pd
from dpviz.releases.answers import Timeline
from dpviz.roads.steps import Steps
from dpviz.ui.shared import permalink
from dpviz.ui.shared.charts import time_form, timeline_chart

Window = tuple[float, float]
MAX_LETTERS = 100
"""Longest period in an address, in characters."""


def _window(name: str) -> str | None:
    asked = permalink.parameter(name)
    return asked if asked and len(asked) <= MAX_LETTERS else None


PERIOD = permalink.Field("period", _window, str)


def zone_words(domain: Domain | Steps) -> str:
    """Time zone of the axis, and the period of its cycle, in words."""
    return domain.zone if domain.cycle is None else f"hour of the {domain.cycle}, {domain.zone}"


def timeline_rows(axis: Calendar, line: Timeline) -> pd.DataFrame:
    """Steps of a timeline as rows of its chart."""
    ends = {"from": line.start.astype(float), "to": line.end.astype(float)}
    return pd.DataFrame(
        {
            "start": _clocks(axis, ends["from"]),
            "end": _clocks(axis, ends["to"]),
            **{name: list(map(axis.text, each.tolist())) for name, each in ends.items()},
            "count": line.count,
            "low": line.count - line.total_error,
            "high": line.count + line.total_error,
        }
    )


def marked_timeline(rows: pd.DataFrame, axis: Calendar, window: Window) -> Any:
    """Timeline chart with a marked window."""
    start, end = _clocks(axis, window)
    form = {"day": "%H:%M", "week": "%a %H:%M"}.get(str(axis.cycle)) or time_form(
        rows["end"].iloc[-1] - rows["start"].iloc[0]
    )
    # The last step ends at its own end; otherwise it would have no width.
    closing = rows.iloc[-1:].assign(start=rows["end"].iloc[-1:])
    return timeline_chart(pd.concat([rows, closing], ignore_index=True), start, end, form)


def _clocks(axis: Calendar, seconds: Any) -> list[pd.Timestamp]:
    """Convert places on the axis to clock times for a chart."""
    return [pd.Timestamp(axis.clocks(each), tz="UTC") for each in seconds]
