"""What became of each record, for its owner's eyes: exact, so no part of any release."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpviz.private.load.tables.base import Block


class Fact(StrEnum):
    """What is counted, in the order in which it comes about."""

    READ = "records read"
    BROKEN = "cannot be parsed: dropped"
    RAGGED = "lines of another number of fields than the header: dropped"
    QUOTED = "lines whose quotes are not closed in the line, or enclose no field: dropped"
    NO_PLACE = "no readable place: dropped"
    OUTSIDE = "outside the domain: dropped"
    NO_UNIT = "without the id of a privacy unit: dropped"
    NO_TIME = "no readable time: dropped"
    NO_KIND = "of no listed kind: dropped"
    NO_VALUE = "no readable value: dropped"
    NO_ID = "rows without the id of a record: dropped"
    UNKNOWN = "name what the public graph or alphabet lacks: dropped"
    STEPS = "single steps or symbols left out of records"
    EMPTY = "empty: dropped"
    SEQUENCES = "sequences made of them"
    OVER = "over the bound of their unit: dropped"
    LOADED = "kept"


class Tally:
    """Exact counts by what happened; collected as records are read, shown by ``dpviz check``."""

    def __init__(self) -> None:
        self._counts: Counter[Fact] = Counter()

    def __repr__(self) -> str:
        return "<private tally>"

    def add(self, what: Fact, records: Any) -> None:
        """Count some records."""
        self._counts[what] += int(records)

    def read(self, block: Block) -> None:
        """Count the records of a block, and those of them that could not be parsed."""
        unread = {Fact.BROKEN: block.broken, Fact.RAGGED: block.ragged, Fact.QUOTED: block.quoted}
        self.add(Fact.READ, block.rows + sum(unread.values()))
        for fact, records in unread.items():
            self.add(fact, records)

    def __getitem__(self, what: Fact) -> int:
        return self._counts[what]

    @property
    def dropped(self) -> int:
        """How many records had no place, time, kind or value inside the domain."""
        unread = Fact.BROKEN, Fact.NO_PLACE, Fact.NO_TIME, Fact.NO_KIND, Fact.NO_VALUE
        return sum(self[what] for what in (*unread, Fact.OUTSIDE))

    @property
    def facts(self) -> dict[str, int]:
        """Every count that is not 0, and always those of all records and of the kept ones."""
        always = (Fact.READ, Fact.LOADED)
        return {what.value: self[what] for what in Fact if self[what] or what in always}
