"""What became of each record, for its owner's eyes: exact, so no part of any release."""

from __future__ import annotations

from collections import Counter
from typing import Any

READ = "records read"
BROKEN = "cannot be parsed: dropped"
NO_PLACE = "no readable place: dropped"
OUTSIDE = "outside the domain: dropped"
NO_UNIT = "without the id of a privacy unit: dropped"
NO_TIME = "no readable time: dropped"
NO_KIND = "of no listed kind: dropped"
NO_VALUE = "no readable value: dropped"
UNKNOWN = "name what the public graph or alphabet lacks: dropped"
STEPS = "single steps or symbols left out of records"
NO_ID = "rows without the id of a record: dropped"
EMPTY = "empty: dropped"
SEQUENCES = "sequences made of them"
OVER = "over the bound of their unit: dropped"
KEPT = "kept"


ORDER = (
    READ,
    BROKEN,
    NO_PLACE,
    OUTSIDE,
    NO_UNIT,
    NO_TIME,
    NO_KIND,
    NO_VALUE,
    NO_ID,
    UNKNOWN,
    STEPS,
    EMPTY,
    SEQUENCES,
    OVER,
    KEPT,
)
"""As they come about."""


def dropped(counts: Tally) -> int:
    """How many records had no place, time, kind or value inside the domain."""
    return sum(counts[what] for what in (BROKEN, NO_PLACE, OUTSIDE, NO_TIME, NO_KIND, NO_VALUE))


class Tally:
    """Exact counts by what happened; collected as records are read, shown by ``dpviz check``."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def __repr__(self) -> str:
        return "<private tally>"

    def add(self, what: str, records: Any) -> None:
        """Count some records."""
        self._counts[what] += int(records)

    def __getitem__(self, what: str) -> int:
        return self._counts[what]

    @property
    def facts(self) -> dict[str, int]:
        """Every count that is not 0, and always those of all records and of the kept ones."""
        return {what: self[what] for what in ORDER if self[what] or what in (READ, KEPT)}
