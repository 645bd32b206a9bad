"""Balances: what the entries of one account add up to, and what may still be spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpviz.domain.calendar import Calendar
from dpviz.domain.units import Span, TimeUnits, unit_of_time
from dpviz.errors import BudgetError
from dpviz.private.ledger.entries import NEIGHBOURS, Account, Entry
from dpviz.private.ledger.names import account_key, checked_name
from dpviz.private.ledger.profile import MAX_PIECES, Charge, Profile

Row = tuple[bytes]
"""Hash and body of an entry."""


@dataclass(frozen=True)
class Piece:
    """Days with one charge: the first one, and the first one after the last (empty: open)."""

    start: str
    end: str
    epsilon: float
    delta: float


RECORDS = frozenset(f"one {noun}" for noun in ("record", "event", "trip", "sequence"))
"""Privacy units of data without a column of persons."""


@dataclass
class Balance:
    """Sum of the entries of one account, in exact amounts.

    Attributes:
        profile: the charge of each unit of time; a plain account charges all alike.
        frame: units of time of a calendar; None for a plain account.
        time: column of the time, fixed by the first spend: by another one a record could be in
            another unit, and be charged in neither together.
    """

    name: str
    total: Fraction | None = None
    total_delta: Fraction | None = None
    profile: Profile = field(default_factory=Profile)
    unit: str | None = None
    frame: TimeUnits | None = None
    time: str = ""
    public: bool = False
    spends: list[Entry] = field(default_factory=list)

    @property
    def sensitive(self) -> bool:
        """True if there is a total or a spend, and no later entry declares the data public."""
        return not self.public and (bool(self.spends) or self.total is not None)

    def add(self, entry: Entry) -> None:
        """Add an entry of this account to the balance."""
        if entry.kind == "calendar":
            self.frame, self.profile = TimeUnits.of(entry.frame), self.converted
            self.unit = self.unit and unit_of_time(self.unit, self.frame.each)
            return
        self.public = entry.kind == "public"
        if entry.kind == "total":
            self.total, self.total_delta = Fraction(entry.epsilon), Fraction(entry.delta)
        elif entry.kind == "spend":
            self.profile = self.profile.added(entry.units, (entry.charged, Fraction(entry.delta)))
            self.unit, self.time = self.unit or entry.unit, self.time or entry.time
            self.spends.append(entry)

    @property
    def converted(self) -> Profile:
        """Charges by unit of time that a plain account begins its calendar with."""
        profile = Profile()
        for entry in self.spends:
            profile = profile.added(None, entry.converted)
        return profile

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The charges of a calendar by time; none without a calendar."""
        if self.frame is None:
            return ()
        day = self.frame.first_day_text
        return tuple(
            Piece(day(low), day(high), float(epsilon), float(delta))
            for low, high, (epsilon, delta) in self.profile.stretches()
        )

    def span(self, period: Any) -> Span | None:
        """The units of time that a period touches; None without a period."""
        if period is None:
            return None
        if self.frame is None:
            raise BudgetError(
                f"period={period!r}: data set {self.name!r} has no calendar: leave it out"
            )
        return self.frame.touched(*Calendar(self.frame.zone).period(period))

    def require_calendar(self, frame: TimeUnits) -> None:
        """Refuse a second calendar, one for single records, or with more spent than the total."""
        if self.frame is not None:
            raise BudgetError(
                f"data set {self.name!r} has a calendar by {_in_zone(self.frame)} already: its "
                "unit and zone are fixed, and there is no way back"
            )
        if self.unit in RECORDS:
            raise BudgetError(
                f"data set {self.name!r} is accounted for {self.unit}, and a {frame.each} of a "
                "person may hold any number of records: it cannot get a calendar"
            )
        for what, spent, total in self._amounts(self.converted.largest()):
            if total is not None and spent > total:
                raise BudgetError(
                    f"data set {self.name!r} would have spent {what}={float(spent):g} of "
                    f"{float(total):g}: a price for a person counts twice for a {frame.each} of "
                    "that person, so that it cannot get a calendar"
                )

    def require_room(self, entry: Entry) -> None:
        """Refuse a spend that exceeds what is left.

        Raises BudgetError: more than is left, another privacy unit or calendar, or too many pieces.
        """
        self._require_frame(entry)
        if self.unit is not None and self.unit != entry.unit:
            raise BudgetError(
                f"data set {self.name!r} is accounted for {self.unit}, not {entry.unit}: "
                "prices for different privacy units do not add up, give the same unit again"
            )
        charge = entry.charged, Fraction(entry.delta)
        largest = self.profile.largest(entry.units)
        for price, (what, spent, total) in zip(charge, self._amounts(largest), strict=True):
            if total is not None and spent + price > total:
                half = "" if NEIGHBOURS[entry.neighbours] == 1 else " (half the price to replace)"
                raise BudgetError(
                    f"cannot spend {what}={float(price):g}{half} on data set {self.name!r}: "
                    f"{float(total - spent):g} of {float(total):g} is left"
                )
        pieces = len(self.profile.added(entry.units, charge).charges)
        if pieces > MAX_PIECES:
            raise BudgetError(
                f"data set {self.name!r} would have {pieces:,} different charges in its calendar, "
                f"more than {MAX_PIECES:,}: use equal prices for neighbouring periods"
            )

    def _require_frame(self, entry: Entry) -> None:
        """Refuse a spend in other units of time, or by another column of times."""
        frame = None if not entry.frame else TimeUnits.of(entry.frame)
        if self.frame is None and frame is not None:
            raise BudgetError(
                f"data set {self.name!r} has no calendar: begin one with 'dpviz ledger calendar "
                f"{self.name} --unit {frame.each} --zone {frame.zone}'"
            )
        if self.frame is not None and self.frame != frame:
            now = "" if frame is None else f" but by {_in_zone(frame)}"
            raise BudgetError(
                f"data set {self.name!r} has a calendar by {_in_zone(self.frame)}, and these "
                f"records are not bounded by it{now}: load them with "
                f"--per {self.frame.each} --zone {self.frame.zone}"
            )
        if self.time and self.time != entry.time:
            raise BudgetError(
                f"data set {self.name!r} has a calendar by the times in {self.time!r}, not in "
                f"{entry.time!r}: a record could fall into two units, keep to one column"
            )

    def _amounts(self, spent: Charge) -> tuple[tuple[str, Fraction, Fraction | None], ...]:
        """Name, amount and total of ε and δ."""
        return ("epsilon", spent[0], self.total), ("delta", spent[1], self.total_delta)

    def account(self, outcomes: dict[str, str], span: Span | None = None) -> Account:
        """The account in plain numbers, with the outcomes of its releases.

        ``span``: units of time that amounts and spends are of; None for all.
        """
        unit = "one privacy unit"
        if self.frame is not None:
            unit = unit_of_time("one person", self.frame.each)
        spent = self.profile.largest(span)
        totals = self.total, self.total_delta
        left = [
            None if total is None else float(total - part)
            for total, part in zip(totals, spent, strict=True)
        ]
        total, total_delta = (None if each is None else float(each) for each in totals)
        return Account(
            dataset=self.name,
            total=total,
            total_delta=total_delta,
            spent=float(spent[0]),
            spent_delta=float(spent[1]),
            left=left[0],
            left_delta=left[1],
            spends=tuple(
                each.spend(self.name, outcomes)
                for each in self.spends
                if span is None
                or each.units is None
                or max(span[0], each.units[0]) < min(span[1], each.units[1])
            ),
            relation=f"add or remove {self.unit or unit}",
            public=self.public,
            frame=str(self.frame or ""),
            longer={} if self.frame is None else self.profile.longer(self.frame),
            rho=self._rho(span) if spent[1] else None,
        )

    def _rho(self, span: Span | None) -> float | None:
        """Largest total ρ of the units of a span; two steps to a person's unit cost 2² times ρ."""
        profile, zero = Profile(), Fraction(0)
        for entry in self.spends:
            rho = entry.zcdp
            if rho is None:
                return None
            steps = 1 if self.frame is None or entry.frame else 2
            profile = profile.added(entry.units, (steps**2 * rho, zero))
        return float(profile.largest(span)[0])


