"""Charges by unit of time: a piecewise constant function with exact amounts.

A release is charged to every unit that it reads. Together all releases cost one person-unit the
largest sum over units; a longer time of a person costs the sum of its units (pure ε-DP: it is left
out unit by unit, and each step costs what the releases that read the unit cost).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpviz.domain.units import EACH, Span, TimeUnits

MAX_PIECES = 4_096
"""Most pieces of one account, so that a spend stays fast."""

Charge = tuple[Fraction, Fraction]
"""ε and δ."""

Stretch = tuple[int | None, int | None, Charge]
"""First unit, first one after the last (None: open), and the charge of each unit between."""


@dataclass(frozen=True)
class Profile:
    """The charge of every unit.

    Attributes:
        borders: first units of all pieces but the first, ascending.
        charges: ε and δ of each piece; neighbours differ.
    """

    borders: tuple[int, ...] = ()
    charges: tuple[Charge, ...] = ((Fraction(0), Fraction(0)),)

    def added(self, span: Span | None, charge: Charge) -> Profile:
        """The profile after a charge to the units of a span, or to all units (None)."""
        borders, charges = self.borders, self.charges
        first, last = self._pieces(span)
        inner = tuple((e + charge[0], d + charge[1]) for e, d in charges[first : last + 1])
        if span is None:
            return Profile(borders, inner)
        start, end = span
        before, after = charges[: first + 1], charges[last:]
        starts, ends = borders[:first], borders[last:]
        if starts[-1:] == (start,):
            starts, before = starts[:-1], before[:-1]
        if ends[:1] == (end,):
            ends, after = ends[1:], after[1:]
        middle = borders[first:last]
        if before[-1] == inner[0]:
            before = before[:-1]
        else:
            starts += (start,)
        if after[0] == inner[-1]:
            after = after[1:]
        else:
            ends = (end, *ends)
        return Profile(starts + middle + ends, before + inner + after)

    def largest(self, span: Span | None = None) -> Charge:
        """Largest ε and largest δ of the units of a span, or of all units (None)."""
        first, last = self._pieces(span)
        part = self.charges[first : last + 1]
        return max(e for e, _ in part), max(d for _, d in part)

    def stretches(self, span: Span | None = None) -> Iterator[Stretch]:
        """The pieces that overlap a span, cut to it."""
        first, last = self._pieces(span)
        start, end = (None, None) if span is None else span
        for at in range(first, last + 1):
            low = start if at == first else self.borders[at - 1]
            high = end if at == last else self.borders[at]
            yield low, high, self.charges[at]

    def longer(self, units: TimeUnits) -> dict[str, float | None]:
        """Largest ε of a person's unit of time, and of longer times; None if it is unbounded.

        Only days are added up to weeks and months, as weeks do not divide a month. Empty if δ was
        charged: then the sums of ε alone would promise too much.
        """
        epsilon, delta = self.largest()
        if delta:
            return {}
        prices: dict[str, float | None] = {units.each: float(epsilon)}
        for each in EACH[1:] if units.each == "day" else ():
            longer = TimeUnits(each, units.zone)
            near = {0, *(int(longer.of_days(day)) for day in self.borders)}
            # The largest sum is in a longer unit with a border, or in one of the next two: of two
            # consecutive months one has 31 days.
            near = {at + step for at in near for step in range(-2, 3)}
            spans = ((longer.first_day(at), longer.first_day(at + 1)) for at in near)
            prices[each] = float(max(map(self._sum, spans)))
        bounded = not (self.charges[0][0] or self.charges[-1][0])
        return prices | {"for ever": float(self._sum(None)) if bounded else None}

    def _sum(self, span: Span | None) -> Fraction:
        """Sum of ε over the units of a span; pieces without a start or an end must cost nothing."""
        return sum(
            ((high or 0) - (low or 0)) * e for low, high, (e, _) in self.stretches(span) if e
        ) or Fraction(0)

    def _pieces(self, span: Span | None) -> Span:
        """Numbers of the first and the last piece that overlap a span."""
        if span is None:
            return 0, len(self.borders)
        return bisect_right(self.borders, span[0]), bisect_left(self.borders, span[1])
