"""Progress reports of long work, and its cancellation.

Noise draws report their own progress. Steps between and after them (sums of paths, least squares,
medians) do not: they call :func:`checkpoint` at most a tenth of a second of work apart, which
repeats the last report to the listener of the build, which may cancel it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[float, str], None]
"""Called with (fraction from 0 to 1, what is being done); raising an exception cancels the work."""


def silent(fraction: float, what: str) -> None:
    """Ignore progress: a :data:`Progress` without a listener."""


_listener: ContextVar[Reports | None] = ContextVar("heard", default=None)


class Reports:
    """Passes reports on, and can repeat the last one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._last = 0.0, "computing"

    def __call__(self, fraction: float, what: str) -> None:
        """See :data:`Progress`."""
        self._last = fraction, what
        self._progress(fraction, what)

    def repeat(self) -> None:
        """Repeat the last report."""
        self._progress(*self._last)


@contextmanager
def listening(reports: Reports | None) -> Iterator[None]:
    """Context in which each :func:`checkpoint` of this thread repeats the last report."""
    token = _listener.set(reports)
    try:
        yield
    finally:
        _listener.reset(token)


def checkpoint() -> None:
    """Repeat the last report between two steps; raises what the listener raises to cancel."""
    reports = _listener.get()
    if reports is not None:
        reports.repeat()


def part_of(progress: Progress, at: int, number: int) -> Progress:
    """Progress of part ``at`` of several, as that of the whole."""

    def report(fraction: float, what: str) -> None:
        progress((at + fraction) / number, what)

    return report
