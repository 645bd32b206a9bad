"""Exact counts of loaded and dropped records: for data owners or public data only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpviz.private.load.tables.base import Block


class Fact(StrEnum):
    """The outcomes that a tally counts, in the order of the reading steps."""

    READ = "records read"
    BROKEN = "that cannot be parsed: dropped"
    RAGGED = "lines with another number of fields than the header: dropped"
    QUOTED = "lines with an unclosed quote, or a quote inside a field: dropped"
    EMPTY_PLACE = "with an empty place: dropped"
    NO_PLACE = "without a readable place: dropped"
    AT_ZERO = "at 0, 0: usually a missing place"
    OFF_EARTH = "not on the Earth: dropped"
    OUTSIDE = "outside the area: dropped"
    OUTSIDE_AT_ZERO = "at 0, 0, of those outside the area"
    OUTSIDE_PERIOD = "outside the period: dropped"
    NOT_INSIDE = (
        "outside the area or period, or without a place, time, category, value or id: dropped"
    )
    NO_UNIT = "without the id of a person: dropped"
    EMPTY_TIME = "with an empty time: dropped"
    NO_TIME = "without a readable time: dropped"
    NO_KIND = "of no listed category: dropped"
    NO_VALUE = "without a readable value: dropped"
    NO_ID = "rows without the id of a record: dropped"
    UNKNOWN = "with a street or symbol that the public graph or alphabet lacks: dropped"
    STEPS = "single steps or symbols left out of records"
    EMPTY = "empty: dropped"
    SEQUENCES = "sequences made of them"
    OVER = "over the bound of their unit: dropped"
    LOADED = "kept"


WARNING_SHARE = 0.05
"""Share of dropped records above which their owner is warned."""

REMEDIES = {
    Fact.BROKEN: "look at the file",
    Fact.RAGGED: "look for a separator too many or too few",
    Fact.QUOTED: "write line breaks in a field as spaces",
    Fact.EMPTY_PLACE: "nothing to mend, unless other columns hold it",
    Fact.NO_PLACE: "check the columns, the decimal mark, the order of coordinates",
    Fact.OFF_EARTH: "usually a missing place or a slip; if many, check the columns and CRS",
    Fact.OUTSIDE: "check the area, the order of the coordinates (longitude first) and CRS",
    Fact.OUTSIDE_PERIOD: "check the period; its end is not part of it",
    Fact.NOT_INSIDE: "check the columns, the area, CRS and period; a file says more",
    Fact.NO_UNIT: "check the column of the unit",
    Fact.EMPTY_TIME: "nothing to mend, unless another column holds it",
    Fact.NO_TIME: "declare another time format, if they are times",
    Fact.NO_KIND: "check the list of categories",
    Fact.NO_VALUE: "declare the decimal mark and that of thousands",
    Fact.NO_ID: "check the columns",
    Fact.UNKNOWN: "check the graph or the alphabet, or leave out what is unknown",
    Fact.EMPTY: "check the columns",
}
"""Remedy for each reason of dropping records."""

EMPTIES = {Fact.NO_PLACE: Fact.EMPTY_PLACE, Fact.NO_TIME: Fact.EMPTY_TIME}
"""Facts about records whose cells are empty, apart from unreadable ones."""


class Tally:
    """Exact counts of records by outcome, collected while reading; see ``dpviz check``."""

    def __init__(self) -> None:
        self._counts: Counter[Fact] = Counter()
        self._firsts: dict[Fact, str] = {}

    def __repr__(self) -> str:
        return "<private tally>"

    def add(self, what: Fact, records: Any) -> None:
        """Count some records."""
        self._counts[what] += int(records)

    def describe_first(self, what: Fact, words: str) -> None:
        """Say what the first record of an outcome is like; later ones change nothing."""
        self._firsts.setdefault(what, words)

    def words(self, what: Fact) -> str:
        """An outcome in words, with the number of records outside the area that lie at 0, 0."""
        zeros = self[Fact.OUTSIDE_AT_ZERO] if what is Fact.OUTSIDE else 0
        return f"{what}, {zeros:,} of them at 0, 0" if zeros else str(what)

    def remedy(self, what: Fact, remedies: Mapping[Fact, str] = REMEDIES) -> str:
        """Look of the first record of an outcome, if it is known, and what to do."""
        zeros = what is Fact.OUTSIDE and self[Fact.OUTSIDE_AT_ZERO]
        first = "usually a missing place" if zeros else self._firsts.get(what)
        return "; ".join(filter(None, [first, remedies[what]]))

    def read(self, block: Block) -> None:
        """Count the records of a block, and those that could not be parsed."""
        unread = {Fact.BROKEN: block.broken, Fact.RAGGED: block.ragged, Fact.QUOTED: block.quoted}
        self.add(Fact.READ, block.rows + sum(unread.values()))
        for fact, records in unread.items():
            self.add(fact, records)

    def __getitem__(self, what: Fact) -> int:
        return self._counts[what]

    def __add__(self, other: Tally) -> Tally:
        """Add up the counts of two sources."""
        both = Tally()
        both._counts = self._counts + other._counts
        both._firsts = other._firsts | self._firsts
        return both

    @property
    def dropped(self) -> dict[Fact, int]:
        """Dropped records by reason, without those over the bound of their unit."""
        return {what: self[what] for what in REMEDIES if self[what]}

    @property
    def without_place(self) -> int:
        """Number of records without a place that can be read."""
        return self[Fact.EMPTY_PLACE] + self[Fact.NO_PLACE]

    @property
    def lossy(self) -> bool:
        """True if no record is kept or over 5 % are dropped."""
        return not self[Fact.LOADED] or sum(self.dropped.values()) > WARNING_SHARE * self[Fact.READ]

    @property
    def warning(self) -> str:
        """Reasons if no record is kept or over 5 % are dropped; empty otherwise.

        It holds exact counts: for public data only.
        """
        read, dropped = self[Fact.READ], self.dropped
        if not self.lossy:
            return ""
        if not read:
            return "there is no record in it"
        reasons = "; ".join(
            f"{number:,} {self.words(what).replace(': dropped', '')} ({self.remedy(what)})"
            for what, number in dropped.items()
        )
        return f"{read:,} records read, {self[Fact.LOADED]:,} kept; dropped: {reasons}"

    @property
    def facts(self) -> dict[str, int]:
        """Every count that is not 0, and always the counts of all and of kept records."""
        always = (Fact.READ, Fact.LOADED)
        return {what.value: self[what] for what in Fact if self[what] or what in always}
