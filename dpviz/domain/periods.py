"""The period of a domain with time, in words for people."""

from __future__ import annotations

from dpviz.domain.calendar import Calendar, duration_text
from dpviz.domain.frame import Domain


def period_words(domain: Domain) -> str:
    """The period of the axis of time, its zone, cycle and step.

    Raises:
        DomainError: no axis is time.

    >>> period_words(Domain.from_bounds((0, 0, 1, 1), period=("2024-01-01", "2024-07-01")))
    '2024-01-01 to 2024-07-01 UTC'
    """
    period = f"{' to '.join(map(domain.calendar.text, domain.period))} {domain.zone}"
    if domain.cycle is not None and domain.span is not None:
        days = " to ".join(map(Calendar(domain.zone).text, domain.span))
        period = f"{days} {domain.zone}, as one {domain.cycle}"
    step = f", in steps of {duration_text(domain.step)}" if domain.step else ""
    return period + step