def _in_zone(frame: TimeUnits) -> str:
    return f"{frame.each} in {frame.zone}"


@dataclass(frozen=True)
class State:
    """All that follows from the entries of a ledger, as far as they were checked.

    Attributes:
        rows: the entries as they stand in the file, by number.
        balances: by account key, each with its first name.
        outcomes: last outcome of each release that has one.
    """

    rows: list[Row] = field(default_factory=list)
    balances: dict[str, Balance] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    paid: frozenset[str] = frozenset()

    def after(self, rows: list[Row], entries: Sequence[Entry]) -> State:
        """The state with further entries; this one is left as it is."""
        balances, copied = {**self.balances}, set[str]()
        for entry in entries:
            if key := entry.account:
                if key not in copied:
                    copied.add(key)
                    before = balances.get(key) or Balance(entry.name)
                    balances[key] = replace(before, spends=[*before.spends])
                balances[key].add(entry)
        outcomes = {each.release: each.outcome for each in entries if each.kind == "outcome"}
        paid = self.paid.union(each.release for each in entries if each.kind == "spend")
        return State(rows, balances, {**self.outcomes, **outcomes}, paid)

    def outcome(self, release: str) -> str | None:
        """Outcome of a paid build, ``paid`` until it is known; None for an unknown release."""
        return self.outcomes.get(release, "paid") if release in self.paid else None

    def balance(self, dataset: str) -> Balance:
        """The balance of a data set; an unknown one has spent nothing."""
        return self.balances.get(account_key(dataset)) or Balance(checked_name(dataset))
