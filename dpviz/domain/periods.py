"""Periods in words for people."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from dpviz.domain.calendar import SECONDS, Calendar, duration_text
from dpviz.domain.cycles import DAYS
from dpviz.domain.frame import Domain

WHOLE = 0.9
"""Share of the longest step that a whole one has: a February has 0.903 of a January."""


def period_words(domain: Domain) -> str:
    """The period of the axis of time, its zone, cycle and step.

    >>> period_words(Domain.from_bounds((0, 0, 1, 1), period=("2024-01-01", "2024-07-01")))
    '2024-01-01 to 2024-07-01 UTC'
    """
    period = f"{' to '.join(map(domain.calendar.text, domain.period))} {domain.zone}"
    if domain.cycle is not None and domain.span is not None:
        days = " to ".join(map(Calendar(domain.zone).text, domain.span))
        period = f"{days} {domain.zone}, as one {domain.cycle}"
    step = f", in steps of {duration_text(domain.step)}" if domain.step else ""
    return period + step


def span_words(axis: Calendar, start: float, end: float) -> str:
    """Words for a part of the axis: its year, month or day, else its ends.

    >>> def words(period):
    ...     return span_words(Calendar(), *Calendar().period(period))
    >>> words("2010-01-01,2011-01-01"), words("2010-06-01,2010-07-01")
    ('2010', 'June 2010')
    >>> words("2010-06-01,2010-06-02"), words("2010-06-01,2010-06-08")
    ('1 June 2010', '1 to 7 June 2010')
    >>> words("2010-06-01T08:00,2010-06-01T09:00")
    '1 June 2010, 08:00 to 09:00'
    >>> span_words(Calendar(cycle="week"), 0, 86_400)
    'Mon'
    """
    if axis.cycle == "week" and start % SECONDS["d"] == end % SECONDS["d"] == 0:
        first_day, last_day = (DAYS[int(each // SECONDS["d"])] for each in (start, end - 1))
        return first_day if first_day == last_day else f"{first_day} to {last_day}"
    if axis.cycle is not None:
        return f"{axis.text(start)} to {axis.text(end)}"
    first, after = axis.clocks(start), axis.clocks(end)
    if first.time() == after.time() == datetime.min.time():
        return _days_words(first, after - timedelta(days=1))
    ends = _day_words(first), _day_words(after)
    until = f"{after:%H:%M}" if ends[0] == ends[1] else f"{ends[1]}, {after:%H:%M}"
    return f"{ends[0]}, {first:%H:%M} to {until}"


def steps_words(axis: Calendar, steps: Iterable[tuple[float, float]]) -> list[str]:
    """Words for steps of the axis, with the length of each that is but a part of a step.

    >>> from itertools import pairwise
    >>> axis = Calendar()
    >>> edges = axis.edges(*axis.period("2025-01-20,2025-01-29"), "1w").tolist()
    >>> steps_words(axis, pairwise(edges))
    ['20 to 26 January 2025', '27 to 28 January 2025, 2 days']
    """
    steps = list(steps)
    lengths = [(axis.clocks(end) - axis.clocks(start)).total_seconds() for start, end in steps]
    whole = WHOLE * max(lengths, default=0.0)
    return [
        span_words(axis, *step) + ("" if length > whole else f", {duration_text(length)}")
        for step, length in zip(steps, lengths, strict=True)
    ]


def whole_words(axis: Calendar, start: float, end: float) -> str:
    """Words for a whole period, to distinguish it from its steps.

    >>> whole_words(Calendar(), *Calendar().period("2010-01-01,2011-01-01"))
    'all 2010'
    """
    if axis.cycle is not None:
        return f"the whole {axis.cycle}"
    words = span_words(axis, start, end)
    return words if " to " in words else f"all {words}"


def _days_words(first: datetime, last: datetime) -> str:
    """Words for the days from the first to the last, both included."""
    after = last + timedelta(days=1)
    if first.day == after.day == 1:
        if (first.month, after.month, after.year - first.year) == (1, 1, 1):
            return f"{first.year}"
        if (first.year, first.month) == (last.year, last.month):
            return f"{first:%B} {first.year}"
    if first == last:
        return _day_words(first)
    start = _day_words(first)
    if first.year == last.year:
        start = f"{first.day}" if first.month == last.month else f"{first.day} {first:%B}"
    return f"{start} to {_day_words(last)}"


def _day_words(day: datetime) -> str:
    return f"{day.day} {day:%B} {day.year}"
