"""Time zones: how far clocks are ahead of UTC, as the IANA database has it. Knows no record.

Where clocks are put back an hour stands twice, and where they are put forward one is missing. Both
are read with the smaller of the two offsets, which is standard time: the second of the doubled
hour, and 02:30 of a missing one as 03:30.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from dpviz.checks import described
from dpviz.errors import DomainError
from dpviz.trees.lattice import Float

ZONE = "UTC"
OF_ZONES = -2_208_988_800.0, 4_102_444_800.0
"""The years 1900 to 2099, for which zones other than UTC are known."""
_DAY = 86_400.0


@dataclass(frozen=True)
class Offsets:
    """Offsets of a zone's clocks from UTC, from each change on.

    Attributes:
        since: moments of each change but the first, seconds since 1970 UTC, (k,).
        ahead: seconds, (k + 1,); the first holds before every change.
    """

    since: tuple[float, ...]
    ahead: tuple[float, ...]

    @property
    def borders(self) -> tuple[float, ...]:
        """Clock times, as seconds, from which each change holds: both edges are standard time."""
        return tuple(t + o for t, o in zip(self.since, self.ahead[1:], strict=True))

    def to_clocks(self, seconds: Any) -> Float:
        """Clock times at moments (n,), as seconds since 1970 on those clocks."""
        moments = np.asarray(seconds, dtype=np.float64)
        ahead: Float = np.take(self.ahead, np.searchsorted(self.since, moments, "right"))
        return moments + ahead

    def to_moments(self, clocks: Any) -> Float:
        """Seconds since 1970 UTC (n,) of what clocks show."""
        shown = np.asarray(clocks, dtype=np.float64)
        ahead: Float = np.take(self.ahead, np.searchsorted(self.borders, shown, "right"))
        return shown - ahead


def zone_name(zone: Any) -> str:
    """The name of a zone, as a text or a ``ZoneInfo`` holds it; of UTC for None."""
    name = ZONE if zone is None else getattr(zone, "key", zone)
    if not isinstance(name, str):
        raise DomainError(f"{described('zone', zone)}: give a name such as Europe/Berlin, or UTC")
    return name


@cache
def offsets(zone: str) -> Offsets:
    """The offsets of a zone of the IANA database, as Python's zoneinfo has it.

    >>> offsets("UTC").ahead, offsets("Asia/Kolkata").ahead[-1]
    ((0.0,), 19800.0)
    """
    from zoneinfo import ZoneInfo

    if zone == ZONE:
        return Offsets((), (0.0,))
    try:
        known = ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise DomainError(
            f"time zone {zone[:60]!r} is unknown: give one such as Europe/Berlin, or UTC"
        ) from None

    def ahead(moment: float) -> float:
        utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment)
        offset = utc.astimezone(known).utcoffset()
        return 0.0 if offset is None else offset.total_seconds()

    day, (low, end) = 4.0 * _DAY, OF_ZONES
    since: list[float] = []
    values = [ahead(low)]
    while low < end:  # no zone ever changed its clocks twice within four days
        if (then := ahead(low + day)) != values[-1]:
            before, after = low, low + day
            while after - before > 1:
                middle = (before + after) // 2
                before, after = (middle, after) if ahead(middle) == values[-1] else (before, middle)
            since.append(after)
            values.append(then)
        low += day
    return Offsets(tuple(since), tuple(values))
