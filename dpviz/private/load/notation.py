"""Notation of numbers, times and points in text: declared by the data owner, never guessed.

A notation is public and the same for every cell of a column, so that each cell is read by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpviz.errors import DataError

OPTIONS = ("decimal", "thousands", "time_format", "order")
"""Arguments that declare a notation."""

DECIMALS, THOUSANDS = (".", ","), (".", ",", " ", "'")
ORDERS = {"lon,lat": (0, 1), "x,y": (0, 1), "lat,lon": (1, 0), "y,x": (1, 0)}
"""Positions of the first and second coordinate among two numbers in one text column."""

ISO, SECONDS, MILLISECONDS, EXCEL = "iso", "seconds", "milliseconds", "excel"
DATES = {"us": "%m/%d/%Y", "eu": "%d/%m/%Y"}
"""Month first, and day first; alone, or with a clock of 24 hours, or of 12 with AM and PM."""
TIME_FORMATS = (ISO, *DATES, SECONDS, MILLISECONDS, EXCEL)
PER_SECOND = {SECONDS: 1.0, MILLISECONDS: 1000.0}

DIRECTIVES = "YymdbBHIMSfpzaA%"
"""Directives of strptime that are supported."""


@dataclass(frozen=True)
class Notation:
    """The arguments of :func:`dpviz.load` that declare how text is parsed.

    Attributes:
        decimal: the decimal mark, "." or ",". By default a point, and in a file whose fields are
            separated by semicolons a point or a comma.
        thousands: the mark between groups of three digits; none by default.
        time_format: one of :data:`TIME_FORMATS` or a pattern of strptime. By default text is
            ISO 8601, and numbers, in columns of numbers, are seconds since 1970 UTC.
        order: order of the coordinates in one column of text, such as ``lat,lon``.
        semicolons: True if fields of the file are separated by semicolons.
    """

    decimal: str | None = None
    thousands: str | None = None
    time_format: str | None = None
    order: str | None = None
    semicolons: bool = False

    def __post_init__(self) -> None:
        for what, given, offered in (
            ("decimal", self.decimal, DECIMALS),
            ("thousands", self.thousands, THOUSANDS),
            ("order", self.order, tuple(ORDERS)),
        ):
            if given is not None and given not in offered:
                raise DataError(f"{what}={given!r}: give one of {', '.join(map(repr, offered))}")
        if self.thousands is not None and self.thousands in (self.decimal or "."):
            raise DataError(
                f"thousands={self.thousands!r} is the decimal mark too: give another decimal mark"
            )
        if self.time_pattern is not None:
            _check_pattern(self.time_pattern)

    @property
    def declared(self) -> dict[str, str]:
        """The options that were declared, by name."""
        given = {name: getattr(self, name) for name in OPTIONS}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def plain_numbers(self) -> bool:
        """True if no decimal mark and no thousands mark is declared."""
        return self.decimal is None and self.thousands is None

    @property
    def marks(self) -> str:
        """The decimal marks."""
        if self.decimal is None and self.thousands is None and self.semicolons:
            return ".,"
        return self.decimal or "."

    @cached_property
    def number(self) -> str:
        """Regular expression that matches a number."""
        point, whole = f"[{self.marks}]", "[0-9]+"
        if self.thousands:
            whole = rf"(?:[0-9]{{1,3}}(?:[{self.thousands}][0-9]{{3}})+|[0-9]+)"
        digits = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)"
        return f"[+-]?{digits}(?:[eE][+-]?[0-9]+)?"

    @property
    def per_second(self) -> float | None:
        """Time units per second if times are numbers since 1970 UTC; None otherwise."""
        return PER_SECOND.get(self.time_format or "")

    @property
    def numeric_times(self) -> bool:
        """True if times are declared to be numbers."""
        return self.time_format in (EXCEL, *PER_SECOND)

    @property
    def time_pattern(self) -> str | None:
        """The strptime pattern that the owner typed; None for the formats that have a name."""
        return None if self.time_format in (None, *TIME_FORMATS) else self.time_format


PLAIN = Notation()
"""Numbers with a decimal point, and ISO 8601."""


def with_notation(options: Mapping[str, Any]) -> dict[str, Any]:
    """Collect a reader's notation arguments into one argument ``notation``."""
    notation: Any = {name: value for name, value in options.items() if name in OPTIONS}
    others = {name: value for name, value in options.items() if name not in OPTIONS}
    return {**others, "notation": Notation(**notation)} if notation else others


def _check_pattern(pattern: str) -> None:
    """Refuse a strptime pattern with an unknown directive, or without a whole date."""
    directives = re.findall(r"%(.?)", pattern, re.DOTALL)
    named = f"time_format={pattern[:60]!r}"
    if not directives or any(not each or each not in DIRECTIVES for each in directives):
        raise DataError(
            f"{named}: give {', '.join(TIME_FORMATS)}, or a pattern of "
            f"{' '.join(f'%{each}' for each in DIRECTIVES)}"
        )
    dated = all(sum(map(directives.count, each)) == 1 for each in ("Yy", "mbB", "d"))
    if not dated or directives.count("I") != directives.count("p"):
        raise DataError(
            f"{named}: give the year, month and day once each, and %p with %I, as in "
            "'%m/%d/%Y %I:%M:%S %p'"
        )
